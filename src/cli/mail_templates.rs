//! `garth mail templates` and `set-template`: the texts of mails.

use std::path::{Path, PathBuf};

use anyhow::{Context, bail};
use clap::Subcommand;

use super::output::Output;
use super::store_args::StoreArgs;
use crate::api::mail_templates::MailTemplatesView;
use crate::model::input::Input;
use crate::model::mail_template::{MailTemplates, TemplateKind, TextName};
use crate::rules::mail_templates;
use crate::rules::request::Request;

#[derive(Subcommand)]
pub enum Command {
    /// Show the texts of mails, with their defaults
    Templates,
    /// Set a text of mails from a file
    ///
    /// Texts can have placeholders such as {{ticket.id}}. garth mail templates lists them.
    SetTemplate {
        /// signature, or the mail and the part, such as reply.introduction or invitation.closing
        name: String,
        /// File with the text
        #[arg(required_unless_present = "default")]
        file: Option<PathBuf>,
        /// Restore the default
        #[arg(long, conflicts_with = "file")]
        default: bool,
    },
}

pub async fn run(store: &StoreArgs, output: Output, command: Command) -> anyhow::Result<()> {
    let store = store.open()?;
    if let Command::SetTemplate { name, file, .. } = command {
        let request = change(&name, file.as_deref())?;
        let changed = store.write(move |tx| mail_templates::update(tx, &request)).await;
        changed.context(name)?;
    }
    let templates = store.read(mail_templates::view).await?;
    output.one(&MailTemplatesView::new(&templates), &text(&templates))
}

fn change(name: &str, file: Option<&Path>) -> anyhow::Result<Request> {
    let content = match file {
        Some(file) => {
            let content = std::fs::read_to_string(file);
            let content = content.with_context(|| format!("cannot read {}", file.display()))?;
            Input::Text(content.trim_end().to_owned())
        }
        None => Input::Null,
    };
    let template = |kind: TemplateKind, part: &str| {
        let mail = Input::Text(kind.word().to_owned());
        let fields = vec![("mail".to_owned(), mail), (part.to_owned(), content.clone())];
        ("templates", Input::List(vec![Input::Object(fields)]))
    };
    let field = match TextName::find(name) {
        Some(TextName::Signature) => ("signature", content),
        Some(TextName::Introduction(kind)) => template(kind, "introduction"),
        Some(TextName::Closing(kind)) => template(kind, "closing"),
        None => {
            let mails = TemplateKind::ALL.map(TemplateKind::word).join(", ");
            bail!("{name} must be signature, MAIL.introduction or MAIL.closing; MAIL is one of {mails}");
        }
    };
    Ok(Request::with_fields([field]))
}

fn text(templates: &MailTemplates) -> String {
    let mut text = String::new();
    let mut add = |name: TextName, default: &str| {
        let (content, note) = match templates.text(name) {
            Some(content) => (content, ""),
            None => (default, " (default)"),
        };
        text.push_str(&format!("{}{note}\n", name.word()));
        for line in content.lines() {
            text.push_str(&format!("    {line}\n"));
        }
    };
    add(TextName::Signature, "");
    for kind in TemplateKind::ALL {
        add(TextName::Introduction(kind), kind.default_introduction());
        add(
            TextName::Closing(kind),
            kind.default_closing().unwrap_or_default(),
        );
    }
    for (mails, name) in [
        ("mails about tickets", TextName::Closing(TemplateKind::Reply)),
        ("mails about users", TextName::Closing(TemplateKind::Invitation)),
        ("signature", TextName::Signature),
    ] {
        let placeholders: Vec<_> = name
            .placeholders()
            .iter()
            .map(|name| format!("{{{{{name}}}}}"))
            .collect();
        text.push_str(&format!("placeholders of {mails}: {}\n", placeholders.join(" ")));
    }
    text.trim_end().to_owned()
}
