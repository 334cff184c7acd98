//! JSON views of addresses that get no mails.

use axum::response::Response;
use serde::Serialize;

use crate::api::handlers::ViewContext;
use crate::model::outgoing_mail::SuppressedAddress;
use crate::model::page::Paged;
use crate::model::time::Time;
use crate::web::answer;

#[derive(Serialize)]
pub struct SuppressedAddressView<'a> {
    id: i64,
    address: &'a str,
    status: &'a str,
    #[serde(serialize_with = "answer::time")]
    since: Time,
}

impl<'a> SuppressedAddressView<'a> {
    pub fn new(suppressed: &'a SuppressedAddress) -> Self {
        Self {
            id: suppressed.id.0,
            address: suppressed.address.as_str(),
            status: &suppressed.status,
            since: suppressed.since,
        }
    }
}

pub fn page(suppressed: &Paged<SuppressedAddress>, _: &ViewContext) -> Response {
    answer::page(suppressed, SuppressedAddressView::new)
}
