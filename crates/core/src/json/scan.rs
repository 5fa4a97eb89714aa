//! Walking over JSON text byte by byte, without building anything and without recursion.
//!
//! The functions expect text that was checked before and give `None` on anything else; they never
//! panic and never use stack in proportion to the depth.

use std::borrow::Cow;
use std::fmt::Write as _;

/// The white space of JSON, which is less than Unicode's.
pub(crate) fn is_space_char(character: char) -> bool {
    matches!(character, ' ' | '\t' | '\n' | '\r')
}

/// The first byte at or after `at` that is not white space.
pub(crate) fn skip_space(bytes: &[u8], mut at: usize) -> usize {
    while let Some(b' ' | b'\t' | b'\n' | b'\r') = bytes.get(at) {
        at += 1;
    }
    at
}

/// The end of the string whose opening quote is at `at`.
pub(crate) fn skip_string(bytes: &[u8], at: usize) -> Option<usize> {
    let mut at = at + 1;
    loop {
        match bytes.get(at)? {
            b'"' => return Some(at + 1),
            b'\\' => at += 2,
            _ => at += 1,
        }
    }
}

/// The end of the value that begins at `at`.
pub(crate) fn skip_value(bytes: &[u8], mut at: usize) -> Option<usize> {
    let mut depth = 0_usize;
    loop {
        match bytes.get(at)? {
            b'"' => at = skip_string(bytes, at)?,
            b'{' | b'[' => {
                depth += 1;
                at += 1;
            }
            b'}' | b']' => {
                depth = depth.checked_sub(1)?;
                at += 1;
            }
            b' ' | b'\t' | b'\n' | b'\r' | b',' | b':' => at += 1,
            _ => {
                let start = at;
                while let Some(b'0'..=b'9' | b'a'..=b'z' | b'E' | b'+' | b'-' | b'.') =
                    bytes.get(at)
                {
                    at += 1;
                }
                // A byte that begins no value: the text was not checked.
                if at == start {
                    return None;
                }
            }
        }
        if depth == 0 {
            return Some(at);
        }
    }
}

/// Calls `member` with each key and where its value begins; it says where the value ends. Each
/// byte is seen once, however deep it lies, which slices per level would not give.
pub(crate) fn walk_object<'a>(
    text: &'a str,
    at: usize,
    mut member: impl FnMut(Cow<'a, str>, usize) -> usize,
) -> usize {
    let bytes = text.as_bytes();
    let mut at = skip_space(bytes, at + 1);
    while bytes.get(at) == Some(&b'"') {
        let key_end = skip_string(bytes, at).unwrap_or(text.len());
        let colon = skip_space(bytes, key_end);
        let end = member(unescape(&text[at..key_end]), skip_space(bytes, colon + 1));
        at = past_comma(bytes, end);
    }
    (at + 1).min(text.len())
}

/// The same for the elements of an array.
pub(crate) fn walk_array(text: &str, at: usize, mut element: impl FnMut(usize) -> usize) -> usize {
    let bytes = text.as_bytes();
    let mut at = skip_space(bytes, at + 1);
    while !matches!(bytes.get(at), None | Some(b']')) {
        at = past_comma(bytes, element(at));
    }
    (at + 1).min(text.len())
}

fn past_comma(bytes: &[u8], end: usize) -> usize {
    let at = skip_space(bytes, end);
    if bytes.get(at) == Some(&b',') {
        skip_space(bytes, at + 1)
    } else {
        at
    }
}

/// Where the text becomes deeper than `depth_max`, if it does.
pub(crate) fn too_deep(bytes: &[u8], depth_max: usize) -> Option<usize> {
    let mut depth = 0_usize;
    let mut at = 0;
    while let Some(byte) = bytes.get(at) {
        match byte {
            b'"' => {
                at = skip_string(bytes, at)?;
                continue;
            }
            b'{' | b'[' => {
                depth += 1;
                if depth > depth_max {
                    return Some(at);
                }
            }
            b'}' | b']' => depth = depth.saturating_sub(1),
            _ => {}
        }
        at += 1;
    }
    None
}

/// The characters of a raw string (quotes included). A lone surrogate becomes U+FFFD, because it
/// is allowed by the grammar of JSON but is no character.
pub(crate) fn unescape(raw: &str) -> Cow<'_, str> {
    let inner = raw
        .strip_prefix('"')
        .and_then(|rest| rest.strip_suffix('"'))
        .unwrap_or(raw);
    if !inner.contains('\\') {
        return Cow::Borrowed(inner);
    }
    let mut out = String::with_capacity(inner.len());
    let mut rest = inner;
    while let Some(slash) = rest.find('\\') {
        out.push_str(&rest[..slash]);
        rest = unescape_one(&rest[slash + 1..], &mut out);
    }
    out.push_str(rest);
    Cow::Owned(out)
}

/// Decodes one escape, given what follows the backslash, and returns the rest.
fn unescape_one<'a>(rest: &'a str, out: &mut String) -> &'a str {
    let Some(kind) = rest.chars().next() else {
        return rest;
    };
    let after = &rest[kind.len_utf8()..];
    match kind {
        'b' => out.push('\u{8}'),
        'f' => out.push('\u{c}'),
        'n' => out.push('\n'),
        'r' => out.push('\r'),
        't' => out.push('\t'),
        'u' => return unescape_unicode(after, out),
        other => out.push(other),
    }
    after
}

fn unescape_unicode<'a>(rest: &'a str, out: &mut String) -> &'a str {
    let Some(first) = hex4(rest) else {
        out.push(char::REPLACEMENT_CHARACTER);
        return rest;
    };
    let after = &rest[4..];
    if (0xD800..0xDC00).contains(&first)
        && let Some(low) = after.strip_prefix("\\u").and_then(hex4)
        && (0xDC00..0xE000).contains(&low)
    {
        let code = 0x1_0000 + ((first - 0xD800) << 10) + (low - 0xDC00);
        out.push(char::from_u32(code).unwrap_or(char::REPLACEMENT_CHARACTER));
        return &after[6..];
    }
    out.push(char::from_u32(first).unwrap_or(char::REPLACEMENT_CHARACTER));
    after
}

fn hex4(text: &str) -> Option<u32> {
    let digits = text.get(..4)?;
    digits
        .bytes()
        .all(|byte| byte.is_ascii_hexdigit())
        .then_some(())?;
    u32::from_str_radix(digits, 16).ok()
}

/// Appends `text` as a JSON string.
pub(crate) fn write_string(out: &mut String, text: &str) {
    out.push('"');
    let mut written = 0;
    for (at, byte) in text.bytes().enumerate() {
        let escape = match byte {
            b'"' => "\\\"",
            b'\\' => "\\\\",
            b'\n' => "\\n",
            b'\r' => "\\r",
            b'\t' => "\\t",
            0x08 => "\\b",
            0x0C => "\\f",
            0x00..=0x1F => "",
            _ => continue,
        };
        out.push_str(&text[written..at]);
        written = at + 1;
        if escape.is_empty() {
            // Writing to a String cannot fail.
            let _ = write!(out, "\\u{byte:04x}");
        } else {
            out.push_str(escape);
        }
    }
    out.push_str(&text[written..]);
    out.push('"');
}
