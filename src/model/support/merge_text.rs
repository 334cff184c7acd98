//! The messages that a merge of tickets writes, in Markdown (decision 0044).

use crate::model::reply::{Reply, ReplyText};
use crate::model::ticket::Ticket;
use crate::model::time::Time;

/// The characters that remain for the last sentence, about messages that are left out.
const REMAINDER_CHARS: usize = 200;

/// The message in the target: the files and the messages of the source, oldest first. Messages that do not fit are left
/// out.
pub fn for_target(source: &Ticket, replies: &[Reply]) -> ReplyText {
    let id = source.id;
    let mut text = format!(
        "Ticket {id}, “{}”, was merged into this ticket.",
        source.summary.as_str()
    );
    if !source.attachments.is_empty() {
        let files = format!("\n\nFiles of ticket {id}: {}", source.attachments.join(", "));
        text.extend(files.chars().take(ReplyText::MAX / 2));
    }
    let opening = quote(&source.opened_by, source.opened, source.description.as_str());
    let replies = replies.iter();
    let replies = replies.map(|reply| quote(&reply.created_by, reply.created, reply.description.as_str()));
    let mut messages = std::iter::once(opening).chain(replies);
    let mut length = text.chars().count();
    let mut omitted = 0;
    for message in messages.by_ref() {
        length += message.chars().count();
        if length > ReplyText::MAX - REMAINDER_CHARS {
            omitted = 1;
            break;
        }
        text.push_str(&message);
    }
    omitted += messages.count();
    if omitted > 0 {
        text.push_str(&format!("\n\nMessages that are only in ticket {id}: {omitted}"));
    }
    parse(&text)
}

/// The message in the source.
pub fn for_source(target: &Ticket) -> ReplyText {
    parse(&format!(
        "This ticket was merged into ticket {}, “{}”. The conversation continues there.",
        target.id,
        target.summary.as_str()
    ))
}

fn quote(author: &str, at: Time, text: &str) -> String {
    let lines: Vec<_> = text.lines().map(|line| format!("> {line}")).collect();
    let at = at.to_string().replace('T', " ");
    format!("\n\n**{author}**, {at} UTC:\n\n{}", lines.join("\n"))
}

fn parse(text: &str) -> ReplyText {
    ReplyText::parse(text).expect("the parts of the text are valid, and the length is limited")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::id::{AccountId, ReplyId, TicketId};
    use crate::model::ticket::{Status, Summary, TicketText};

    fn ticket(description: &str) -> Ticket {
        Ticket {
            id: TicketId(7),
            account: AccountId(1),
            summary: Summary::parse("Slow").expect("a summary"),
            description: TicketText::parse(description).expect("a text"),
            status: Status::Open,
            may_close: true,
            closed: None,
            opened: Time::from_seconds(0),
            opened_by: "ada".to_owned(),
            opener: None,
            updated: Time::from_seconds(0),
            updated_by: None,
            gravatar_id: String::new(),
            attachments: vec!["a.txt".to_owned(), "b.png".to_owned()],
            entity: None,
            replies: 1,
            merged_into: None,
        }
    }

    fn reply(text: &str) -> Reply {
        Reply {
            id: ReplyId(1),
            created: Time::from_seconds(60),
            created_by: "Support".to_owned(),
            description: ReplyText::parse(text).expect("a text"),
            from_staff: true,
            gravatar_id: String::new(),
        }
    }

    #[test]
    fn the_target_gets_the_messages_of_the_source_as_quotes() {
        let text = for_target(&ticket("It is slow.\nVery."), &[reply("Since when?")]);
        assert_eq!(
            text.as_str(),
            "Ticket 7, “Slow”, was merged into this ticket.\n\nFiles of ticket 7: a.txt, b.png\n\n\
             **ada**, 1970-01-01 00:00:00 UTC:\n\n> It is slow.\n> Very.\n\n\
             **Support**, 1970-01-01 00:01:00 UTC:\n\n> Since when?"
        );
    }

    #[test]
    fn messages_that_do_not_fit_are_left_out() {
        let long = "x\n".repeat(30_000);
        let text = for_target(&ticket(&long), &[reply("Since when?"), reply("Hello?")]);
        assert!(
            text.as_str().ends_with("Messages that are only in ticket 7: 3"),
            "{}",
            text.as_str()
        );
        let text = for_target(
            &ticket("Short."),
            &[reply("Since when?"), reply(&long), reply("Hello?")],
        );
        assert!(text.as_str().contains("> Since when?"));
        assert!(text.as_str().ends_with("Messages that are only in ticket 7: 2"));
    }
}
