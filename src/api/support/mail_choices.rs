//! The JSON view of the mails that a member of staff has chosen.

use axum::response::Response;
use serde::Serialize;

use crate::api::handlers::ViewContext;
use crate::model::outgoing_mail::StaffMailChoice;
use crate::web::answer;

#[derive(Serialize)]
struct MailChoiceView {
    new_tickets: bool,
    assigned: bool,
    replies: bool,
}

pub fn one(choice: &StaffMailChoice, _: &ViewContext) -> Response {
    let view = MailChoiceView {
        new_tickets: choice.new_tickets,
        assigned: choice.assigned,
        replies: choice.replies,
    };
    answer::one(choice, &view)
}
