//! What staff do to a ticket: the forms of its page.

use axum::extract::{FromRequestParts, State};
use axum::http::request::Parts;
use axum::http::{HeaderMap, Method};
use axum::response::Response;

use super::compose::{CANNED, CANNED_REPLY, NOTE, REPLY, SINCE, USE};
use super::draw;
use super::seen::{Asked, Seen, Writing, canned_in, look};
use crate::console::desk::address;
use crate::console::error_page::Answer;
use crate::console::forms::{self, Sent, Typed};
use crate::console::layout::done;
use crate::console::visit::Visit;
use crate::model::id::{AttachmentId, CannedReplyId, HistoryId, TicketId};
use crate::model::input::Input;
use crate::model::reason::{Code, Reason};
use crate::rules::agent::{Agent, Staff};
use crate::rules::error::FieldError;
use crate::rules::request::Request;
use crate::rules::{self, Error};
use crate::store::WriteTx;
use crate::web::App;
use crate::web::downloads;
use crate::web::extract::At;

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
/// The same for what is not said twice, and not over what was not seen.
type Saying<T> = fn(&mut WriteTx, &Agent, TicketId, &Request, Option<HistoryId>) -> rules::Result<Option<T>>;

impl Form {
    /// Does something to the ticket. If it is refused, or somebody else was faster, the page is drawn again.
    async fn act<T: Send + 'static>(self, object: Vec<(String, Input)>, rule: Rule<T>, word: &str) -> Answer {
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
                let mut other = forms::again(self.sent.clone(), error)?;
                for wrong in &mut other.wrong {
                    wrong.reason = in_our_words(wrong);
                }
                let writing = Writing {
                    other,
                    ..Writing::default()
                };
                self.draw(writing).await
            }
        }
    }

    /// Says what was written. What is still in the boxes afterwards, or was not taken, stays in them.
    async fn say<T: Send + 'static>(
        mut self,
        object: Vec<(String, Input)>,
        rule: Saying<T>,
        (field, word): (&'static str, &str),
    ) -> Answer {
        let (ticket, request) = (self.ticket, self.sent.request(object));
        let seen = self.since();
        let said = self
            .app
            .write(self.staff.clone(), move |tx, staff| {
                rule(tx, &staff.agent, ticket, &request, seen)
            })
            .await;
        let word = match said {
            Ok(Some(_)) => word,
            Ok(None) => "sent-already",
            Err(error) => {
                let stale = matches!(error, Error::Stale);
                let mut typed = forms::again(self.sent.clone(), error)?;
                if stale {
                    typed.wrong = vec![FieldError::whole(overtaken())];
                }
                return self.draw(placed(typed, field == NOTE)).await;
            }
        };
        self.sent.set(field, "");
        self.sent.set(CANNED, "");
        if [REPLY, NOTE]
            .iter()
            .all(|field| self.sent.text(field).trim().is_empty())
        {
            return Ok(done(&address(ticket), word));
        }
        // An address has no room for a text, so the page is the answer. Sent again, it says nothing again.
        self.visit.done = Some(word.to_owned());
        let typed = Typed::refused(self.sent.clone(), Vec::new());
        let noting = self.sent.text(REPLY).trim().is_empty();
        self.draw(placed(typed, noting)).await
    }

    /// The step up to which the page showed the ticket.
    fn since(&self) -> Option<HistoryId> {
        self.sent.text(SINCE).parse().ok().map(HistoryId)
    }

    fn asks_for_preview(&self) -> bool {
        self.sent.text("act") == "preview"
    }

    /// The page again with all that is typed, and what is asked to be seen.
    async fn show(self, field: &'static str, preview: bool) -> Answer {
        let writing = Writing {
            preview: preview.then_some(field),
            ..placed(Typed::refused(self.sent.clone(), Vec::new()), field == NOTE)
        };
        self.draw(writing).await
    }

    /// The same with a canned reply put below what is typed.
    async fn insert(mut self, canned: CannedReplyId) -> Answer {
        self.sent.set(CANNED, canned.to_string());
        let seen = self.look().await?;
        if let Some((_, text)) = &seen.filled {
            let typed = self.sent.text(REPLY).trim_end();
            let joined = if typed.is_empty() {
                text.clone()
            } else {
                format!("{typed}\n\n{text}")
            };
            self.sent.set(REPLY, joined);
        }
        let writing = placed(Typed::refused(self.sent, Vec::new()), false);
        Ok(draw(&self.app, self.visit, &seen, &writing))
    }

    async fn look(&self) -> Result<Seen, Error> {
        let (ticket, canned) = (self.ticket, canned_in(&self.sent, CANNED));
        let asked = Asked {
            canned,
            after: self.since(),
            ..Asked::default()
        };
        self.app
            .read(self.staff.clone(), move |tx, staff| {
                look(tx, &staff.agent, ticket, asked)
            })
            .await
    }

    async fn draw(self, writing: Writing) -> Answer {
        let seen = self.look().await?;
        Ok(draw(&self.app, self.visit, &seen, &writing))
    }
}

