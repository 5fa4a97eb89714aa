//! Cuts the secrets of a request out of everything that comes back from its call, because targets
//! echo what they were sent. A secret is found as it is and in the spellings in which it travels.
//!
//! It never shows a secret itself: not in `Debug`, not by its length.

mod spelling;

use std::borrow::Cow;
use std::fmt;
use std::ops::Range;
use std::sync::Arc;

use refire_core::json::Json;

use crate::secret::SECRET_BYTES_MIN;

/// What stands where a secret was.
const MASK: &str = "***";

/// Shorter secrets are not cut out of a step's output, which is the user's own data.
const OUTPUT_SECRET_BYTES_MIN: usize = 6;

/// The secret values that one request used.
#[derive(Clone, Default)]
pub struct Redactor {
    needles: Arc<[Needle]>,
}

/// One spelling of one secret.
struct Needle {
    text: String,
    secret_bytes: usize,
}

impl fmt::Debug for Redactor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Redactor(***)")
    }
}

impl Redactor {
    /// Looks out for these values.
    #[must_use]
    pub fn new<S: AsRef<str>>(secrets: impl IntoIterator<Item = S>) -> Self {
        let mut needles = Vec::new();
        for secret in secrets {
            let secret = secret.as_ref();
            if secret.len() < SECRET_BYTES_MIN {
                continue;
            }
            for text in spelling::all(secret) {
                needles.push(Needle {
                    text,
                    secret_bytes: secret.len(),
                });
            }
        }
        Self {
            needles: needles.into(),
        }
    }

    /// A message, a cause or an excerpt without the secrets.
    #[must_use]
    pub fn text<'a>(&self, text: &'a str) -> Cow<'a, str> {
        self.mask(text, SECRET_BYTES_MIN)
    }

    /// Like [`Redactor::text`] for a text whose end was cut off: the beginning of a secret at
    /// the end goes as well.
    #[must_use]
    pub fn cut_text<'a>(&self, text: &'a str) -> Cow<'a, str> {
        let masked = self.text(text);
        let begun = self
            .needles
            .iter()
            .filter_map(|needle| begins(&needle.text, &masked))
            .max();
        match begun {
            Some(bytes) => format!("{}{MASK}", &masked[..masked.len() - bytes]).into(),
            None => masked,
        }
    }

    /// A text of a step's output without the secrets.
    #[must_use]
    pub fn output<'a>(&self, text: &'a str) -> Cow<'a, str> {
        self.mask(text, OUTPUT_SECRET_BYTES_MIN)
    }

    /// A value of a step's output without the secrets; byte for byte the same where it has none.
    #[must_use]
    pub fn json(&self, value: &Json) -> Json {
        let raw = value.as_str();
        // An escape could hide a secret; without one, what is not in the raw text is nowhere.
        if self.needles.is_empty() || !raw.contains('\\') && !self.is_in(raw) {
            return value.clone();
        }
        let masked = self.mask_tokens(raw);
        // A secret that is itself JSON can lie across several tokens.
        let masked = self.output(&masked);
        Json::parse(&*masked).unwrap_or_else(|_| Json::string(&masked))
    }

    /// Whether a secret stands in the text.
    #[must_use]
    pub fn is_in(&self, text: &str) -> bool {
        self.needles
            .iter()
            .any(|needle| text.contains(&needle.text))
    }

    fn mask<'a>(&self, text: &'a str, secret_bytes_min: usize) -> Cow<'a, str> {
        let mut ranges = Vec::new();
        for needle in self
            .needles
            .iter()
            .filter(|needle| needle.secret_bytes >= secret_bytes_min)
        {
            find_all(text, &needle.text, &mut ranges);
        }
        if ranges.is_empty() {
            return Cow::Borrowed(text);
        }
        ranges.sort_unstable_by_key(|range| (range.start, range.end));
        let mut out = String::with_capacity(text.len());
        let mut end = 0;
        for range in ranges {
            if range.start >= end {
                out.push_str(&text[end..range.start]);
                out.push_str(MASK);
            }
            end = end.max(range.end);
        }
        out.push_str(&text[end..]);
        Cow::Owned(out)
    }

    /// Masks inside each string, decoded, and each number, so that the result is JSON again.
    fn mask_tokens(&self, raw: &str) -> String {
        let mut out = String::with_capacity(raw.len());
        let mut rest = raw;
        while let Some(first) = rest.chars().next() {
            let length = match first {
                '"' => string_length(rest),
                '{' | '}' | '[' | ']' | ',' | ':' | ' ' | '\t' | '\n' | '\r' => 1,
                _ => rest
                    .find([',', '}', ']', ' ', '\t', '\n', '\r'])
                    .unwrap_or(rest.len()),
            };
            let (token, after) = rest.split_at(length);
            match first {
                '"' => out.push_str(&self.mask_string(token)),
                _ if length > 1 && matches!(self.output(token), Cow::Owned(_)) => {
                    out.push_str(Json::string(MASK).as_str());
                }
                _ => out.push_str(token),
            }
            rest = after;
        }
        out
    }

    fn mask_string<'a>(&self, token: &'a str) -> Cow<'a, str> {
        let masked = match serde_json::from_str::<Cow<'_, str>>(token) {
            Ok(decoded) => match self.output(&decoded) {
                Cow::Owned(masked) => Some(masked),
                Cow::Borrowed(_) => None,
            },
            // Half a surrogate pair is JSON but no text. Such a string is kept or goes as a whole.
            Err(_) => self.is_in(token).then(|| MASK.to_owned()),
        };
        match masked {
            Some(masked) => Json::string(&masked).as_str().to_owned().into(),
            None => Cow::Borrowed(token),
        }
    }
}

/// The bytes of the string that begins the text, with both quotes.
fn string_length(text: &str) -> usize {
    let mut escaped = false;
    for (at, byte) in text.bytes().enumerate().skip(1) {
        match byte {
            _ if escaped => escaped = false,
            b'\\' => escaped = true,
            b'"' => return at + 1,
            _ => {}
        }
    }
    text.len()
}

/// Adds every place of the needle, also places that overlap each other (as one range).
fn find_all(text: &str, needle: &str, ranges: &mut Vec<Range<usize>>) {
    let step = needle.chars().next().map_or(1, char::len_utf8);
    let mut from = 0;
    let own = ranges.len();
    while let Some(at) = text[from..].find(needle) {
        let found = from + at..from + at + needle.len();
        from = found.start + step;
        match ranges[own..].last_mut() {
            Some(last) if found.start <= last.end => last.end = found.end,
            _ => ranges.push(found),
        }
    }
}

/// How many bytes at the end of the text are the beginning of the needle, if that is enough to
/// recognise it.
fn begins(needle: &str, text: &str) -> Option<usize> {
    let ends = needle.char_indices().map(|(at, _)| at).rev();
    ends.take_while(|bytes| *bytes >= SECRET_BYTES_MIN)
        .find(|bytes| text.ends_with(&needle[..*bytes]))
}

#[cfg(test)]
mod tests;
