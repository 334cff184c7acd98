//! Whether the server sends mail, for pages about mail.

use maud::{Markup, html};

use crate::web::App;

/// Says so if the server sends no mail.
pub fn missing_server(app: &App) -> Markup {
    html! {
        @if !app.sends_mail() {
            p .warning { "This server sends no mail, because " code { "mail.smtp_url" } " is not set." }
        }
    }
}
