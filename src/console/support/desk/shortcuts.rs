//! The keyboard shortcuts of the desk.

use maud::html;

use super::QUEUE;
use crate::console::error_page::PageResult;
use crate::console::visit::Visit;

/// The keyboard shortcuts: place, key and action.
const SHORTCUTS: [(&str, &str, &str); 15] = [
    ("Anywhere", "?", "Show keyboard shortcuts"),
    ("Anywhere", "g", "Go to the desk"),
    ("Anywhere", "t", "Open a ticket for a customer"),
    ("Anywhere", "/", "Find; in the list of tickets, search the list"),
    ("Anywhere", "Esc", "Leave the current field"),
    ("In the list of tickets", "j", "Next ticket"),
    ("In the list of tickets", "k", "Previous ticket"),
    ("In the list of tickets", "Enter", "Open the ticket"),
    ("On a ticket", "c", "Assign or reassign to me"),
    ("On a ticket", "a", "Assign to a colleague"),
    ("On a ticket", "r", "Reply to the customer"),
    ("On a ticket", "n", "Write an internal note"),
    ("On a ticket", "x", "Close the ticket"),
    ("On a ticket", "Ctrl Enter", "Send the reply or save the note"),
    (
        "On a ticket",
        "Ctrl Shift Enter",
        "Send the reply and close the ticket",
    ),
];

pub async fn shortcuts(visit: Visit) -> PageResult {
    let body = html! {
        h1 { "Keyboard shortcuts" }
        div #keys .card {
            @for place in ["Anywhere", "In the list of tickets", "On a ticket"] {
                h2 { (place) }
                dl .keys {
                    @for (_, key, action) in SHORTCUTS.iter().filter(|(context, _, _)| *context == place) {
                        div { dt { @for part in key.split(' ') { kbd { (part) } " " } } dd { (action) } }
                    }
                }
            }
        }
    };
    Ok(visit.page("Keyboard shortcuts", &[QUEUE], &body))
}
