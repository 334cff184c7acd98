//! The labels of form fields, and their element IDs.

/// The element ID of a field.
pub fn element_id(name: &str) -> String {
    let id_char = |c: char| if c.is_ascii_alphanumeric() { c } else { '-' };
    format!("f-{}", name.chars().map(id_char).collect::<String>())
}

/// Labels that differ from the field name.
const LABELS: [(&str, &str); 12] = [
    ("about", "Regarding"),
    ("about_id", "ID"),
    ("about_kind", "Type"),
    ("account_id", "Account"),
    ("again", "Confirm new password"),
    ("email", "E-mail"),
    ("expiry", "Expires"),
    ("old_password", "Current password"),
    ("redirect_uri", "Redirect URI"),
    ("scopes", "Permissions"),
    ("summary", "Subject"),
    ("timezone", "Time zone"),
];

/// The label of a field: `subnets[0].ipv4` is "Subnet 1, IPv4 range".
pub(super) fn label_of(name: &str) -> String {
    let (before, last) = name.rsplit_once('.').unwrap_or(("", name));
    let label = LABELS.iter().find(|(field, _)| *field == name);
    let last = match (last, label) {
        (_, Some((_, label))) => (*label).to_owned(),
        ("ipv4", _) => "IPv4 range".to_owned(),
        (other, None) => {
            let words = other.replace('_', " ");
            let mut letters = words.chars();
            let first = letters.next().map(|first| first.to_ascii_uppercase());
            let name: String = first.into_iter().chain(letters).collect();
            name.strip_suffix(" id")
                .map_or(name.clone(), |stem| format!("{stem} ID"))
        }
    };
    let row = before.strip_suffix(']').and_then(|before| before.split_once('['));
    match row.and_then(|(list, at)| Some((list, at.parse::<usize>().ok()?))) {
        Some((list, at)) => {
            let singular = list.strip_suffix('s').unwrap_or(list);
            let singular = singular[..1].to_ascii_uppercase() + &singular[1..];
            format!("{singular} {}, {last}", at + 1)
        }
        None => last,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_have_readable_labels() {
        assert_eq!(label_of("subnets[0].ipv4"), "Subnet 1, IPv4 range");
        assert_eq!(label_of("redirect_uri"), "Redirect URI");
        assert_eq!(label_of("client_id"), "Client ID");
        assert_eq!(label_of("label"), "Label");
        assert_eq!(element_id("subnets[0].ipv4"), "f-subnets-0--ipv4");
    }
}
