//! The files of the console, packed by the build, and how one of them is answered.

use axum::response::{IntoResponse, Response};
use bytes::Bytes;
use http::header::{
    ACCEPT_ENCODING, CACHE_CONTROL, CONTENT_ENCODING, CONTENT_TYPE, ETAG, IF_NONE_MATCH, VARY,
};
use http::{HeaderMap, HeaderValue, StatusCode};

/// In the order of their names.
static FILES: &[File] = include!(concat!(env!("OUT_DIR"), "/console.rs"));

/// Files whose names change with their content.
const NAMED_BY_CONTENT: &str = "assets/";
/// They are the same for everybody and for ever.
const FOR_A_YEAR: HeaderValue = HeaderValue::from_static("public, max-age=31536000, immutable");
/// Others may be kept, and are asked about each time.
const ASKED_ABOUT: HeaderValue = HeaderValue::from_static("no-cache");

/// A file of the console.
pub(super) struct File {
    /// Its path below the console, with `/`.
    name: &'static str,
    /// The beginning of its hash.
    tag: &'static str,
    pub(super) plain: &'static [u8],
    /// None where packing makes it no smaller.
    brotli: Option<&'static [u8]>,
    gzip: Option<&'static [u8]>,
}

/// The file of a name.
pub(super) fn find(name: &str) -> Option<&'static File> {
    let place = FILES.binary_search_by(|file| file.name.cmp(name)).ok()?;
    FILES.get(place)
}

impl File {
    /// As small as the asker takes it; nothing if it has it.
    pub(super) fn answer(&'static self, asked: &HeaderMap) -> Response {
        let (coding, bytes) = match (self.brotli, self.gzip) {
            (Some(bytes), _) if takes(asked, "br") => (Some("br"), bytes),
            (_, Some(bytes)) if takes(asked, "gzip") => (Some("gzip"), bytes),
            _ => (None, self.plain),
        };
        let tag = format!("\"{}-{}\"", self.tag, coding.unwrap_or("plain"));
        let mut response = match is_known(asked, &tag) {
            true => StatusCode::NOT_MODIFIED.into_response(),
            false => {
                let mut response = Bytes::from_static(bytes).into_response();
                let headers = response.headers_mut();
                headers.insert(CONTENT_TYPE, HeaderValue::from_static(kind(self.name)));
                if let Some(coding) = coding {
                    headers.insert(CONTENT_ENCODING, HeaderValue::from_static(coding));
                }
                response
            }
        };
        let headers = response.headers_mut();
        let kept = match self.name.starts_with(NAMED_BY_CONTENT) {
            true => FOR_A_YEAR,
            false => ASKED_ABOUT,
        };
        headers.insert(CACHE_CONTROL, kept);
        headers.insert(VARY, HeaderValue::from_name(ACCEPT_ENCODING));
        if let Ok(tag) = HeaderValue::from_str(&tag) {
            headers.insert(ETAG, tag);
        }
        response
    }
}

/// Whether the asker has the file of this tag.
fn is_known(asked: &HeaderMap, tag: &str) -> bool {
    let mut known = asked
        .get_all(IF_NONE_MATCH)
        .iter()
        .filter_map(|value| value.to_str().ok())
        .flat_map(|text| text.split(','))
        .map(|one| one.trim().trim_start_matches("W/"));
    known.any(|one| one == tag || one == "*")
}

/// Whether the asker unpacks this coding. One of weight nothing is refused.
fn takes(asked: &HeaderMap, coding: &str) -> bool {
    let mut codings = asked
        .get_all(ACCEPT_ENCODING)
        .iter()
        .filter_map(|value| value.to_str().ok())
        .flat_map(|text| text.split(','));
    codings.any(|one| {
        let (name, weight) = one.split_once(';').unwrap_or((one, ""));
        let weight = weight.trim().strip_prefix("q=").map(str::parse::<f32>);
        name.trim().eq_ignore_ascii_case(coding) && !matches!(weight, Some(Ok(0.0)))
    })
}

/// What a browser takes a file for; it is told not to guess.
fn kind(name: &str) -> &'static str {
    match name.rsplit_once('.').map(|(_, extension)| extension) {
        Some("html") => "text/html; charset=utf-8",
        Some("js" | "mjs") => "text/javascript; charset=utf-8",
        Some("css") => "text/css; charset=utf-8",
        Some("json" | "map") => "application/json",
        Some("webmanifest") => "application/manifest+json",
        Some("svg") => "image/svg+xml",
        Some("png") => "image/png",
        Some("ico") => "image/x-icon",
        Some("woff2") => "font/woff2",
        Some("txt") => "text/plain; charset=utf-8",
        _ => "application/octet-stream",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn with(name: http::HeaderName, value: &'static str) -> HeaderMap {
        HeaderMap::from_iter([(name, HeaderValue::from_static(value))])
    }

    static SCRIPT: File = File {
        name: "assets/a-1.js",
        tag: "abc",
        plain: b"plain",
        brotli: Some(b"br"),
        gzip: Some(b"gz"),
    };
    static PICTURE: File = File {
        name: "favicon.png",
        tag: "def",
        plain: b"png",
        brotli: None,
        gzip: None,
    };

    #[test]
    fn a_file_is_packed_as_the_asker_takes_it() {
        for (accepted, coding) in [
            ("gzip, deflate, br, zstd", Some("br")),
            ("gzip", Some("gzip")),
            ("br;q=0, gzip;q=0.5", Some("gzip")),
            ("identity", None),
            ("brotli", None),
        ] {
            let asked = with(ACCEPT_ENCODING, accepted);
            let answer = SCRIPT.answer(&asked);
            let found = answer.headers().get(CONTENT_ENCODING);
            assert_eq!(
                found.map(HeaderValue::as_bytes),
                coding.map(str::as_bytes),
                "{accepted}"
            );
            assert_eq!(answer.headers()[VARY], "accept-encoding");
            let unpacked = PICTURE.answer(&asked);
            assert!(!unpacked.headers().contains_key(CONTENT_ENCODING));
        }
    }

    #[test]
    fn only_what_is_named_by_its_content_is_kept_for_ever() {
        let none = HeaderMap::new();
        let kept = |file: &'static File| file.answer(&none).headers()[CACHE_CONTROL].clone();
        assert_eq!(kept(&SCRIPT), FOR_A_YEAR);
        assert_eq!(kept(&PICTURE), ASKED_ABOUT);
    }

    #[test]
    fn a_file_that_is_known_is_not_sent_again() {
        for (tags, status) in [
            ("\"abc-plain\"", 304),
            ("W/\"abc-plain\"", 304),
            ("\"x\", \"abc-plain\"", 304),
            ("*", 304),
            ("\"abc-br\"", 200),
            ("abc-plain", 200),
        ] {
            let answer = SCRIPT.answer(&with(IF_NONE_MATCH, tags));
            assert_eq!(answer.status(), status, "{tags}");
            assert_eq!(answer.headers()[ETAG], "\"abc-plain\"");
        }
    }

    #[test]
    fn every_file_of_the_build_is_found_and_has_a_kind() {
        assert!(find("index.html").is_some(), "a console without its page");
        assert!(find("index").is_none());
        for file in FILES {
            assert!(
                std::ptr::eq(find(file.name).unwrap(), file),
                "{}",
                file.name
            );
            assert_ne!(kind(file.name), "application/octet-stream", "{}", file.name);
        }
    }
}
