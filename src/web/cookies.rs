//! The cookies: session, known device, CSRF protection of the log-in form, and the flash message.
//!
//! The `__Host-` prefix binds the cookies to this host over HTTPS, so that no other host can set them.

use axum::http::{HeaderMap, HeaderValue, header};

use crate::model::device::{DEVICE_TTL_SECONDS, Device, DeviceKey};
use crate::model::id::UserId;
use crate::model::time::Time;
use crate::model::token::{TokenHash, TokenText, hex};
use crate::rules::sessions;
use crate::web::App;

/// The session of a logged-in user.
pub const SESSION: &str = "__Host-garth-session";
/// The secret from which the CSRF token of the log-in form is derived.
pub const FORM: &str = "__Host-garth-form";

/// A device on which a user has logged in before. The ID of the user follows, because several users can share a
/// browser.
const DEVICE_PREFIX: &str = "__Host-garth-device";

/// The flash message: the result of the last action, shown on the next page.
pub const FLASH: &str = "__Host-garth-news";
/// The lifetime of a flash message, in seconds.
const FLASH_TTL_SECONDS: i64 = 60;

/// The value of a cookie, if it has the format of a token.
pub fn read(headers: &HeaderMap, name: &str) -> Option<TokenText> {
    find(headers, name, TokenText::parse)
}

fn find<T>(headers: &HeaderMap, name: &str, parse: impl Fn(&str) -> Option<T>) -> Option<T> {
    let mut values = pairs(headers).filter(|(key, _)| *key == name);
    values.find_map(|(_, value)| parse(value))
}

/// The names and values of all cookies.
fn pairs(headers: &HeaderMap) -> impl Iterator<Item = (&str, &str)> {
    let all = headers.get_all(header::COOKIE).into_iter();
    let pairs = all.flat_map(|value| value.to_str().unwrap_or_default().split(';'));
    pairs.filter_map(|pair| pair.trim().split_once('='))
}

/// The known devices: one for each user who has logged in with this browser. The signatures of their cookies are valid.
pub fn devices(headers: &HeaderMap, key: &DeviceKey, now: Time) -> Vec<Device> {
    // Earlier versions set one cookie, without the ID of a user.
    let cookies = pairs(headers).filter(|(name, _)| name.starts_with(DEVICE_PREFIX));
    cookies.filter_map(|(_, value)| key.verify(value, now)).collect()
}

/// The cookie of a known device.
pub struct DeviceCookie {
    pub user: UserId,
    pub value: String,
}

impl DeviceCookie {
    pub fn set(&self, headers: &mut HeaderMap) {
        let name = format!("{DEVICE_PREFIX}-{}", self.user);
        write(headers, &name, &self.value, DEVICE_TTL_SECONDS);
    }
}

/// Sets the flash message for the next page. It is hex-encoded, because a cookie cannot contain every character.
pub fn set_flash(headers: &mut HeaderMap, flash: &str) {
    write(headers, FLASH, &hex(flash.as_bytes()), FLASH_TTL_SECONDS);
}

/// The flash message in a request.
pub fn flash(headers: &HeaderMap) -> Option<String> {
    find(headers, FLASH, |value| {
        let digits = value.as_bytes().chunks(2);
        let byte = |pair: &[u8]| u8::from_str_radix(str::from_utf8(pair).ok()?, 16).ok();
        String::from_utf8(digits.map(byte).collect::<Option<_>>()?).ok()
    })
}

/// Sets a cookie for the lifetime of a session.
pub fn set(headers: &mut HeaderMap, name: &str, value: &TokenText) {
    write(headers, name, value.reveal(), sessions::SESSION_TTL_SECONDS);
}

pub fn clear(headers: &mut HeaderMap, name: &str) {
    write(headers, name, "", 0);
}

/// The CSRF token for the forms of a browser with this cookie. A request must contain it, to prove that its form comes
/// from a page of this server. The token does not reveal the cookie.
pub fn csrf_token(purpose: &str, cookie: &TokenText) -> TokenHash {
    TokenHash::of(&format!("{purpose} {}", cookie.reveal()))
}

fn write(headers: &mut HeaderMap, name: &str, value: &str, seconds: i64) {
    let cookie = format!("{name}={value}; Path=/; Max-Age={seconds}; Secure; HttpOnly; SameSite=Lax");
    let mut cookie = HeaderValue::try_from(cookie).expect("digits and dots are a header value");
    cookie.set_sensitive(true);
    headers.append(header::SET_COOKIE, cookie);
}

/// The form field with the CSRF token.
pub const FORM_TOKEN: &str = "form_token";

/// The purpose of the CSRF token in the log-in form.
pub const LOG_IN: &str = "log-in";

/// Returns the CSRF token for the log-in form. If the request does not have the cookie `FORM`, also returns a
/// new value for this cookie.
pub fn log_in_csrf_token(app: &App, headers: &HeaderMap) -> (TokenHash, Option<TokenText>) {
    match read(headers, FORM) {
        Some(cookie) => (csrf_token(LOG_IN, &cookie), None),
        None => {
            let fresh = TokenText::from_bytes(app.store().context().random.bytes());
            (csrf_token(LOG_IN, &fresh), Some(fresh))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cookie_is_found_among_others_if_it_is_well_formed() {
        let token = "0f".repeat(32);
        let session_in = |cookies: &str| {
            let mut headers = HeaderMap::new();
            headers.insert(
                header::COOKIE,
                HeaderValue::try_from(cookies).expect("plain text"),
            );
            read(&headers, SESSION).map(|found| found.reveal().to_owned())
        };
        assert_eq!(
            session_in(&format!("a=b; {SESSION}={token}; c=d")),
            Some(token.clone())
        );
        for cookies in [
            String::new(),
            format!("{SESSION}="),
            format!("{SESSION}=x"),
            format!("x{SESSION}={token}"),
        ] {
            assert_eq!(session_in(&cookies), None, "{cookies}");
        }
    }
}
