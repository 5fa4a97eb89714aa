//! Ranges of HTTP statuses: `200`, `"2xx"`, `"200-204"`.

use std::fmt;

use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// An inclusive range of statuses.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct StatusRange {
    from: u16,
    to: u16,
}

/// Why a text is not a range of statuses.
const EXPECTED: &str = "a status is written 200, \"2xx\" or \"200-204\" (100 to 599)";

impl StatusRange {
    /// Every 2xx.
    pub const SUCCESS: Self = Self { from: 200, to: 299 };

    /// A single status.
    #[must_use]
    pub const fn one(status: u16) -> Self {
        Self {
            from: status,
            to: status,
        }
    }

    /// Reads `200`, `2xx` or `200-204`.
    ///
    /// # Errors
    /// Says what would be right.
    pub fn parse(text: &str) -> Result<Self, String> {
        let status = |text: &str| -> Option<u16> {
            let three = text.len() == 3 && text.bytes().all(|byte| byte.is_ascii_digit());
            three
                .then(|| text.parse().ok())
                .flatten()
                .filter(|status| (100..=599).contains(status))
        };
        let wrong = || format!("\"{text}\" is not a status; {EXPECTED}");
        let lower = text.trim().to_ascii_lowercase();
        if let Some(class) = lower.strip_suffix("xx") {
            let from = status(&format!("{class}00")).ok_or_else(wrong)?;
            return Ok(Self {
                from,
                to: from + 99,
            });
        }
        let (from, to) = lower.split_once('-').unwrap_or((&lower, &lower));
        let range = status(from.trim()).zip(status(to.trim()));
        let (from, to) = range.filter(|(from, to)| from <= to).ok_or_else(wrong)?;
        Ok(Self { from, to })
    }

    /// Whether the status lies in the range.
    #[must_use]
    pub fn contains(self, status: u16) -> bool {
        (self.from..=self.to).contains(&status)
    }
}

impl fmt::Display for StatusRange {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (self.from, self.to) {
            (from, to) if from == to => write!(f, "{from}"),
            (from, to) if from % 100 == 0 && to == from + 99 => write!(f, "{}xx", from / 100),
            (from, to) => write!(f, "{from}-{to}"),
        }
    }
}

impl Serialize for StatusRange {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        if self.from == self.to {
            serializer.serialize_u16(self.from)
        } else {
            serializer.collect_str(self)
        }
    }
}

impl<'de> Deserialize<'de> for StatusRange {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        #[derive(Deserialize)]
        #[serde(untagged)]
        enum Written {
            Number(u16),
            Text(String),
        }
        let text = match Written::deserialize(deserializer)? {
            Written::Number(status) => status.to_string(),
            Written::Text(text) => text,
        };
        Self::parse(&text).map_err(serde::de::Error::custom)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranges_are_read_and_written_alike() {
        for (text, low, high) in [("200", 200, 200), ("2xx", 200, 299), ("200-204", 200, 204)] {
            let range = StatusRange::parse(text).unwrap();
            assert!(range.contains(low) && range.contains(high), "{text}");
            assert!(
                !range.contains(low - 1) && !range.contains(high + 1),
                "{text}"
            );
            assert_eq!(range.to_string(), text);
            let json = serde_json::to_string(&range).unwrap();
            assert_eq!(serde_json::from_str::<StatusRange>(&json).unwrap(), range);
        }
        assert_eq!(
            StatusRange::parse("5XX"),
            Ok(StatusRange { from: 500, to: 599 })
        );
        for bad in [
            "", "20", "2000", "600", "6xx", "204-200", "ok", "200-", "-200", "xx", "+20",
        ] {
            assert!(
                StatusRange::parse(bad).unwrap_err().contains("\"2xx\""),
                "{bad}"
            );
        }
    }
}
