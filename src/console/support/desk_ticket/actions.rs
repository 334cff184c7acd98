//! The actions of staff on a ticket: the targets of the forms on its page.

use axum::extract::{FromRequestParts, State};
use axum::http::request::Parts;
use axum::http::{HeaderMap, Method};
use axum::response::Response;

use super::compose::{
    CANNED_FIELD, CLOSE_FIELD, INSERT_FIELD, NOTE_FIELD, REPLY_FIELD, SEND_CANNED_CLOSE_FIELD,
    SEND_CANNED_FIELD, SINCE_FIELD,
};
use super::render;
use super::ticket_page::{Filled, Forms, PageQuery, TicketPage, canned_reply_in, load};
use crate::console::desk::url;
use crate::console::error_page::PageResult;
use crate::console::forms::{self, FormData, FormFiles, FormState};
use crate::console::layout::redirect_with_notice;
use crate::console::threads;
use crate::console::visit::Visit;
use crate::model::attachment::NewAttachment;
use crate::model::id::{AttachmentId, CannedReplyId, HistoryId, TicketId};
use crate::model::input::Input;
use crate::model::reason::{Code, Reason};
use crate::rules::agent::{Agent, Staff};
use crate::rules::error::FieldError;
use crate::rules::request::Request;
use crate::rules::uploaders::Uploader;
use crate::rules::{self, Error};
use crate::store::WriteTx;
use crate::web::App;
use crate::web::downloads;
use crate::web::extract::At;

/// A submitted form of a ticket's page.
pub struct TicketForm {
    app: App,
    visit: Visit,
    staff: Staff,
    ticket: TicketId,
    data: FormData,
    files: FormFiles,
}

type FormParts = (State<App>, Visit, Staff, At<TicketId>, FormData, FormFiles);

impl FromRequestParts<App> for TicketForm {
    type Rejection = Response;

    async fn from_request_parts(parts: &mut Parts, app: &App) -> Result<Self, Response> {
        let (State(app), visit, staff, At(ticket), data, files) =
            FormParts::from_request_parts(parts, app).await?;
        Ok(Self {
            app,
            visit,
            staff,
            ticket,
            data,
            files,
        })
    }
}

type Rule<T> = fn(&mut WriteTx, &Agent, TicketId, &Request) -> rules::Result<T>;
/// A rule that posts a text with files. It returns `None` if the text was already posted, and a conflict if the ticket
/// was updated after the given step.
type PostRule<T> = fn(
    &mut WriteTx,
    &Agent,
    TicketId,
    &Request,
    Option<HistoryId>,
    &[NewAttachment],
) -> rules::Result<Option<T>>;

