//! JSON views of attempts to log in.

use axum::response::Response;
use serde::Serialize;

use crate::api::handlers::ViewContext;
use crate::model::login_record::LoginRecord;
use crate::model::page::Paged;
use crate::model::time::Time;
use crate::web::answer;

#[derive(Serialize)]
struct LoginRecordView<'a> {
    id: i64,
    #[serde(serialize_with = "answer::time")]
    datetime: Time,
    ip: &'a str,
    username: &'a str,
    status: &'static str,
    restricted: bool,
}

impl<'a> LoginRecordView<'a> {
    fn new(record: &'a LoginRecord) -> Self {
        Self {
            id: record.id.0,
            datetime: record.created,
            ip: &record.ip,
            username: &record.username,
            status: record.status.word(),
            restricted: record.restricted,
        }
    }
}

pub fn one(record: &LoginRecord, _: &ViewContext) -> Response {
    answer::one(record, &LoginRecordView::new(record))
}

pub fn page(records: &Paged<LoginRecord>, _: &ViewContext) -> Response {
    answer::page(records, LoginRecordView::new)
}
