//! The labels of form fields, and their element IDs.

/// The element ID of a field.
pub fn element_id(name: &str) -> String {
    let id_char = |c: char| if c.is_ascii_alphanumeric() { c } else { '-' };
    format!("f-{}", name.chars().map(id_char).collect::<String>())
}

/// Labels that differ from the field name.
const LABELS: [(&str, &str); 32] = [
    ("about", "Regarding"),
    ("about_id", "ID"),
    ("about_kind", "Type"),
    ("account_id", "Account"),
    ("again", "Confirm new password"),
    ("attachment_bytes", "Ticket attachments"),
    ("authorized_keys", "SSH keys"),
    ("config_id", "Config"),
    ("devices.sda.disk_id", "Boot disk"),
    ("email", "E-mail"),
    ("ends", "Shown until"),
    ("expiry", "Expires"),
    ("gpus", "GPUs"),
    ("id", "ID"),
    ("interfaces[0].ipv4.vpc", "Private address"),
    ("interfaces[0].subnet_id", "Subnet"),
    ("ipv4.vpc", "Private address"),
    ("network_out", "Outbound bandwidth"),
    ("old_password", "Current password"),
    ("price.hourly", "Price per hour"),
    ("price.monthly", "Price per month"),
    ("redirect_uri", "Redirect URI"),
    ("root_pass", "Root password"),
    ("scopes", "Permissions"),
    ("starts", "Shown from"),
    ("subnet_id", "Subnet"),
    ("subnets_per_vpc", "Subnets per VPC"),
    ("summary", "Subject"),
    ("timezone", "Time zone"),
    ("type", "Plan"),
    ("vcpus", "vCPUs"),
    ("vpcs_per_region", "VPCs per region"),
];

/// The label of a field: `subnets[0].ipv4` is "Subnet 1, IPv4 range".
pub(super) fn label_of(name: &str) -> String {
    let (before, last) = name.rsplit_once('.').unwrap_or(("", name));
    let label = LABELS.iter().find(|(field, _)| *field == name);
    let last = match (last, label) {
        (_, Some((_, label))) => (*label).to_owned(),
        ("ipv4", _) => "IPv4 range".to_owned(),
        ("ipv6", _) => "IPv6 range".to_owned(),
        ("url", _) => "URL".to_owned(),
        (other, None) => {
            let words = other.replace('_', " ");
            let mut letters = words.chars();
            let first = letters.next().map(|first| first.to_ascii_uppercase());
            let name: String = first.into_iter().chain(letters).collect();
            name.strip_suffix(" id")
                .map_or(name.clone(), |stem| format!("{stem} ID"))
        }
    };
    if label.is_some() {
        return last;
    }
    let row = before.strip_suffix(']').and_then(|before| before.split_once('['));
    match row.and_then(|(list, at)| Some((list, at.parse::<usize>().ok()?))) {
        Some((list, at)) => {
            let singular = list.strip_suffix('s').unwrap_or(list).replace('_', " ");
            let singular = singular[..1].to_ascii_uppercase() + &singular[1..];
            format!("{singular} {}, {last}", at + 1)
        }
        None => last,
    }
}

/// The rest of a reason that begins with the name or the label of its field: " must be unique", after "Label".
pub(super) fn after_name<'a>(reason: &'a str, field: &str, label: &str) -> Option<&'a str> {
    let last = field.rsplit('.').next().unwrap_or(field);
    let rest = |name: &str| {
        let (start, rest) = reason.split_at_checked(name.len())?;
        (start.eq_ignore_ascii_case(name) && rest.starts_with(' ')).then_some(rest)
    };
    rest(label).or_else(|| rest(last))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_reason_does_not_repeat_the_name_of_its_field() {
        let after = |reason, field| after_name(reason, field, &label_of(field));
        assert_eq!(after("Label must be unique", "label"), Some(" must be unique"));
        assert_eq!(
            after("label is required", "subnets[0].label"),
            Some(" is required")
        );
        assert_eq!(after("summary is required", "summary"), Some(" is required"));
        assert_eq!(after("Labels must be unique", "label"), None);
        assert_eq!(after("Must not be empty", "label"), None);
        assert_eq!(after("é", "label"), None);
    }

    #[test]
    fn fields_have_readable_labels() {
        assert_eq!(label_of("subnets[0].ipv4"), "Subnet 1, IPv4 range");
        assert_eq!(label_of("redirect_uri"), "Redirect URI");
        assert_eq!(label_of("client_id"), "Client ID");
        assert_eq!(label_of("label"), "Label");
        assert_eq!(element_id("subnets[0].ipv4"), "f-subnets-0--ipv4");
    }
}