/// Why something was not sent that others have not been read for.
fn overtaken() -> Reason {
    let text = "Not sent: this ticket was updated after you opened the page. Your text is still in the box. Review the \
                updates, then send it.";
    Reason::new(Code::PreconditionFailed, text)
}

/// A complaint as this page speaks: programs are told of a field where people have a button.
fn in_our_words(wrong: &FieldError) -> String {
    let reason = wrong.reason.as_str();
    match wrong.code {
        Code::TicketClaimed => {
            "This ticket is assigned to someone else. To take it over, use “Reassign to me”.".to_owned()
        }
        _ => reason.to_owned(),
    }
}

/// What is in the boxes, with complaints at the field of the one that was sent: a rule knows both by one name.
fn placed(mut typed: Typed, noting: bool) -> Writing {
    for wrong in typed.wrong.iter_mut().filter(|_| noting) {
        if wrong.field.as_deref() == Some(REPLY) {
            wrong.field = Some(NOTE.to_owned());
        }
    }
    Writing {
        typed,
        noting,
        ..Writing::default()
    }
}

pub async fn claim(form: Form) -> Answer {
    let take_over = Input::Bool(form.sent.has("take_over"));
    let object = vec![("take_over".to_owned(), take_over)];
    form.act(object, rules::desk::claim, "ticket-claimed").await
}

pub async fn release(form: Form) -> Answer {
    form.act(Vec::new(), rules::desk::release, "ticket-released")
        .await
}

pub async fn close(form: Form) -> Answer {
    form.act(Vec::new(), rules::desk::close, "ticket-closed").await
}

pub async fn reopen(form: Form) -> Answer {
    form.act(Vec::new(), rules::desk::reopen, "ticket-reopened").await
}

pub async fn change(form: Form) -> Answer {
    let mut object = form.sent.filled(&["priority"]);
    if form.sent.has("may_close") {
        let may = Input::Bool(form.sent.text("may_close") == "yes");
        object.push(("closable".to_owned(), may));
    }
    form.act(object, rules::desk::update, "ticket-changed").await
}

pub async fn reply(form: Form) -> Answer {
    if let Some(canned) = canned_in(&form.sent, USE) {
        return form.insert(canned).await;
    }
    if form.sent.has("act") {
        let preview = form.asks_for_preview();
        return form.show(REPLY, preview).await;
    }
    match canned_in(&form.sent, CANNED_REPLY) {
        Some(CannedReplyId(id)) => {
            let object = vec![(CANNED_REPLY.to_owned(), Input::Integer(id))];
            form.say(object, rules::desk::reply_once, (CANNED_REPLY, "reply-sent"))
                .await
        }
        None => {
            let object = form.sent.object(&[REPLY]);
            form.say(object, rules::desk::reply_once, (REPLY, "reply-sent"))
                .await
        }
    }
}

pub async fn note(form: Form) -> Answer {
    if form.asks_for_preview() {
        return form.show(NOTE, true).await;
    }
    let text = form.sent.object(&[NOTE]).into_iter();
    let object = text.map(|(_, text)| (REPLY.to_owned(), text)).collect();
    form.say(object, rules::desk::note_once, (NOTE, "note-saved"))
        .await
}

pub async fn download(
    State(app): State<App>,
    staff: Staff,
    At((ticket, id)): At<(TicketId, AttachmentId)>,
    method: Method,
) -> Answer {
    // Nobody here answers that a browser has it already, so every download is one.
    let nothing_known = HeaderMap::new();
    Ok(downloads::send_to_staff(app, staff, (ticket, id), &method, &nothing_known).await?)
}
