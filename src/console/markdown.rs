//! Renders the Markdown of tickets as safe HTML.
//!
//! The output has only the elements in this file. HTML in the text is escaped. Links are limited to http,
//! https and mailto. Images are rendered as links, so a page never loads anything from another server
//! (decision 0021, points 4 and 5).

use maud::{Markup, PreEscaped, Render};
use pulldown_cmark::{Alignment, Event, HeadingLevel, LinkType, Options, Parser, Tag};

/// The maximum nesting depth. Deeper elements are rendered without their tags.
const MAX_DEPTH: usize = 24;
/// The HTML can be at most this many times as long as the text, plus the base limit. If it is longer, the
/// text is shown as plain text.
const MAX_GROWTH_FACTOR: usize = 20;
const BASE_LIMIT_BYTES: usize = 64 * 1024;

const EXTENSIONS: Options = Options::ENABLE_STRIKETHROUGH
    .union(Options::ENABLE_TASKLISTS)
    .union(Options::ENABLE_TABLES);
/// A table can be wider than the page, so its box scrolls. Keyboard users can focus it.
const TABLE_START: &str = "<div class=\"scroll\" tabindex=\"0\"><table>";
const TABLE_END: &str = "</tbody></table></div>";
const TABLE_HEAD_END: &str = "</tr></thead><tbody>";
/// The number of nested elements of a table: the table, a row, a cell, and one element in the cell.
const TABLE_DEPTH: usize = 4;

/// Renders a Markdown text.
pub fn render(text: &str) -> Markup {
    let max_bytes = BASE_LIMIT_BYTES + text.len() * MAX_GROWTH_FACTOR;
    let mut renderer = Renderer::default();
    for event in Parser::new_ext(text, EXTENSIONS) {
        renderer.render_event(event);
        if renderer.html.len() > max_bytes {
            let mut plain = "<pre tabindex=\"0\">".to_owned();
            text.render_to(&mut plain);
            return PreEscaped(plain + "</pre>");
        }
    }
    PreEscaped(renderer.html)
}

#[derive(Default)]
struct Renderer {
    html: String,
    /// The closing tags of the open elements.
    closing_tags: Vec<&'static str>,
    /// The number of open links.
    links: usize,
    /// Whether a code block is open.
    code: bool,
    /// The part of a table that is open.
    table: TablePart,
    /// The alignment of the columns of the open table, and the next column of its row.
    alignments: Vec<Alignment>,
    column: usize,
}

#[derive(Clone, Copy, Default, PartialEq, Eq)]
enum TablePart {
    #[default]
    None,
    Head,
    Body,
}

