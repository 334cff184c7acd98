//! Markdown as people write it in tickets, drawn so that nothing in it can do anything.
//!
//! What is in this file's list becomes an element of ours; HTML is shown as the text it is; links lead
//! only to the web and to mail, and pictures are links: a page never asks another server for anything
//! (decision 0021, points 4 and 5).

use maud::{Markup, PreEscaped, Render};
use pulldown_cmark::{Event, HeadingLevel, LinkType, Options, Parser, Tag};

/// How deep elements may stand in each other; what is deeper is drawn without its own.
const DEEPEST: usize = 24;
/// A text that would become more than this many times longer is shown as it is.
const SWELLING: usize = 20;
const SMALL: usize = 64 * 1024;

/// A text with its Markdown drawn.
pub fn draw(text: &str) -> Markup {
    let most = SMALL + text.len() * SWELLING;
    let mut drawing = Drawing::default();
    for event in Parser::new_ext(text, Options::ENABLE_STRIKETHROUGH | Options::ENABLE_TASKLISTS) {
        drawing.see(event);
        if drawing.html.len() > most {
            let mut plain = "<pre tabindex=\"0\">".to_owned();
            text.render_to(&mut plain);
            return PreEscaped(plain + "</pre>");
        }
    }
    PreEscaped(drawing.html)
}

#[derive(Default)]
struct Drawing {
    html: String,
    /// What ends each element that is open.
    ends: Vec<&'static str>,
    links: usize,
    code: bool,
}

impl Drawing {
    fn see(&mut self, event: Event) {
        match event {
            Event::Start(tag) => self.open(tag),
            Event::End(_) => self.close(),
            Event::Text(text) if self.code || self.links > 0 => self.text(&text),
            Event::Text(text) => self.text_with_links(&text),
            Event::Code(text) => {
                self.html += "<code>";
                self.text(&text);
                self.html += "</code>";
            }
            Event::Html(text) | Event::InlineHtml(text) => self.text(&text),
            // Whoever ends a line in a ticket means it.
            Event::SoftBreak | Event::HardBreak => self.html += "<br>",
            Event::Rule => self.html += "<hr>",
            Event::TaskListMarker(done) => self.html += if done { "☑ " } else { "☐ " },
            _ => {}
        }
    }

    fn open(&mut self, tag: Tag) {
        let end = match tag {
            _ if self.ends.len() >= DEEPEST => "",
            Tag::Paragraph | Tag::HtmlBlock => self.element("<p>", "</p>"),
            // The page has headings of its own above these.
            Tag::Heading { level, .. } => match level {
                HeadingLevel::H1 => self.element("<h3>", "</h3>"),
                HeadingLevel::H2 => self.element("<h4>", "</h4>"),
                _ => self.element("<h5>", "</h5>"),
            },
            Tag::BlockQuote(_) => self.element("<blockquote>", "</blockquote>"),
            Tag::CodeBlock(_) => {
                self.code = true;
                self.element("<pre tabindex=\"0\"><code>", "</code></pre>")
            }
            Tag::List(None) => self.element("<ul>", "</ul>"),
            Tag::List(Some(first)) => {
                self.html += &format!("<ol start=\"{first}\">");
                "</ol>"
            }
            Tag::Item => self.element("<li>", "</li>"),
            Tag::Emphasis => self.element("<em>", "</em>"),
            Tag::Strong => self.element("<strong>", "</strong>"),
            Tag::Strikethrough => self.element("<del>", "</del>"),
            Tag::Link {
                link_type, dest_url, ..
            } => match link_type {
                LinkType::Email => self.link(&format!("mailto:{dest_url}"), ""),
                _ => self.link(&dest_url, ""),
            },
            Tag::Image { dest_url, .. } => self.link(&dest_url, "Image: "),
            _ => "",
        };
        self.ends.push(end);
    }

    fn element(&mut self, begin: &str, end: &'static str) -> &'static str {
        self.html += begin;
        end
    }

    fn close(&mut self) {
        let end = self.ends.pop().unwrap_or_default();
        match end {
            LINK_END => self.links -= 1,
            "</code></pre>" => self.code = false,
            _ => {}
        }
        self.html += end;
    }

    fn text(&mut self, text: &str) {
        text.render_to(&mut self.html);
    }

    /// Begins a link, if it may be one; else only its text is shown.
    fn link(&mut self, address: &str, kind: &str) -> &'static str {
        if self.links > 0 || !leads_outside(address) {
            self.html += kind;
            return "";
        }
        self.html += "<a href=\"";
        address.render_to(&mut self.html);
        self.html += "\" rel=\"nofollow noopener noreferrer\" target=\"_blank\">";
        self.html += kind;
        self.links += 1;
        LINK_END
    }

    /// A text in which addresses stand as they are.
    fn text_with_links(&mut self, text: &str) {
        let mut rest = text;
        while let Some(at) = ["https://", "http://"].iter().filter_map(|s| rest.find(s)).min() {
            let (before, from) = rest.split_at(at);
            let inside = |c: char| !c.is_whitespace() && !c.is_control() && !"<>\"`".contains(c);
            let end = from.find(|c| !inside(c)).unwrap_or(from.len());
            let address = from[..end].trim_end_matches(|c| ".,;:!?'*_~)]}".contains(c));
            self.text(before);
            let close = self.link(address, "");
            self.text(address);
            if close == LINK_END {
                self.links -= 1;
                self.html += close;
            }
            // What was only a beginning is passed over all the same.
            rest = &from[address.len()..];
        }
        self.text(rest);
    }
}

