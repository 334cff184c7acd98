//! The texts of mails that the provider has changed (decision 0049).

use super::outgoing_mails::Draft;
use super::sample_mails;
use crate::model::mail_template::{MailTemplates, MailText, TemplateKind, TextName};
use crate::model::reason::{Code, Reason};
use crate::rules::error::Result;
use crate::rules::form::Form;
use crate::rules::request::Request;
use crate::store::{self, ReadTx, WriteTx};

/// A request has at most one template for each kind of mail.
const MAX_TEMPLATES: usize = TemplateKind::ALL.len();

pub fn view(tx: &mut ReadTx) -> Result<MailTemplates> {
    Ok(store::mail_templates::load(tx)?)
}

/// Changes texts. A text that is null gets its default.
pub fn update(tx: &mut WriteTx, request: &Request) -> Result<MailTemplates> {
    let mut templates = view(tx)?;
    request.check_if_match(&templates)?;
    let mut form = request.form()?;
    read_changes(&mut form, &mut templates);
    let templates = form.finish(|| Some(templates))?;
    store::mail_templates::save(tx, &templates)?;
    Ok(templates)
}

/// Restores all defaults.
pub fn reset(tx: &mut WriteTx, request: &Request) -> Result<()> {
    let templates = view(tx)?;
    request.check_if_match(&templates)?;
    request.require_valid_body()?;
    match templates.0.is_empty() {
        true => Ok(()),
        false => Ok(store::mail_templates::save(tx, &MailTemplates::default())?),
    }
}

/// A mail with sample data and the texts after a change, without storing them.
pub fn preview(tx: &mut ReadTx, request: &Request) -> Result<Draft> {
    let mut templates = view(tx)?;
    let mut form = request.form()?;
    let kind = form.required("mail", TemplateKind::parse);
    read_changes(&mut form, &mut templates);
    let kind = form.finish(|| kind)?;
    sample_mails::draft(tx, kind, templates)
}

fn read_changes(form: &mut Form, templates: &mut MailTemplates) {
    read_text(form, "signature", TextName::Signature, templates);
    form.first("templates", MAX_TEMPLATES, |form| {
        if let Some(kind) = form.required("mail", TemplateKind::parse) {
            read_text(form, "introduction", TextName::Introduction(kind), templates);
            read_text(form, "closing", TextName::Closing(kind), templates);
        }
    });
    if form.count("templates") > MAX_TEMPLATES {
        let text = format!("Must have at most {MAX_TEMPLATES} templates");
        form.refuse("templates", Reason::new(Code::OutOfRange, text));
    }
}

fn read_text(form: &mut Form, field: &'static str, name: TextName, templates: &mut MailTemplates) {
    let text = form.optional(field, |raw| MailText::parse(raw, name));
    if text.is_some() || form.is_null(field) {
        templates.set(name, text);
    }
}
