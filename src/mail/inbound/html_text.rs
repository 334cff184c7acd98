//! Converts the HTML of a message to text, in one pass. Quotes become lines with `> `. Links keep their address.
//! Styles, scripts and comments are dropped.

use mail_parser::decoders::html::add_html_token;

/// Quotes that are nested deeper are shown at this depth.
const MAX_QUOTE_DEPTH: usize = 8;
/// The longest character reference that is decoded, with `&` and `;`.
const MAX_REFERENCE_BYTES: usize = 34;
const MAX_LINK_CHARS: usize = 2000;
/// Marks the start of a quote that has no `blockquote`. `quotes` recognizes the line.
const QUOTE_MARK: &str = "-----Original Message-----";
const RULER: &str = "________________________________";

/// The text of an HTML document.
pub fn html_to_text(html: &str) -> String {
    let mut writer = Writer::default();
    let mut rest = html;
    while !rest.is_empty() {
        rest = match rest.as_bytes()[0] {
            b'<' => read_markup(rest, &mut writer),
            b'&' => read_reference(rest, &mut writer),
            _ => {
                let end = rest.find(['<', '&']).unwrap_or(rest.len());
                writer.text(&rest[..end]);
                &rest[end..]
            }
        };
    }
    writer.finish()
}

/// Reads a tag, a comment or a declaration. Returns the remainder.
fn read_markup<'a>(rest: &'a str, writer: &mut Writer) -> &'a str {
    if let Some(comment) = rest.strip_prefix("<!--") {
        return comment.find("-->").map_or("", |end| &comment[end + 3..]);
    }
    let is_tag = rest[1..].starts_with(|c: char| c.is_ascii_alphabetic() || matches!(c, '/' | '!' | '?'));
    if !is_tag {
        writer.text("<");
        return &rest[1..];
    }
    let end = tag_end(rest);
    let tag = Tag::parse(rest[1..end].trim_end_matches('>'));
    let after = &rest[end..];
    if !tag.is_closing && matches!(tag.name.as_str(), "style" | "script" | "title") {
        return skip_element(after, &tag.name);
    }
    writer.tag(&tag);
    after
}

/// The length of a tag. A `>` inside a quoted attribute does not end it.
fn tag_end(rest: &str) -> usize {
    let mut quote = None;
    for (index, byte) in rest.bytes().enumerate() {
        match (quote, byte) {
            (None, b'>') => return index + 1,
            (None, b'"' | b'\'') if rest.as_bytes()[index - 1] == b'=' => quote = Some(byte),
            (Some(open), _) if open == byte => quote = None,
            _ => {}
        }
    }
    // An attribute whose quote is never closed: the tag ends at the first `>`.
    rest.find('>').map_or(rest.len(), |end| end + 1)
}

/// The remainder after the closing tag of an element whose content is not shown.
fn skip_element<'a>(rest: &'a str, name: &str) -> &'a str {
    let mut from = 0;
    while let Some(found) = rest[from..].find("</") {
        let start = from + found + 2;
        let candidate = rest.as_bytes().get(start..start + name.len());
        if candidate.is_some_and(|candidate| candidate.eq_ignore_ascii_case(name.as_bytes())) {
            let after = &rest[start..];
            return after.find('>').map_or("", |end| &after[end + 1..]);
        }
        from = start;
    }
    ""
}

fn read_reference<'a>(rest: &'a str, writer: &mut Writer) -> &'a str {
    let window = rest.as_bytes().iter().take(MAX_REFERENCE_BYTES);
    let end = window.clone().position(|byte| *byte == b';');
    let is_reference = |end: usize| {
        let name = &rest.as_bytes()[1..end];
        !name.is_empty()
            && name
                .iter()
                .all(|byte| byte.is_ascii_alphanumeric() || *byte == b'#')
    };
    match end.filter(|end| is_reference(*end)) {
        Some(end) => {
            let mut decoded = String::new();
            add_html_token(&mut decoded, &rest.as_bytes()[..=end], false);
            writer.text(&decoded);
            &rest[end + 1..]
        }
        None => {
            writer.text("&");
            &rest[1..]
        }
    }
}