impl TicketForm {
    /// Runs a rule on the ticket. After an error, the page is rendered again.
    async fn run<T: Send + 'static>(
        mut self,
        object: Vec<(String, Input)>,
        rule: Rule<T>,
        notice: &str,
    ) -> PageResult {
        let (ticket, request) = (self.ticket, self.data.request(object));
        let outcome = self
            .app
            .write(self.staff.clone(), move |tx, staff| {
                rule(tx, &staff.agent, ticket, &request)
            })
            .await;
        match outcome {
            Ok(_) if self.data.text(REPLY_FIELD).is_empty() && self.files.names.is_empty() => {
                Ok(redirect_with_notice(&url(ticket), notice))
            }
            // The unsent text and files of a ticket that was reopened. A redirect would lose them.
            Ok(_) => {
                self.visit.notice = Some(notice.to_owned());
                self.render_again(REPLY_FIELD, false).await
            }
            Err(error) => {
                let mut action = forms::from_error(self.data.clone(), error)?;
                action = action.with_list_errors_at("tags");
                for error in &mut action.errors {
                    error.reason = page_reason(error);
                }
                // The unsent text of a ticket that could not be reopened.
                let compose = FormState::with_errors(self.data.clone(), Vec::new());
                let forms = Forms {
                    action,
                    compose,
                    ..Forms::default()
                };
                self.render(forms).await
            }
        }
    }

    /// Posts a reply with its files, or a note. The text of the other box is preserved.
    async fn post<T: Send + 'static>(
        mut self,
        object: Vec<(String, Input)>,
        rule: PostRule<T>,
        (field, notice): (&'static str, &str),
    ) -> PageResult {
        let (ticket, request) = (self.ticket, self.data.request(object));
        let last_shown = self.last_shown_step();
        let files = self.files.take();
        let has_files = !files.is_empty();
        let outcome = match (self.files.errors.is_empty(), files.is_empty()) {
            (false, _) => Err(Error::Refused(self.files.errors.clone())),
            (true, true) => {
                let run = move |tx: &mut WriteTx, staff: &Staff| {
                    rule(tx, &staff.agent, ticket, &request, last_shown, &[])
                };
                self.app.write(self.staff.clone(), run).await
            }
            (true, false) => {
                let agent = self.staff.agent.clone();
                let run = move |tx: &mut WriteTx, _: &Uploader, files: &[NewAttachment]| {
                    rule(tx, &agent, ticket, &request, last_shown, files)
                };
                let (uploads, uploader) = (self.app.uploads(), self.staff.clone().into());
                uploads.attach_with(&uploader, ticket, files, run).await
            }
        };
        let notice = match outcome {
            Ok(Some(_)) => notice,
            Ok(None) => "sent-already",
            Err(error) => {
                let is_stale = matches!(error, Error::Stale);
                let mut form_state = form_after(self.data.clone(), error)?;
                if is_stale {
                    let selects_again = field != NOTE_FIELD && !self.files.names.is_empty();
                    form_state.errors = vec![FieldError::whole(conflict_reason(selects_again))];
                }
                return self.render(compose_forms(form_state, field == NOTE_FIELD)).await;
            }
        };
        self.data.set(field, "");
        self.data.set(CANNED_FIELD, "");
        // The other buttons send only the names of the files.
        if has_files {
            self.files.names.clear();
        }
        if self.files.names.is_empty()
            && [REPLY_FIELD, NOTE_FIELD]
                .iter()
                .all(|field| self.data.text(field).trim().is_empty())
        {
            return Ok(redirect_with_notice(&url(ticket), notice));
        }
        // A redirect would lose the text in the other box and the names of its files, so the response is the page. After
        // a reload, the rule finds the duplicate.
        self.visit.notice = Some(notice.to_owned());
        let form_state = FormState::with_errors(self.data.clone(), Vec::new());
        let is_note = self.data.text(REPLY_FIELD).trim().is_empty() && self.files.names.is_empty();
        self.render(compose_forms(form_state, is_note)).await
    }

    /// The last step of the history that the page showed.
    fn last_shown_step(&self) -> Option<HistoryId> {
        self.data.text(SINCE_FIELD).parse().ok().map(HistoryId)
    }

    fn is_preview(&self) -> bool {
        self.data.text("act") == "preview"
    }

    /// Renders the page again with the submitted text.
    async fn render_again(self, field: &'static str, shows_preview: bool) -> PageResult {
        let forms = Forms {
            preview: shows_preview.then_some(field),
            ..compose_forms(
                FormState::with_errors(self.data.clone(), Vec::new()),
                field == NOTE_FIELD,
            )
        };
        self.render(forms).await
    }

    /// Renders the page with a canned reply appended to the text. The preview disappears, because the text can now
    /// differ from it.
    async fn insert_canned_reply(mut self, canned: CannedReplyId) -> PageResult {
        self.data.set(CANNED_FIELD, canned.to_string());
        let mut page = self.load().await?;
        if let Some(Filled { text, .. }) = page.filled.take() {
            let draft = self.data.text(REPLY_FIELD).trim_end();
            let joined = if draft.is_empty() {
                text
            } else {
                format!("{draft}\n\n{text}")
            };
            self.data.set(REPLY_FIELD, joined);
        }
        self.data.set(CANNED_FIELD, "");
        let mut forms = compose_forms(FormState::with_errors(self.data, Vec::new()), false);
        forms.unsent_files = self.files.names;
        Ok(render(&self.app, self.visit, &page, &forms))
    }

    /// Refuses a submission without a text while a canned reply is shown, but not inserted.
    async fn refuse_uninserted_reply(self) -> PageResult {
        let text = "Press “Insert into reply” first, or write a reply";
        let error = Error::on(REPLY_FIELD, Reason::new(Code::Required, text));
        let form_state = forms::from_error(self.data.clone(), error)?;
        self.render(compose_forms(form_state, false)).await
    }

    async fn load(&self) -> Result<TicketPage, Error> {
        let (ticket, canned) = (self.ticket, canned_reply_in(&self.data, CANNED_FIELD));
        let query = PageQuery {
            canned,
            after: self.last_shown_step(),
            ..PageQuery::default()
        };
        self.app
            .read(self.staff.clone(), move |tx, staff| {
                load(tx, &staff.agent, ticket, query)
            })
            .await
    }

    async fn render(self, mut forms: Forms) -> PageResult {
        let page = self.load().await?;
        forms.unsent_files.clone_from(&self.files.names);
        Ok(render(&self.app, self.visit, &page, &forms))
    }
}

