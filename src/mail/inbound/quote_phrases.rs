//! The lines with which mail programs introduce a quoted message, and the signatures that phones add.

/// The beginning and the end of an introduction, in lower case.
const INTRODUCTIONS: [(&str, &str); 13] = [
    ("on ", "wrote:"),
    ("on ", "writes:"),
    ("am ", "schrieb:"),
    ("am ", ":"),
    ("le ", "a écrit :"),
    ("le ", "a écrit:"),
    ("el ", "escribió:"),
    ("il ", "ha scritto:"),
    ("op ", "schreef:"),
    ("em ", "escreveu:"),
    ("den ", "skrev:"),
    ("w dniu ", "pisze:"),
    ("dnia ", "napisał(a):"),
];
/// Introductions that begin with a date or a name.
const ENDINGS: [&str; 8] = [
    " wrote:",
    " writes:",
    " schrieb:",
    " пишет:",
    " написал:",
    "写道：",
    "写道:",
    "のメール:",
];

/// How sure it is that a line introduces a quoted message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Introduction {
    /// The line has the beginning and the end of an introduction.
    Whole,
    /// The line has the end of an introduction, and may have its beginning.
    End,
}

/// Whether a line, or the joined lines of a wrapped introduction, introduces a quoted message.
pub fn introduction(line: &str) -> Option<Introduction> {
    const MAX_INTRODUCTION_CHARS: usize = 300;
    let line = line.trim();
    if line.len() > 4 * MAX_INTRODUCTION_CHARS || !(line.ends_with(':') || line.ends_with('：')) {
        return None;
    }
    let lower = line.to_lowercase();
    let has_date = lower.chars().any(|c| c.is_ascii_digit());
    let has_address = lower.contains('@');
    let matches = |(start, end): &(&str, &str)| {
        let named = *end != ":" || (lower.contains(" schrieb ") && has_date);
        lower.starts_with(start) && lower.ends_with(end) && named
    };
    let by_start = (has_date || has_address) && INTRODUCTIONS.iter().any(matches);
    let by_end = (has_date || has_address) && ENDINGS.iter().any(|end| lower.ends_with(end));
    match (by_start, by_end) {
        (true, _) => Some(Introduction::Whole),
        (false, true) => Some(Introduction::End),
        (false, false) => None,
    }
}

/// Whether a line separates a reply from the message below it.
pub fn is_separator(line: &str) -> bool {
    const TITLES: [&str; 8] = [
        "original message",
        "ursprüngliche nachricht",
        "original-nachricht",
        "message d'origine",
        "mensaje original",
        "messaggio originale",
        "oorspronkelijk bericht",
        "forwarded message",
    ];
    let line = line.trim();
    if line.len() >= 20 && line.bytes().all(|byte| byte == b'_') {
        return true;
    }
    let title = line.trim_matches('-');
    let dashes = line.len() - title.len();
    dashes >= 4 && line.starts_with("--") && TITLES.contains(&title.trim().to_lowercase().as_str())
}

/// Whether a line is a header in the block above a message that Outlook quotes.
pub fn is_mail_header(line: &str) -> bool {
    const NAMES: [&str; 30] = [
        "from",
        "sent",
        "to",
        "cc",
        "subject",
        "date",
        "reply-to",
        "von",
        "gesendet",
        "an",
        "betreff",
        "datum",
        "de",
        "envoyé",
        "à",
        "objet",
        "enviado",
        "para",
        "asunto",
        "da",
        "inviato",
        "a",
        "oggetto",
        "van",
        "verzonden",
        "aan",
        "onderwerp",
        "от",
        "кому",
        "тема",
    ];
    let line = line.trim_start_matches(['*', ' ']);
    let Some((name, value)) = line.split_once(':') else {
        return false;
    };
    let name = name.trim_end_matches(['*', ' ', '\u{a0}']).to_lowercase();
    !value.trim_matches(['*', ' ']).is_empty() && NAMES.contains(&name.as_str())
}

/// Whether a line is the signature that a phone or an app adds.
pub fn is_device_signature(line: &str) -> bool {
    const STARTS: [&str; 15] = [
        "sent from my ",
        "sent from mail for ",
        "sent from outlook",
        "sent from yahoo mail",
        "sent from proton mail",
        "sent with proton mail",
        "get outlook for ",
        "von meinem ",
        "gesendet von ",
        "gesendet mit ",
        "diese nachricht wurde von meinem ",
        "envoyé de mon ",
        "enviado desde mi ",
        "inviato da ",
        "verstuurd vanaf mijn ",
    ];
    const MAX_SIGNATURE_CHARS: usize = 120;
    let lower = line.trim().to_lowercase();
    lower.chars().count() <= MAX_SIGNATURE_CHARS && STARTS.iter().any(|start| lower.starts_with(start))
}
