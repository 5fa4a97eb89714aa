//! Signatures as they stand in a header: found, bounded, decoded.
//!
//! Only what decodes to exactly 32 bytes is a candidate, so a signature cut short never comes to
//! be compared.

use base64::Engine as _;
use base64::alphabet;
use base64::engine::{DecodePaddingMode, GeneralPurpose, GeneralPurposeConfig};

use super::scheme::{Encoding, List, Scheme};

/// The longest signature header that is read, in bytes.
pub(super) const SIGNATURE_HEADER_BYTES_MAX: usize = 4096;
/// The most signatures that one header may hold; senders that change their secret send two or three.
pub(super) const SIGNATURES_MAX: usize = 16;

/// The bytes of an HMAC-SHA256.
pub(super) const SIGNATURE_BYTES: usize = 32;

/// Padded or not; bits behind the end must be zero, so that there is one spelling for each value.
const CONFIG: GeneralPurposeConfig =
    GeneralPurposeConfig::new().with_decode_padding_mode(DecodePaddingMode::Indifferent);
const STANDARD: GeneralPurpose = GeneralPurpose::new(&alphabet::STANDARD, CONFIG);
const URL_SAFE: GeneralPurpose = GeneralPurpose::new(&alphabet::URL_SAFE, CONFIG);

/// Base64 of either alphabet, padded or not.
pub(super) fn decode_base64(text: &str) -> Option<Vec<u8>> {
    STANDARD
        .decode(text)
        .or_else(|_| URL_SAFE.decode(text))
        .ok()
}

/// The items of a signature header, split as its sender writes them.
pub(super) fn items<'a>(scheme: &Scheme, value: &'a str) -> Result<Vec<&'a str>, String> {
    let items: Vec<&str> = match scheme.list {
        List::One => vec![value],
        List::Commas => value.split(',').map(str::trim).collect(),
        List::Spaces => value.split_ascii_whitespace().collect(),
    };
    if items.len() > SIGNATURES_MAX {
        return Err(format!(
            "holds {} signatures, at most {SIGNATURES_MAX} are looked at",
            items.len()
        ));
    }
    Ok(items)
}

/// The signatures among the items that could be right, or why there is none.
pub(super) fn candidates(
    scheme: &Scheme,
    items: &[&str],
) -> Result<Vec<[u8; SIGNATURE_BYTES]>, String> {
    let marked: Vec<&str> = items
        .iter()
        .filter_map(|item| scheme.mark.strip(item))
        .collect();
    if marked.is_empty() {
        return Err(format!(
            "has no signature that begins with `{}`",
            scheme.mark.written()
        ));
    }
    let found: Vec<_> = marked
        .iter()
        .filter_map(|text| decode(scheme.encoding, text))
        .collect();
    if found.is_empty() {
        let expected = match scheme.encoding {
            Encoding::Hex => "64 hex digits",
            Encoding::Base64 => "the base64 of 32 bytes",
            Encoding::Auto => "64 hex digits or the base64 of 32 bytes",
        };
        let length = marked.first().map_or(0, |text| text.len());
        return Err(format!("is not {expected} (it has {length} characters)"));
    }
    Ok(found)
}

fn decode(encoding: Encoding, text: &str) -> Option<[u8; SIGNATURE_BYTES]> {
    let hex = || decode_hex(text);
    let base64 = || decode_base64(text)?.try_into().ok();
    match encoding {
        Encoding::Hex => hex(),
        Encoding::Base64 => base64(),
        // 64 characters of base64 are 48 bytes: no text is both.
        Encoding::Auto => hex().or_else(base64),
    }
}

fn decode_hex(text: &str) -> Option<[u8; SIGNATURE_BYTES]> {
    if text.len() != 2 * SIGNATURE_BYTES {
        return None;
    }
    let digit = |byte: u8| char::from(byte).to_digit(16);
    let mut bytes = [0; SIGNATURE_BYTES];
    for (place, pair) in bytes.iter_mut().zip(text.as_bytes().chunks_exact(2)) {
        let value = digit(pair[0])? * 16 + digit(pair[1])?;
        *place = u8::try_from(value).ok()?;
    }
    Some(bytes)
}

/// A signature as it is written.
pub(super) fn encode(encoding: Encoding, bytes: &[u8]) -> String {
    match encoding {
        Encoding::Base64 => base64::engine::general_purpose::STANDARD.encode(bytes),
        Encoding::Auto | Encoding::Hex => hex(bytes),
    }
}

/// Lower-case hex digits.
pub(super) fn hex(bytes: &[u8]) -> String {
    const DIGITS: &[u8; 16] = b"0123456789abcdef";
    bytes
        .iter()
        .flat_map(|byte| [byte >> 4, byte & 15])
        .map(|digit| char::from(DIGITS[usize::from(digit)]))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    const BYTES: [u8; 32] = [0xFB; 32];

    #[test]
    fn every_spelling_of_the_same_bytes_is_read_and_no_other() {
        let lower = hex(&BYTES);
        let upper = lower.to_uppercase();
        let mixed = format!("{}{}", &lower[..32], &upper[32..]);
        let padded = encode(Encoding::Base64, &BYTES);
        let plain = padded.trim_end_matches('=');
        let url = padded.replace('+', "-").replace('/', "_");
        for text in [
            &lower,
            &upper,
            &mixed,
            &padded,
            plain,
            &url,
            url.trim_end_matches('='),
        ] {
            assert_eq!(decode(Encoding::Auto, text), Some(BYTES), "{text}");
        }
        assert_eq!(decode(Encoding::Hex, &padded), None);
        assert_eq!(decode(Encoding::Base64, &lower), None);
        // The last character of 43 holds two bits that must be zero.
        let bent = format!("{}t", &plain[..42]);
        let twice = format!("{padded}{padded}");
        let longer = format!("{lower}00");
        let spaced = format!(" {lower}");
        for text in [&bent, &twice, &longer, &spaced, "", "=", "zz"] {
            assert_eq!(decode(Encoding::Auto, text), None, "{text}");
        }
        assert!(plain.ends_with('s'));
    }

    #[test]
    fn every_shorter_text_is_refused() {
        for text in [hex(&BYTES), encode(Encoding::Base64, &BYTES)] {
            let whole = text.trim_end_matches('=').len();
            for length in 0..whole {
                assert_eq!(decode(Encoding::Auto, &text[..length]), None, "{length}");
            }
        }
    }
}
