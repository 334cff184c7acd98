//! JSON views of notes.

use axum::http::StatusCode;
use axum::response::Response;
use serde::Serialize;

use crate::api::handlers::ViewContext;
use crate::model::reply::Note;
use crate::model::time::Time;
use crate::web::answer;

#[derive(Serialize)]
struct NoteView<'a> {
    id: i64,
    #[serde(serialize_with = "answer::time")]
    created: Time,
    created_by: &'a str,
    description: &'a str,
}

pub fn one(note: &Note, _: &ViewContext) -> Response {
    let view = NoteView {
        id: note.id.0,
        created: note.created,
        created_by: &note.created_by,
        description: note.description.as_str(),
    };
    answer::json(StatusCode::OK, &view)
}