struct Tag {
    /// In lower case.
    name: String,
    is_closing: bool,
    attributes: String,
}

impl Tag {
    fn parse(inner: &str) -> Self {
        let is_closing = inner.starts_with('/');
        let inner = inner.trim_start_matches('/');
        let end = inner
            .find(|c: char| c.is_whitespace() || c == '/')
            .unwrap_or(inner.len());
        Self {
            name: inner[..end].to_ascii_lowercase(),
            is_closing,
            attributes: inner[end..].to_owned(),
        }
    }

    /// The value of an attribute, with its references undecoded.
    fn attribute(&self, name: &str) -> Option<&str> {
        let lower = self.attributes.to_ascii_lowercase();
        let mut from = 0;
        while let Some(found) = lower[from..].find(name) {
            let start = from + found;
            let after = &self.attributes[start + name.len()..];
            let is_whole = start > 0 && lower.as_bytes()[start - 1].is_ascii_whitespace();
            if let (true, Some(value)) = (is_whole, after.trim_start().strip_prefix('=')) {
                let value = value.trim_start();
                let quoted = ['"', '\''].iter().find_map(|quote| value.strip_prefix(*quote));
                let end = match quoted {
                    Some(quoted) => return quoted.split(['"', '\'']).next(),
                    None => value.find(char::is_whitespace).unwrap_or(value.len()),
                };
                return Some(&value[..end]);
            }
            from = start + name.len();
        }
        None
    }

    /// Whether the element begins the quoted message in a mail program that uses no `blockquote`.
    fn begins_quote(&self) -> bool {
        const MARKS: [&str; 3] = ["yahoo_quoted", "divrplyfwdmsg", "moz-forward-container"];
        let lower = self.attributes.to_ascii_lowercase();
        !self.is_closing && MARKS.iter().any(|mark| lower.contains(mark))
    }
}

#[derive(Default)]
struct Writer {
    lines: Vec<String>,
    line: String,
    /// Whether white space precedes the next word.
    has_space: bool,
    quote_depth: usize,
    pre_depth: usize,
    link: Option<Link>,
}

struct Link {
    target: String,
    text: String,
}

impl Writer {
    fn text(&mut self, text: &str) {
        if self.pre_depth > 0 {
            for (index, line) in text.split('\n').enumerate() {
                if index > 0 {
                    self.end_line();
                }
                self.line.push_str(line.trim_end_matches('\r'));
            }
            return;
        }
        for c in text.chars() {
            // A no-break space is not collapsed by HTML, but is a space in text.
            if c.is_ascii_whitespace() {
                self.has_space = true;
                continue;
            }
            if std::mem::take(&mut self.has_space) && !self.line.is_empty() {
                self.line.push(' ');
            }
            let c = if c == '\u{a0}' { ' ' } else { c };
            self.line.push(c);
            if let Some(link) = &mut self.link {
                link.text.push(c);
            }
        }
    }

    fn tag(&mut self, tag: &Tag) {
        if tag.begins_quote() {
            self.block();
            self.line.push_str(QUOTE_MARK);
            self.block();
        }
        match tag.name.as_str() {
            "br" => self.end_line(),
            "hr" => {
                self.block();
                self.line.push_str(RULER);
                self.block();
            }
            "p" | "h1" | "h2" | "h3" | "h4" | "h5" | "h6" | "ul" | "ol" | "table" => self.paragraph(),
            "div" | "tr" | "section" | "article" | "header" | "footer" | "center" | "dl" | "dt" | "dd" => {
                self.block();
            }
            "li" => {
                self.block();
                if !tag.is_closing {
                    self.line.push_str("- ");
                }
            }
            "td" | "th" => self.has_space = true,
            "blockquote" if tag.is_closing => {
                self.block();
                self.quote_depth = self.quote_depth.saturating_sub(1);
                self.paragraph();
            }
            "blockquote" => {
                self.paragraph();
                self.quote_depth += 1;
            }
            "pre" => {
                self.block();
                self.pre_depth = match tag.is_closing {
                    true => self.pre_depth.saturating_sub(1),
                    false => self.pre_depth + 1,
                };
            }
            "img" if !tag.is_closing => self.image(tag),
            "a" => self.anchor(tag),
            _ => {}
        }
    }