/// The form after an error of the text or of the files.
fn form_after(data: FormData, error: Error) -> Result<FormState, Error> {
    match &error {
        Error::Body(_) | Error::Files(_) => {
            let mut form_state = FormState::with_errors(data, Vec::new()).with_status_of(&error);
            form_state.errors = threads::file_errors(error)?;
            Ok(form_state)
        }
        _ => forms::from_error(data, error),
    }
}

/// The error for a text that was submitted after the ticket was updated.
fn conflict_reason(selects_again: bool) -> Reason {
    let text = "Not sent: this ticket was updated after you opened the page. Your text is still in the box. Review the \
                updates";
    let next = match selects_again {
        true => ", select the files again, then send it.",
        false => ", then send it.",
    };
    Reason::new(Code::PreconditionFailed, format!("{text}{next}"))
}

/// The text of an error on this page. If the text of the API names a field of the request, the text of the
/// page names a button instead.
fn page_reason(error: &FieldError) -> String {
    let reason = error.reason.as_str();
    match error.code {
        Code::TicketClaimed => {
            "This ticket is assigned to someone else. To take it over, use “Reassign to me”.".to_owned()
        }
        _ => reason.to_owned(),
    }
}

/// The compose form. The rules use the same field for replies and notes, so the errors of a note are moved to
/// the field of the note.
fn compose_forms(mut form_state: FormState, is_note: bool) -> Forms {
    for error in form_state.errors.iter_mut().filter(|_| is_note) {
        if error.field.as_deref() == Some(REPLY_FIELD) {
            error.field = Some(NOTE_FIELD.to_owned());
        }
    }
    Forms {
        compose: form_state,
        is_note,
        ..Forms::default()
    }
}

pub async fn claim(form: TicketForm) -> PageResult {
    let take_over = Input::Bool(form.data.has("take_over"));
    let mut object = form.data.non_empty(&["assignee"]);
    let notice = match object.is_empty() {
        true => "ticket-claimed",
        false => "ticket-assigned",
    };
    object.push(("take_over".to_owned(), take_over));
    form.run(object, rules::desk::claim, notice).await
}

pub async fn release(form: TicketForm) -> PageResult {
    form.run(Vec::new(), rules::desk::release, "ticket-released")
        .await
}

pub async fn close(form: TicketForm) -> PageResult {
    form.run(Vec::new(), rules::desk::close, "ticket-closed").await
}

pub async fn reopen(form: TicketForm) -> PageResult {
    form.run(Vec::new(), rules::desk::reopen, "ticket-reopened").await
}

