//! The names of fields with secret values, in the interface and in related products.

/// A name with one of these words is secret: `root_pass`, `client_secret`, `refreshToken`.
const WORDS: [&str; 14] = [
    "authorization",
    "cookie",
    "credential",
    "credentials",
    "csrf",
    "cvv",
    "kubeconfig",
    "otp",
    "pass",
    "passphrase",
    "passwd",
    "password",
    "secret",
    "token",
];

/// Other secret names.
const NAMES: [&str; 17] = [
    "access_key",
    "api_key",
    "card_number",
    "code_verifier",
    "glish_url",
    "monitor_url",
    "private_key",
    // The answer to a security question.
    "response",
    "scratch",
    "secret_key",
    "security_code",
    "ssl_key",
    "stackscript_data",
    "tfa_code",
    "upload_to",
    "user_data",
    "weblish_url",
];

/// Names with a secret word, whose values are not secret.
const EXCEPTIONS: [&str; 4] = ["has_password", "password_created", "token_id", "token_type"];

/// Whether the value of a field is secret.
pub fn is_secret(name: &str) -> bool {
    let words = words(name);
    let name = words.join("_");
    if EXCEPTIONS.contains(&name.as_str()) {
        return false;
    }
    NAMES.contains(&name.as_str()) || words.iter().any(|word| WORDS.contains(&word.as_str()))
}

/// Whether the value of a parameter in a query or a form is secret. There, `code` is an authorization code; in JSON, it
/// is the code of an error.
pub fn is_secret_parameter(name: &str) -> bool {
    name == "code" || is_secret(name)
}

/// The words of a name, in lower case: `refreshToken` has the words `refresh` and `token`.
fn words(name: &str) -> Vec<String> {
    let mut words = vec![String::new()];
    let mut previous = '_';
    for letter in name.chars() {
        let starts_word = letter.is_uppercase() && previous.is_lowercase();
        if starts_word || !letter.is_alphanumeric() {
            words.push(String::new());
        }
        if letter.is_alphanumeric()
            && let Some(word) = words.last_mut()
        {
            word.extend(letter.to_lowercase());
        }
        previous = letter;
    }
    words.retain(|word| !word.is_empty());
    words
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_secrets_are_recognized_in_every_spelling() {
        for name in [
            "token",
            "root_pass",
            "client_secret",
            "refreshToken",
            "X-Auth-Token",
            "PASSWORD",
            "tfa_code",
            "user_data",
            "ssl_key",
            "response",
        ] {
            assert!(is_secret(name), "{name}");
        }
        for name in [
            "label",
            "code",
            "ssh_key",
            "authorized_keys",
            "password_created",
            "token_type",
            "compass",
            "tokens",
            "has_user_data",
            "",
        ] {
            assert!(!is_secret(name), "{name}");
        }
        assert!(is_secret_parameter("code"));
    }
}