    fn image(&mut self, tag: &Tag) {
        if let Some(alt) = tag.attribute("alt").filter(|alt| !alt.trim().is_empty()) {
            let alt = alt.to_owned();
            self.text(&format!("[{}]", alt.trim()));
        }
    }

    fn anchor(&mut self, tag: &Tag) {
        if let Some(link) = self.link.take() {
            let is_same = |text: &str| text == link.target || link.target.ends_with(&format!("//{text}"));
            let is_web = link.target.starts_with("http://") || link.target.starts_with("https://");
            let is_short = link.target.chars().count() <= MAX_LINK_CHARS;
            let shown = link.text.trim();
            if is_web && is_short && !shown.is_empty() && !is_same(shown.trim_end_matches('/')) {
                self.line.push_str(&format!(" <{}>", link.target));
            }
        }
        if !tag.is_closing
            && let Some(target) = tag.attribute("href")
        {
            self.link = Some(Link {
                target: target
                    .trim()
                    .replace("&amp;", "&")
                    .trim_end_matches('/')
                    .to_owned(),
                text: String::new(),
            });
        }
    }

    /// Ends the line, if it has text.
    fn block(&mut self) {
        if !self.line.trim().is_empty() {
            self.end_line();
        }
        self.line.clear();
        self.has_space = false;
    }

    /// Ends the line and adds an empty line.
    fn paragraph(&mut self) {
        self.block();
        let blank = self.prefix();
        if self.lines.last().is_some_and(|last| *last != blank) {
            self.end_line();
        }
    }

    fn end_line(&mut self) {
        let line = std::mem::take(&mut self.line);
        let prefix = self.prefix();
        // "-- " before a signature keeps its space.
        let text = if line == "-- " || line == "--" {
            "-- "
        } else {
            line.trim_end()
        };
        self.lines.push(format!("{prefix}{text}"));
        self.has_space = false;
    }

    fn prefix(&self) -> String {
        "> ".repeat(self.quote_depth.min(MAX_QUOTE_DEPTH))
    }

    fn finish(mut self) -> String {
        self.block();
        self.lines.join("\n").trim_end_matches('\n').to_owned()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paragraphs_lists_links_and_quotes_become_lines() {
        let html = "<html><head><title>No</title><style>p { x: '</p>' }</style></head><body>\
            <p>First&nbsp;line,<br>second &lt;line&gt; &copy; &#x20AC;</p><ul><li>one<li>two</ul>\
            <p>See <a href='https://example.com/a?b=1&amp;c=2'>the page</a> or \
            <a href=\"https://example.com/\">https://example.com</a>.</p>\
            <blockquote>Old <b>text</b><blockquote>Older</blockquote></blockquote><!-- no --><p>End</body>";
        assert_eq!(
            html_to_text(html),
            "First line,\nsecond <line> © €\n\n- one\n- two\n\nSee the page \
             <https://example.com/a?b=1&c=2> or https://example.com.\n\n> Old text\n> \n> > Older\n> \n\nEnd"
        );
    }

    #[test]
    fn broken_markup_is_text_or_is_dropped() {
        for (html, text) in [
            ("a < b && c > d &unknown; &;", "a < b && c > d &unknown; &;"),
            ("x<", "x<"),
            ("x<b", "x"),
            ("x<!-- y", "x"),
            ("x<style>y", "x"),
            ("<a href=\"y>text</a>", "text"),
            ("</blockquote></pre>x", "x"),
            ("<pre>a\n  b</pre>c", "a\n  b\nc"),
            ("<p>a&#0;&#xD800;</p>", "a\0\u{fffd}"),
        ] {
            assert_eq!(html_to_text(html), text, "{html}");
        }
    }
}
