//! Joins the lines of `format=flowed` text (RFC 3676): a line that ends with a space continues on the next line.

/// The text with one line for each paragraph.
pub fn join(text: &str, deletes_space: bool) -> String {
    let mut joined = String::with_capacity(text.len());
    // The quote depth of the previous line, if that line continues.
    let mut continued: Option<usize> = None;
    for line in text.lines() {
        let depth = line.bytes().take_while(|byte| *byte == b'>').count();
        let content = &line[depth..];
        let content = content.strip_prefix(' ').unwrap_or(content);
        let is_signature = content == "-- ";
        let continues = content.ends_with(' ') && !is_signature;
        if continued != Some(depth) || is_signature {
            if !joined.is_empty() || continued.is_some() {
                joined.push('\n');
            }
            joined.extend(std::iter::repeat_n('>', depth));
            if depth > 0 {
                joined.push(' ');
            }
        }
        joined.push_str(match continues && deletes_space {
            true => &content[..content.len() - 1],
            false => content,
        });
        continued = continues.then_some(depth);
        if !continues {
            // An empty first line must also be followed by a line break.
            continued = None;
            if joined.is_empty() {
                joined.push('\n');
            }
        }
    }
    joined
}

#[cfg(test)]
mod tests {
    use super::join;

    #[test]
    fn lines_of_one_quote_depth_are_joined() {
        let text = "A long \nline.\nNext\n>> quoted \n>> words\n> other \nmine\n stuffed\n-- \nAda";
        assert_eq!(
            join(text, false),
            "A long line.\nNext\n>> quoted words\n> other \nmine\nstuffed\n-- \nAda"
        );
        assert_eq!(join("a \nb", true), "ab");
    }
}
