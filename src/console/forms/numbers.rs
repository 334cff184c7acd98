//! Numbers in the fields of a form, as people write them.

use crate::model::input::Input;

/// An integer. An empty field is missing, and the rule refuses a text. Digits can be grouped, as in `65,536`. A number
/// that is too large for a rule becomes the largest integer, so that the rule says its maximum.
pub fn integer(text: &str) -> Input {
    let number = without_groups(text.trim());
    match number.as_str() {
        "" => Input::Null,
        digits if is_digits(digits) => Input::Integer(digits.parse().unwrap_or(i64::MAX)),
        number => number
            .parse()
            .map_or_else(|_| Input::Text(text.trim().to_owned()), Input::Integer),
    }
}

/// Whether a text is an integer that no field can have.
pub fn is_too_large(text: &str) -> bool {
    let number = without_groups(text.trim());
    !number.is_empty() && is_digits(&number) && number.parse::<i64>().is_err()
}

/// The value of a number without an exponent, such as `1,250.5`.
pub fn decimal(text: &str) -> Option<f64> {
    let text = text.trim();
    let (whole, fraction) = text.split_once('.').unwrap_or((text, ""));
    let whole = without_groups(whole);
    let is_number = is_digits(&whole) && is_digits(fraction) && !(whole.is_empty() && fraction.is_empty());
    match is_number {
        true => format!("0{whole}.{fraction}0").parse().ok(),
        false => None,
    }
}

/// An amount in dollars: `1,250.00` or `$12.50`. An empty field is missing, and the rule refuses a text.
pub fn amount(text: &str) -> Input {
    let text = text.trim();
    match text {
        "" => Input::Null,
        text => decimal(text.strip_prefix('$').unwrap_or(text))
            .map_or_else(|| Input::Text(text.to_owned()), Input::Number),
    }
}

fn is_digits(text: &str) -> bool {
    text.bytes().all(|digit| digit.is_ascii_digit())
}

/// The digits of a number whose digits are in groups of three, and any other text unchanged.
fn without_groups(text: &str) -> String {
    let groups: Vec<_> = text.split([',', ' ', '\u{a0}', '\u{202f}', '\'']).collect();
    let is_grouped = match groups.split_first() {
        Some((first, rest)) if !rest.is_empty() => {
            (1..=3).contains(&first.len()) && rest.iter().all(|group| group.len() == 3)
        }
        _ => true,
    };
    match is_grouped && groups.iter().all(|group| is_digits(group)) {
        true => groups.concat(),
        false => text.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn digits_of_an_integer_can_be_grouped() {
        for (text, number) in [
            ("65536", 65_536),
            (" 65,536 ", 65_536),
            ("1 000 000", 1_000_000),
            ("1'000", 1_000),
            ("-5", -5),
            ("99999999999999999999", i64::MAX),
            ("99,999,999,999,999,999,999", i64::MAX),
        ] {
            assert_eq!(integer(text), Input::Integer(number), "{text}");
        }
        assert_eq!(integer(" "), Input::Null);
        for text in ["many", "1,5", ",500", "1234,567", "1e3", "1.5", "1,,000"] {
            assert_eq!(integer(text), Input::Text(text.to_owned()));
        }
        assert!(is_too_large("9,223,372,036,854,775,808"));
        assert!(!is_too_large("9,223,372,036,854,775,807") && !is_too_large("") && !is_too_large("many"));
    }

    #[test]
    fn an_amount_has_groups_and_a_fraction_but_no_exponent() {
        for (text, dollars) in [
            ("12.50", 12.5),
            ("$12.50", 12.5),
            ("1,250.00", 1250.0),
            ("$ 1,250", 1250.0),
            (".5", 0.5),
            ("7.", 7.0),
        ] {
            assert_eq!(amount(text), Input::Number(dollars), "{text}");
        }
        assert_eq!(amount(""), Input::Null);
        for text in ["ten", "1e3", "$", "1,2", "1.250,00", "NaN", "inf", "-1", "1.2.3"] {
            assert_eq!(amount(text), Input::Text(text.to_owned()));
        }
    }
}
