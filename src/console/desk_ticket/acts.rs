//! What staff do to a ticket: the forms of its page.

use axum::extract::{FromRequestParts, State};
use axum::http::request::Parts;
use axum::http::{HeaderMap, Method, StatusCode};
use axum::response::Response;

use super::{Asked, Writing, draw, look};
use crate::console::desk::address;
use crate::console::forms::{self, Sent, Typed};
use crate::console::layout::done;
use crate::console::session::{Answer, Visit};
use crate::http::App;
use crate::http::attachments;
use crate::http::extract::At;
use crate::model::id::{AttachmentId, TicketId};
use crate::model::input::Input;
use crate::rules;
use crate::rules::agent::{Agent, Staff};
use crate::rules::request::Request;
use crate::store::WriteTx;

/// A form on the page of a ticket that somebody has sent.
pub struct Form {
    app: App,
    visit: Visit,
    staff: Staff,
    ticket: TicketId,
    sent: Sent,
}

type Parted = (State<App>, Visit, Staff, At<TicketId>, Sent);

impl FromRequestParts<App> for Form {
    type Rejection = Response;

    async fn from_request_parts(parts: &mut Parts, app: &App) -> Result<Self, Response> {
        let (State(app), visit, staff, At(ticket), sent) = Parted::from_request_parts(parts, app).await?;
        Ok(Self {
            app,
            visit,
            staff,
            ticket,
            sent,
        })
    }
}

type Rule<T> = fn(&mut WriteTx, &Agent, TicketId, &Request) -> rules::Result<T>;

impl Form {
    /// Does something to the ticket. If it is refused, or somebody else was faster, the page is drawn again, with what
    /// was typed at its place.
    async fn act<T: Send + 'static>(
        self,
        object: Vec<(String, Input)>,
        rule: Rule<T>,
        word: &str,
        place: fn(Typed) -> Writing,
    ) -> Answer {
        let (ticket, request) = (self.ticket, self.sent.request(object));
        let acted = self
            .app
            .write(self.staff.clone(), move |tx, staff| {
                rule(tx, &staff.agent, ticket, &request)
            })
            .await;
        match acted {
            Ok(_) => Ok(done(&address(ticket), word)),
            Err(error) => {
                let (status, typed) = forms::again(self.sent.clone(), error)?;
                self.draw(status, place(typed)).await
            }
        }
    }

    /// The same for what is done without a word.
    async fn wordless<T: Send + 'static>(
        self,
        object: Vec<(String, Input)>,
        rule: Rule<T>,
        word: &str,
    ) -> Answer {
        self.act(object, rule, word, |other| Writing {
            other,
            ..Writing::default()
        })
        .await
    }

    fn asks_for_preview(&self) -> bool {
        self.sent.text("act") == "preview"
    }

    async fn preview(self, place: fn(Typed) -> Writing) -> Answer {
        let written = place(Typed::refused(self.sent.clone(), Vec::new()));
        let writing = Writing {
            preview: true,
            ..written
        };
        self.draw(StatusCode::OK, writing).await
    }

    async fn draw(self, status: StatusCode, writing: Writing) -> Answer {
        let ticket = self.ticket;
        let seen = self
            .app
            .read(self.staff, move |tx, staff| {
                look(tx, &staff.agent, ticket, Asked::default())
            })
            .await?;
        Ok(draw(&self.app, self.visit, status, &seen, writing))
    }
}

pub async fn claim(form: Form) -> Answer {
    let take_over = Input::Bool(form.sent.has("take_over"));
    let object = vec![("take_over".to_owned(), take_over)];
    form.wordless(object, rules::desk::claim, "ticket-claimed").await
}

pub async fn release(form: Form) -> Answer {
    form.wordless(Vec::new(), rules::desk::release, "ticket-released")
        .await
}

pub async fn close(form: Form) -> Answer {
    form.wordless(Vec::new(), rules::desk::close, "ticket-closed")
        .await
}

pub async fn reopen(form: Form) -> Answer {
    form.wordless(Vec::new(), rules::desk::reopen, "ticket-reopened")
        .await
}

pub async fn change(form: Form) -> Answer {
    let mut object = form.sent.filled(&["priority"]);
    if form.sent.has("may_close") {
        let may = Input::Bool(form.sent.text("may_close") == "yes");
        object.push(("closable".to_owned(), may));
    }
    form.wordless(object, rules::desk::update, "ticket-changed").await
}

pub async fn reply(form: Form) -> Answer {
    let place = |reply| Writing {
        reply,
        ..Writing::default()
    };
    if form.asks_for_preview() {
        return form.preview(place).await;
    }
    let object = match form.sent.text("canned_reply_id").parse() {
        Ok(canned) => vec![("canned_reply_id".to_owned(), Input::Integer(canned))],
        Err(_) => form.sent.object(&["description"]),
    };
    form.act(object, rules::desk::reply, "reply-sent", place).await
}

pub async fn note(form: Form) -> Answer {
    if form.asks_for_preview() {
        return form.preview(in_note).await;
    }
    let text = form.sent.object(&["note"]).into_iter();
    let object = text.map(|(_, text)| ("description".to_owned(), text)).collect();
    form.act(object, rules::desk::note, "note-saved", in_note).await
}

/// A note has a field of its own, which the rule knows by another name.
fn in_note(mut note: Typed) -> Writing {
    for wrong in &mut note.wrong {
        if wrong.field.as_deref() == Some("description") {
            wrong.field = Some("note".to_owned());
        }
    }
    Writing {
        note,
        ..Writing::default()
    }
}

pub async fn download(
    State(app): State<App>,
    staff: Staff,
    At((ticket, id)): At<(TicketId, AttachmentId)>,
    method: Method,
) -> Answer {
    // Nobody here answers that a browser has it already, so every download is one.
    let nothing_known = HeaderMap::new();
    Ok(attachments::send_to_staff(app, staff, (ticket, id), &method, &nothing_known).await?)
}