const LINK_END: &str = "</a>";

/// Whether an address is one of the web or of mail. Our own pages are not linked to: nobody shall be
/// sent there by somebody else's text.
fn leads_outside(address: &str) -> bool {
    let begins = |start: &str| {
        let head = address.get(..start.len());
        head.is_some_and(|head| head.eq_ignore_ascii_case(start)) && address.len() > start.len()
    };
    let plain = |c: char| !c.is_control() && !c.is_whitespace();
    ["https://", "http://", "mailto:"].into_iter().any(begins) && address.chars().all(plain)
}

#[cfg(test)]
mod tests {
    use std::time::{Duration, Instant};

    use super::*;

    fn drawn(text: &str) -> String {
        draw(text).into_string()
    }

    #[test]
    fn what_people_write_looks_as_they_mean_it() {
        let text = "# Broken\n\nIt **does** _not_ ~~work~~:\nsee `ip a`\n\n- one\n- two\n\n3. three\n\n> quoted\n\n```\n<b>\n```";
        assert_eq!(
            drawn(text),
            "<h3>Broken</h3><p>It <strong>does</strong> <em>not</em> <del>work</del>:<br>see <code>ip a</code></p>\
             <ul><li>one</li><li>two</li></ul><ol start=\"3\"><li>three</li></ol>\
             <blockquote><p>quoted</p></blockquote><pre tabindex=\"0\"><code>&lt;b&gt;\n</code></pre>"
        );
    }

    #[test]
    fn addresses_become_links_and_say_nothing_of_where_they_stand() {
        let link = |address: &str| {
            format!(
                "<a href=\"{address}\" rel=\"nofollow noopener noreferrer\" target=\"_blank\">{address}</a>"
            )
        };
        let web = "https://a.example/x?y=1";
        assert_eq!(
            drawn(&format!("See {web}.")),
            format!("<p>See {}.</p>", link(web))
        );
        assert_eq!(drawn(&format!("<{web}>")), format!("<p>{}</p>", link(web)));
        assert_eq!(drawn("https://"), "<p>https://</p>");
        assert!(drawn("<a@b.example>").contains("href=\"mailto:a@b.example\""));
        assert!(drawn("`https://a.example`").ends_with("<code>https://a.example</code></p>"));
    }

    #[test]
    fn nothing_hostile_becomes_an_element_or_an_address() {
        for text in [
            "<script>alert(1)</script>",
            "<img src=x onerror=alert(1)>",
            "a <b onclick=alert(1)>b</b>",
            "[x](javascript:alert(1))",
            "[x](JaVaScRiPt:alert(1))",
            "[x](java\tscript:alert(1))",
            "[x](&#106;avascript:alert(1))",
            "[x](data:text/html,<script>alert(1)</script>)",
            "[x](vbscript:x)",
            "[x](//evil.example)",
            "[x](/logout)",
            "<javascript:alert(1)>",
            "[x]: javascript:alert(1)\n\n[x]",
            "![x](javascript:alert(1))",
            "\"><svg onload=alert(1)>",
            "https://",
        ] {
            let html = drawn(text);
            for bad in ["<script", "<img", "<svg", "<b ", "href", "src=\""] {
                assert!(!html.contains(bad), "{text:?} became {html}");
            }
        }
        let quoted = drawn("[x](https://a.example/\"onmouseover=\"alert(1))");
        assert!(!quoted.contains("\"onmouseover"), "{quoted}");
        let title = drawn("[x](https://a.example \"t\\\" onclick=alert(1)\")");
        assert!(!title.contains("onclick"), "{title}");
    }

    #[test]
    fn a_picture_is_a_link_and_is_never_loaded() {
        let html = drawn("![my cat](https://a.example/cat.png)");
        assert!(
            html.contains(">Image: my cat</a>") && !html.contains("<img"),
            "{html}"
        );
        let inside = drawn("[![alt](https://a.example/1.png)](https://b.example)");
        assert_eq!(inside.matches("<a ").count(), 1, "{inside}");
    }

    #[test]
    fn no_text_takes_long_or_swells() {
        for piece in [
            ">",
            "- ",
            "[",
            "![",
            "*a_",
            "`",
            "[a](",
            "<a ",
            "http://",
            "\n> - ",
            "&#",
            "***",
            "1) ",
            "[a]: b\n[a]",
        ] {
            let text: String = piece.chars().cycle().take(65_000).collect();
            let begun = Instant::now();
            let html = drawn(&text);
            assert!(
                begun.elapsed() < Duration::from_secs(5),
                "{piece:?} took {:?}",
                begun.elapsed()
            );
            assert!(
                html.len() <= SMALL + text.len() * (SWELLING + 1),
                "{piece:?} became {}",
                html.len()
            );
            assert!(html.matches("<blockquote>").count() <= 65_000);
        }
        let deep = drawn(&format!("{} x", ">".repeat(1000)));
        assert_eq!(deep.matches("<blockquote>").count(), DEEPEST);
    }
}