pub async fn change(form: TicketForm) -> PageResult {
    let mut object = form.data.non_empty(&["priority"]);
    if form.data.has("may_close") {
        let closable = Input::Bool(form.data.text("may_close") == "yes");
        object.push(("closable".to_owned(), closable));
    }
    if form.data.has("tags") {
        let tags = form.data.text("tags").split(',').map(str::trim);
        let tags = tags.filter(|tag| !tag.is_empty()).map(Input::from).collect();
        object.push(("tags".to_owned(), Input::List(tags)));
    }
    form.run(object, rules::desk::update, "ticket-changed").await
}

pub async fn reply(form: TicketForm) -> PageResult {
    if let Some(canned) = canned_reply_in(&form.data, INSERT_FIELD) {
        return form.insert_canned_reply(canned).await;
    }
    if form.data.has("act") {
        let shows_preview = form.is_preview();
        return form.render_again(REPLY_FIELD, shows_preview).await;
    }
    let closes_after_canned = form.data.has(SEND_CANNED_CLOSE_FIELD);
    let canned_field = match closes_after_canned {
        true => SEND_CANNED_CLOSE_FIELD,
        false => SEND_CANNED_FIELD,
    };
    let is_empty = form.data.text(REPLY_FIELD).trim().is_empty();
    match canned_reply_in(&form.data, canned_field) {
        Some(CannedReplyId(id)) => {
            let object = vec![
                (SEND_CANNED_FIELD.to_owned(), Input::Integer(id)),
                (CLOSE_FIELD.to_owned(), Input::Bool(closes_after_canned)),
            ];
            let notice = match closes_after_canned {
                true => "reply-sent-closed",
                false => "reply-sent",
            };
            form.post(
                object,
                rules::desk_replies::create_once,
                (SEND_CANNED_FIELD, notice),
            )
            .await
        }
        None if is_empty && !form.data.has(CLOSE_FIELD) && form.files.any() => {
            form.post(Vec::new(), attach_files, (REPLY_FIELD, "files-attached"))
                .await
        }
        None if is_empty && canned_reply_in(&form.data, CANNED_FIELD).is_some() => {
            form.refuse_uninserted_reply().await
        }
        None => {
            let mut object = form.data.object(&[REPLY_FIELD]);
            let closes = form.data.has(CLOSE_FIELD);
            object.push((CLOSE_FIELD.to_owned(), Input::Bool(closes)));
            let notice = if closes { "reply-sent-closed" } else { "reply-sent" };
            form.post(object, rules::desk_replies::create_once, (REPLY_FIELD, notice))
                .await
        }
    }
}

/// Attaches files without a reply.
fn attach_files(
    tx: &mut WriteTx,
    agent: &Agent,
    ticket: TicketId,
    _: &Request,
    _: Option<HistoryId>,
    files: &[NewAttachment],
) -> rules::Result<Option<()>> {
    rules::desk_attachments::create(tx, agent, ticket, None, files).map(Some)
}

pub async fn note(form: TicketForm) -> PageResult {
    if form.is_preview() {
        return form.render_again(NOTE_FIELD, true).await;
    }
    let text = form.data.object(&[NOTE_FIELD]).into_iter();
    let object = text.map(|(_, text)| (REPLY_FIELD.to_owned(), text)).collect();
    let save: PostRule<_> =
        |tx, agent, id, request, seen, _| rules::notes::create_once(tx, agent, id, request, seen);
    form.post(object, save, (NOTE_FIELD, "note-saved")).await
}

pub async fn download(
    State(app): State<App>,
    staff: Staff,
    At((ticket, id)): At<(TicketId, AttachmentId)>,
    method: Method,
) -> PageResult {
    // Conditional headers are ignored, so that every download is complete and is recorded.
    let no_conditions = HeaderMap::new();
    Ok(downloads::send_to_staff(app, staff, (ticket, id), &method, &no_conditions).await?)
}

/// An image for display in the page. This is no download: the history would have a step for each view of the page.
pub async fn image(
    State(app): State<App>,
    staff: Staff,
    At((ticket, id)): At<(TicketId, AttachmentId)>,
) -> PageResult {
    let file = app
        .read(staff, move |tx, _| rules::desk_attachments::view(tx, ticket, id))
        .await?;
    Ok(downloads::send_image(&app, &file).await?)
}