impl Renderer {
    fn render_event(&mut self, event: Event) {
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
            // Line breaks in a ticket are intentional.
            Event::SoftBreak | Event::HardBreak => self.html += "<br>",
            Event::Rule => self.html += "<hr>",
            Event::TaskListMarker(done) => self.html += if done { "☑ " } else { "☐ " },
            _ => {}
        }
    }

    fn open(&mut self, tag: Tag) {
        let end = match tag {
            _ if self.closing_tags.len() >= MAX_DEPTH => "",
            Tag::Paragraph | Tag::HtmlBlock => self.element("<p>", "</p>"),
            // The page uses the higher heading levels itself.
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
            Tag::Table(alignments) if self.closing_tags.len() + TABLE_DEPTH <= MAX_DEPTH => {
                self.table = TablePart::Head;
                self.alignments = alignments;
                self.element(TABLE_START, TABLE_END)
            }
            Tag::TableHead if self.table == TablePart::Head => self.row("<thead><tr>", TABLE_HEAD_END),
            Tag::TableRow if self.table == TablePart::Body => self.row("<tr>", "</tr>"),
            Tag::TableCell if self.table == TablePart::Head => self.cell("<th scope=\"col\"", "</th>"),
            Tag::TableCell if self.table == TablePart::Body => self.cell("<td", "</td>"),
            // The cells of a table that is nested too deeply.
            Tag::TableCell => self.element(" ", " "),
            Tag::Item => self.element("<li>", "</li>"),
            Tag::Emphasis => self.element("<em>", "</em>"),
            Tag::Strong => self.element("<strong>", "</strong>"),
            Tag::Strikethrough => self.element("<del>", "</del>"),
            Tag::Link {
                link_type, dest_url, ..
            } => match link_type {
                LinkType::Email => self.open_link(&format!("mailto:{dest_url}"), ""),
                _ => self.open_link(&dest_url, ""),
            },
            Tag::Image { dest_url, .. } => self.open_link(&dest_url, "Image: "),
            _ => "",
        };
        self.closing_tags.push(end);
    }

    fn element(&mut self, begin: &str, end: &'static str) -> &'static str {
        self.html += begin;
        end
    }

    fn row(&mut self, begin: &str, end: &'static str) -> &'static str {
        self.column = 0;
        self.element(begin, end)
    }

    /// Opens a cell. `begin` is its start tag without the closing bracket.
    fn cell(&mut self, begin: &str, end: &'static str) -> &'static str {
        let alignment = self.alignments.get(self.column);
        self.column += 1;
        self.html += begin;
        self.html += match alignment {
            Some(Alignment::Center) => " class=\"center\"",
            Some(Alignment::Right) => " class=\"right\"",
            Some(Alignment::Left | Alignment::None) | None => "",
        };
        self.html += ">";
        end
    }

    fn close(&mut self) {
        let end = self.closing_tags.pop().unwrap_or_default();
        match end {
            LINK_END => self.links -= 1,
            "</code></pre>" => self.code = false,
            TABLE_HEAD_END => self.table = TablePart::Body,
            TABLE_END => self.table = TablePart::None,
            _ => {}
        }
        self.html += end;
    }

    fn text(&mut self, text: &str) {
        text.render_to(&mut self.html);
    }

    /// Opens a link and returns its closing tag. If the URL is not allowed, only the text is shown.
    fn open_link(&mut self, url: &str, prefix: &str) -> &'static str {
        if self.links > 0 || !is_external(url) {
            self.html += prefix;
            return "";
        }
        self.html += "<a href=\"";
        url.render_to(&mut self.html);
        self.html += "\" rel=\"nofollow noopener noreferrer\" target=\"_blank\">";
        self.html += prefix;
        self.links += 1;
        LINK_END
    }

    /// Renders a text, with bare URLs as links.
    fn text_with_links(&mut self, text: &str) {
        let mut rest = text;
        while let Some(at) = find_web_url(rest) {
            let (before, from) = rest.split_at(at);
            let is_url_char = |c: char| !c.is_whitespace() && !c.is_control() && !"<>\"`".contains(c);
            let end = from.find(|c| !is_url_char(c)).unwrap_or(from.len());
            let url = from[..end].trim_end_matches(|c| ".,;:!?'*_~)]}".contains(c));
            self.text(before);
            let close = self.open_link(url, "");
            self.text(url);
            if close == LINK_END {
                self.links -= 1;
                self.html += close;
            }
            // `url` contains at least the scheme, so the loop ends.
            rest = &from[url.len()..];
        }
        self.text(rest);
    }
}

const LINK_END: &str = "</a>";

/// The position of the first `http://` or `https://`. Reads the text only up to this position, because the caller searches
/// the remainder again.
fn find_web_url(text: &str) -> Option<usize> {
    let is_scheme = |at: &usize| {
        let rest = &text[at + "http".len()..];
        rest.starts_with("://") || rest.starts_with("s://")
    };
    text.match_indices("http").map(|(at, _)| at).find(is_scheme)
}

/// Whether a URL is http, https or mailto. Relative URLs are not allowed, so that user text cannot link to a
/// page of the console.
fn is_external(url: &str) -> bool {
    let has_scheme = |scheme: &str| {
        let head = url.get(..scheme.len());
        head.is_some_and(|head| head.eq_ignore_ascii_case(scheme)) && url.len() > scheme.len()
    };
    let is_allowed = |c: char| !c.is_control() && !c.is_whitespace();
    ["https://", "http://", "mailto:"].into_iter().any(has_scheme) && url.chars().all(is_allowed)
}

#[cfg(test)]
mod tests {
    use std::time::{Duration, Instant};

    use super::*;

    fn rendered(text: &str) -> String {
        render(text).into_string()
    }

    #[test]
    fn common_markdown_is_rendered() {
        let text = "# Broken\n\nIt **does** _not_ ~~work~~:\nsee `ip a`\n\n- one\n- two\n\n3. three\n\n> quoted\n\n```\n<b>\n```";
        assert_eq!(
            rendered(text),
            "<h3>Broken</h3><p>It <strong>does</strong> <em>not</em> <del>work</del>:<br>see <code>ip a</code></p>\
             <ul><li>one</li><li>two</li></ul><ol start=\"3\"><li>three</li></ol>\
             <blockquote><p>quoted</p></blockquote><pre tabindex=\"0\"><code>&lt;b&gt;\n</code></pre>"
        );
    }

    #[test]
    fn a_table_has_a_header_and_scrolls() {
        let text = "| host | `ping` |\n|---|---|\n| a<b> | **3** ms |\n| c |";
        assert_eq!(
            rendered(text),
            "<div class=\"scroll\" tabindex=\"0\"><table><thead><tr><th scope=\"col\">host</th>\
             <th scope=\"col\"><code>ping</code></th></tr></thead><tbody>\
             <tr><td>a&lt;b&gt;</td><td><strong>3</strong> ms</td></tr><tr><td>c</td><td></td></tr>\
             </tbody></table></div>"
        );
        // A table that is nested too deeply is text. No element remains open.
        let deep = format!(
            "{}| a |\n{}|---|\n{}| b |",
            "> ".repeat(22),
            "> ".repeat(22),
            "> ".repeat(22)
        );
        let html = rendered(&deep);
        assert!(!html.contains("<table") && !html.contains("<td"), "{html}");
        assert_eq!(
            html.matches("<blockquote>").count(),
            html.matches("</blockquote>").count()
        );
    }

    #[test]
    fn the_columns_of_a_table_are_aligned() {
        let text = "| a | b | c |\n|:--|:-:|--:|\n| 1 | 2 | 3 |\n\n| d |\n|---|\n| 4 |";
        let html = rendered(text);
        for (name, value, class) in [
            ("a", "1", ""),
            ("b", "2", " class=\"center\""),
            ("c", "3", " class=\"right\""),
            ("d", "4", ""),
        ] {
            assert!(
                html.contains(&format!("<th scope=\"col\"{class}>{name}</th>")),
                "{html}"
            );
            assert!(html.contains(&format!("<td{class}>{value}</td>")), "{html}");
        }
    }

    #[test]
    fn urls_become_links_without_a_referrer() {
        let link = |url: &str| {
            format!("<a href=\"{url}\" rel=\"nofollow noopener noreferrer\" target=\"_blank\">{url}</a>")
        };
        let web = "https://a.example/x?y=1";
        assert_eq!(
            rendered(&format!("See {web}.")),
            format!("<p>See {}.</p>", link(web))
        );
        assert_eq!(rendered(&format!("<{web}>")), format!("<p>{}</p>", link(web)));
        assert_eq!(rendered("https://"), "<p>https://</p>");
        assert_eq!(
            rendered(&format!("http and httpx://b {web}")),
            format!("<p>http and httpx://b {}</p>", link(web))
        );
        assert!(rendered("<a@b.example>").contains("href=\"mailto:a@b.example\""));
        assert!(rendered("`https://a.example`").ends_with("<code>https://a.example</code></p>"));
    }

    #[test]
    fn hostile_text_creates_no_elements_and_no_links() {
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
            let html = rendered(text);
            for bad in ["<script", "<img", "<svg", "<b ", "href", "src=\""] {
                assert!(!html.contains(bad), "{text:?} became {html}");
            }
        }
        let quoted = rendered("[x](https://a.example/\"onmouseover=\"alert(1))");
        assert!(!quoted.contains("\"onmouseover"), "{quoted}");
        let title = rendered("[x](https://a.example \"t\\\" onclick=alert(1)\")");
        assert!(!title.contains("onclick"), "{title}");
    }

    #[test]
    fn an_image_is_a_link() {
        let html = rendered("![my cat](https://a.example/cat.png)");
        assert!(
            html.contains(">Image: my cat</a>") && !html.contains("<img"),
            "{html}"
        );
        let nested = rendered("[![alt](https://a.example/1.png)](https://b.example)");
        assert_eq!(nested.matches("<a ").count(), 1, "{nested}");
    }

    #[test]
    fn time_and_size_of_the_output_are_bounded() {
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
            let started = Instant::now();
            let html = rendered(&text);
            assert!(
                started.elapsed() < Duration::from_secs(5),
                "{piece:?} took {:?}",
                started.elapsed()
            );
            assert!(
                html.len() <= BASE_LIMIT_BYTES + text.len() * (MAX_GROWTH_FACTOR + 1),
                "{piece:?} became {}",
                html.len()
            );
            assert!(html.matches("<blockquote>").count() <= 65_000);
        }
        let links = "http://a ".repeat(100_000);
        let started = Instant::now();
        assert_eq!(rendered(&links).matches("<a ").count(), 100_000);
        assert!(
            started.elapsed() < Duration::from_secs(10),
            "{:?}",
            started.elapsed()
        );
        let deep = rendered(&format!("{} x", ">".repeat(1000)));
        assert_eq!(deep.matches("<blockquote>").count(), MAX_DEPTH);
    }
}
