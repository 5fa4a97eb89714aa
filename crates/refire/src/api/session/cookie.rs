//! The cookie that has a session's secret. Scripts do not see it, and no other site's request carries it.

use http::header::COOKIE;
use http::{HeaderMap, HeaderValue};
use refire_core::session::SESSION_LIFE;

use crate::api::Problem;
use crate::config::Outside;

/// Over plain HTTP, on this machine.
const PLAIN: &str = "refire_session";
/// Over TLS: browsers take this name only from the host itself, and never over plain HTTP.
const SECURE: &str = "__Host-refire_session";

fn is_secure(outside: &Outside) -> bool {
    let public = outside.public_url.as_deref();
    public.is_some_and(|url| url.starts_with("https://"))
}

fn name(outside: &Outside) -> &'static str {
    match is_secure(outside) {
        true => SECURE,
        false => PLAIN,
    }
}

/// The secret that a request has.
pub(super) fn read<'a>(outside: &Outside, headers: &'a HeaderMap) -> Option<&'a str> {
    let name = name(outside);
    let mut cookies = headers
        .get_all(COOKIE)
        .iter()
        .filter_map(|value| value.to_str().ok())
        .flat_map(|text| text.split(';'));
    cookies.find_map(|cookie| {
        let (found, value) = cookie.split_once('=')?;
        (found.trim() == name && !value.trim().is_empty()).then(|| value.trim())
    })
}

/// What sets it. The server decides when the session ends; the browser keeps it for as long as it may last.
pub(super) fn set(outside: &Outside, secret: &str) -> Result<HeaderValue, Problem> {
    let text = written(outside, secret, SESSION_LIFE.as_secs());
    HeaderValue::try_from(text).map_err(Problem::internal)
}

/// What takes it away.
pub(super) fn remove(outside: &Outside) -> HeaderValue {
    let text = written(outside, "", 0);
    HeaderValue::try_from(text).unwrap_or_else(|_| HeaderValue::from_static(""))
}

fn written(outside: &Outside, secret: &str, seconds: u64) -> String {
    let name = name(outside);
    let secure = if is_secure(outside) { "; Secure" } else { "" };
    format!("{name}={secret}; Path=/; Max-Age={seconds}; HttpOnly; SameSite=Strict{secure}")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(public: &str) -> Outside {
        Outside {
            public_url: Some(public.to_owned()),
            ..Outside::default()
        }
    }

    #[test]
    fn a_cookie_is_only_for_this_host_and_not_for_scripts() {
        let plain = set(&Outside::default(), "abc").unwrap();
        assert_eq!(
            plain,
            "refire_session=abc; Path=/; Max-Age=604800; HttpOnly; SameSite=Strict"
        );
        let secure = set(&at("https://refire.example.com"), "abc").unwrap();
        assert_eq!(
            secure,
            "__Host-refire_session=abc; Path=/; Max-Age=604800; HttpOnly; SameSite=Strict; Secure"
        );
        let gone = remove(&at("http://127.0.0.1:7373"));
        assert!(
            gone.to_str()
                .unwrap()
                .starts_with("refire_session=; Path=/; Max-Age=0;")
        );
    }

    #[test]
    fn ours_is_found_among_others() {
        let headers =
            |text: &'static str| HeaderMap::from_iter([(COOKIE, HeaderValue::from_static(text))]);
        let (plain, secure) = (Outside::default(), at("https://refire.example.com"));
        for (outside, text, secret) in [
            (&plain, "refire_session=abc", Some("abc")),
            (&plain, "a=b; refire_session=abc;c=d", Some("abc")),
            (&plain, "refire_session=; x=y", None),
            (&plain, "xrefire_session=abc; refire_session2=d", None),
            (&plain, "__Host-refire_session=abc", None),
            (&secure, "__Host-refire_session=abc", Some("abc")),
            // Any other host of the domain could have set this one.
            (&secure, "refire_session=abc", None),
        ] {
            assert_eq!(read(outside, &headers(text)), secret, "{text}");
        }
        assert_eq!(read(&plain, &HeaderMap::new()), None);
    }
}
