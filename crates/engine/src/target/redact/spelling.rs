//! The ways in which a secret is written on its way: in a URL, in a host name, in JSON, in HTML, in
//! base64.
//!
//! Only spellings that programs produce by themselves are listed; a target that scrambles a
//! secret on purpose cannot be caught.

use base64::Engine as _;
use base64::engine::general_purpose::{STANDARD_NO_PAD, URL_SAFE_NO_PAD};
use percent_encoding::{AsciiSet, CONTROLS, NON_ALPHANUMERIC, utf8_percent_encode};
use refire_core::json::Json;
use url::{Host, Position, Url};

/// Base64 shorter than this matches by chance.
const BASE64_CHARS_MIN: usize = 6;

/// A shorter path of an address would match all over a text.
const URL_PATH_CHARS_MIN: usize = 12;

/// What browsers' `encodeURIComponent` and most HTTP libraries leave alone.
const COMPONENT: &AsciiSet = &NON_ALPHANUMERIC
    .remove(b'-')
    .remove(b'_')
    .remove(b'.')
    .remove(b'~');

/// What URL parsers encode in a query that was written by hand.
const QUERY: &AsciiSet = &CONTROLS
    .add(b' ')
    .add(b'"')
    .add(b'#')
    .add(b'<')
    .add(b'>')
    .add(b'\'');

/// What URL parsers encode in a path.
const PATH: &AsciiSet = &QUERY.add(b'?').add(b'`').add(b'{').add(b'}').add(b'^');

/// Every spelling of the secret, the plain one first, each once.
pub(super) fn all(secret: &str) -> Vec<String> {
    let mut spellings = written(secret);
    // Host names are the same in any case, and are written in lower case.
    spellings.extend(written(&secret.to_lowercase()));
    spellings.extend(base64(secret));
    spellings.extend(address(secret));
    let mut each_once: Vec<String> = Vec::with_capacity(spellings.len());
    for spelling in spellings {
        if !each_once.contains(&spelling) {
            each_once.push(spelling);
        }
    }
    each_once
}

/// The text itself, and in URLs, JSON and HTML.
fn written(text: &str) -> Vec<String> {
    let mut spellings = vec![text.to_owned()];
    for set in [NON_ALPHANUMERIC, COMPONENT, QUERY, PATH] {
        let encoded = utf8_percent_encode(text, set).to_string();
        spellings.push(encoded.replace("%20", "+"));
        spellings.push(lower_escapes(&encoded));
        spellings.push(encoded);
    }
    let quoted = Json::string(text);
    let escaped = &quoted.as_str()[1..quoted.as_str().len() - 1];
    spellings.push(escaped.to_owned());
    spellings.push(escaped.replace('/', "\\/"));
    spellings.push(ascii_only(escaped));
    let html = text.replace('&', "&amp;").replace('<', "&lt;");
    let html = html.replace('>', "&gt;");
    for (double, single) in [("\"", "'"), ("&quot;", "&#39;"), ("&#34;", "&#x27;")] {
        spellings.push(html.replace('"', double).replace('\'', single));
    }
    spellings
}

/// What becomes of a secret that is a host or a whole address when it is called.
fn address(secret: &str) -> Vec<String> {
    let mut spellings = Vec::new();
    spellings.extend(Host::parse(secret).map(|host| host.to_string()));
    if let Ok(url) = Url::parse(secret)
        && url.has_host()
    {
        let path = &url[Position::BeforePath..Position::AfterQuery];
        if path.len() >= URL_PATH_CHARS_MIN {
            spellings.push(path.to_owned());
        }
        spellings.push(url.to_string());
    }
    spellings
}

/// `%2F` as `%2f`.
fn lower_escapes(encoded: &str) -> String {
    let mut digits_left = 0_u8;
    let lower = |character: char| {
        if character == '%' {
            digits_left = 2;
        } else if digits_left > 0 {
            digits_left -= 1;
            return character.to_ascii_lowercase();
        }
        character
    };
    encoded.chars().map(lower).collect()
}

/// JSON as the writers that keep to ASCII write it.
fn ascii_only(escaped: &str) -> String {
    let mut out = String::with_capacity(escaped.len());
    for character in escaped.chars() {
        if character.is_ascii() {
            out.push(character);
            continue;
        }
        let mut units = [0; 2];
        for unit in character.encode_utf16(&mut units) {
            out.push_str(&format!("\\u{unit:04x}"));
        }
    }
    out
}

/// Base64 of a text that has the secret in it somewhere, such as `user:secret`: three bytes make
/// four characters, so there are three spellings, without the characters shared with neighbours.
fn base64(secret: &str) -> Vec<String> {
    const BITS_PER_BYTE: usize = 8;
    const BITS_PER_CHAR: usize = 6;
    let mut spellings = Vec::new();
    for bytes_before in 0..3 {
        let mut bytes = vec![0; bytes_before];
        bytes.extend_from_slice(secret.as_bytes());
        let first = (bytes_before * BITS_PER_BYTE).div_ceil(BITS_PER_CHAR);
        let end = bytes.len() * BITS_PER_BYTE / BITS_PER_CHAR;
        if end.saturating_sub(first) < BASE64_CHARS_MIN {
            continue;
        }
        for engine in [&STANDARD_NO_PAD, &URL_SAFE_NO_PAD] {
            spellings.push(engine.encode(&bytes)[first..end].to_owned());
        }
    }
    spellings
}
