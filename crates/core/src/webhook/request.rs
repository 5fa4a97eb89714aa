//! A request as it came: headers and bytes, borrowed and not looked at.

use std::net::IpAddr;

/// A received request.
#[derive(Debug, Clone, Copy)]
pub struct Request<'a> {
    /// The client's address, as [`super::source::Proxies::client`] found it.
    pub source: IpAddr,
    /// What follows the `?` of the address, still encoded; empty if there is none.
    pub query: &'a str,
    /// The headers in their order.
    pub headers: Headers<'a>,
    /// The body, byte for byte as it came over the wire.
    pub body: &'a [u8],
}

/// The headers of a request, in their order; a name may occur several times.
#[derive(Debug, Clone, Copy)]
pub struct Headers<'a>(pub &'a [(&'a str, &'a [u8])]);

/// Why a header that must be there once cannot be used. Says nothing of its value.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum HeaderTrouble {
    /// It is not there.
    #[error("is missing")]
    Missing,
    /// There are several.
    #[error("is given more than once")]
    Repeated,
    /// Bytes outside of printable ASCII.
    #[error("has characters outside of printable ASCII")]
    NotAscii,
    /// Longer than is read.
    #[error("has {0} bytes, more than can be read")]
    TooLong(usize),
}

impl<'a> Headers<'a> {
    /// Every value of a header, whatever the case of its name.
    pub fn all(self, name: &str) -> impl Iterator<Item = &'a [u8]> {
        self.0
            .iter()
            .filter(move |(known, _)| known.eq_ignore_ascii_case(name))
            .map(|(_, value)| *value)
    }

    /// Whether the header is there at all.
    #[must_use]
    pub fn has(self, name: &str) -> bool {
        self.all(name).next().is_some()
    }

    /// The value of a header that is there exactly once, without the white space around it.
    ///
    /// # Errors
    /// When it is missing, repeated, not printable ASCII, or longer than `bytes_max`.
    pub fn one(self, name: &str, bytes_max: usize) -> Result<&'a str, HeaderTrouble> {
        let mut values = self.all(name);
        let value = values.next().ok_or(HeaderTrouble::Missing)?;
        if values.next().is_some() {
            return Err(HeaderTrouble::Repeated);
        }
        if value.len() > bytes_max {
            return Err(HeaderTrouble::TooLong(value.len()));
        }
        let printable = |byte: &u8| matches!(byte, b' '..=b'~' | b'\t');
        match std::str::from_utf8(value) {
            Ok(text) if value.iter().all(printable) => Ok(text.trim_matches([' ', '\t'])),
            _ => Err(HeaderTrouble::NotAscii),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_header_is_there_once_or_the_reason_is_said() {
        let pairs: [(&str, &[u8]); 7] = [
            ("X-Once", b" v1 \t"),
            ("x-twice", b"a"),
            ("X-TWICE", b"a"),
            ("x-utf8", "ä".as_bytes()),
            ("x-latin", b"\xe4"),
            ("x-null", b"a\0b"),
            ("x-long", b"12345"),
        ];
        let headers = Headers(&pairs);
        for (name, expected) in [
            ("x-once", Ok("v1")),
            ("X-ONCE", Ok("v1")),
            ("x-twice", Err(HeaderTrouble::Repeated)),
            ("x-utf8", Err(HeaderTrouble::NotAscii)),
            ("x-latin", Err(HeaderTrouble::NotAscii)),
            ("x-null", Err(HeaderTrouble::NotAscii)),
            ("x-long", Err(HeaderTrouble::TooLong(5))),
            ("x-none", Err(HeaderTrouble::Missing)),
        ] {
            let bytes_max = if name == "x-long" { 4 } else { 100 };
            assert_eq!(headers.one(name, bytes_max), expected, "{name}");
        }
    }
}
