//! JSON in lines, without reading it into values.
//!
//! Only the white space between the parts changes: digits of big integers, the order of keys and
//! how strings are escaped stay. That is also why it walks over the text and not over members,
//! whose keys come decoded.

use std::fmt::Write as _;

use refire_core::json::Json;

use super::paint::is_unsafe;

const INDENT: &str = "  ";

/// The text in lines; a text that is not JSON comes back as it is.
pub(crate) fn pretty(text: &str) -> String {
    let Ok(json) = Json::parse(text) else {
        return text.to_owned();
    };
    let mut printer = Printer {
        out: String::with_capacity(text.len() * 2),
        depth: 0,
    };
    let mut rest = json.as_str();
    while let Some(first) = rest.chars().next() {
        rest = printer.part(first, rest);
    }
    printer.out
}

/// The same, each line after the first moved to the right.
pub(crate) fn indented(text: &str, by: usize) -> String {
    pretty(text).replace('\n', &format!("\n{}", " ".repeat(by)))
}

struct Printer {
    out: String,
    depth: usize,
}

impl Printer {
    /// Writes the part that `rest` begins with and gives what follows it.
    fn part<'a>(&mut self, first: char, rest: &'a str) -> &'a str {
        match first {
            '{' | '[' => {
                self.out.push(first);
                let inside = rest[1..].trim_start();
                // Nothing inside: both brackets on one line.
                if let Some(closing) = inside.chars().next().filter(|c| matches!(c, '}' | ']')) {
                    self.out.push(closing);
                    return &inside[1..];
                }
                self.depth += 1;
                self.line();
                inside
            }
            '}' | ']' => {
                self.depth = self.depth.saturating_sub(1);
                self.line();
                self.out.push(first);
                &rest[1..]
            }
            ',' => {
                self.out.push(',');
                self.line();
                &rest[1..]
            }
            ':' => {
                self.out.push_str(": ");
                &rest[1..]
            }
            '"' => {
                let (string, after) = rest.split_at(string_end(rest));
                self.string(string);
                after
            }
            _ if first.is_ascii_whitespace() => &rest[1..],
            _ => {
                let end = rest
                    .find(|c: char| ",:]} \t\r\n".contains(c))
                    .unwrap_or(rest.len());
                let (scalar, after) = rest.split_at(end.max(1));
                self.out.push_str(scalar);
                after
            }
        }
    }

    fn line(&mut self) {
        self.out.push('\n');
        for _ in 0..self.depth {
            self.out.push_str(INDENT);
        }
    }

    /// A string as it is, except that what a terminal would obey is escaped: same value, no harm.
    fn string(&mut self, string: &str) {
        for character in string.chars() {
            if is_unsafe(character) {
                // All of them are in the first plane, so four digits are enough.
                let _ = write!(self.out, "\\u{:04x}", u32::from(character));
            } else {
                self.out.push(character);
            }
        }
    }
}

/// The end of the string that the text begins with.
fn string_end(text: &str) -> usize {
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_kind_of_value_stands_on_its_line() {
        let text = r#"{"a":[1,{"b":null}],"empty":{},"list":[ ],"s":"x, {y}: \"z\"","t":true}"#;
        let expected = r#"{
  "a": [
    1,
    {
      "b": null
    }
  ],
  "empty": {},
  "list": [],
  "s": "x, {y}: \"z\"",
  "t": true
}"#;
        assert_eq!(pretty(text), expected);
        assert_eq!(pretty(expected), expected, "a second time changes nothing");
    }

    #[test]
    fn digits_keys_and_escapes_survive() {
        let text =
            r#"{"id":12345678901234567890123,"f":1.10,"e":1E+400,"\u0061":"\u00e4\/","id":2}"#;
        let lines = pretty(text);
        for kept in [
            "12345678901234567890123",
            "1.10",
            "1E+400",
            r#""\u0061": "\u00e4\/""#,
            "\"id\": 2",
        ] {
            assert!(lines.contains(kept), "{kept} in {lines}");
        }
    }

    #[test]
    fn scalars_and_nonsense() {
        for same in ["1", "\"a\"", "null", "{}", "[]", "not json", "{\"a\":"] {
            assert_eq!(pretty(same), same);
        }
        assert_eq!(pretty("[\"\u{9b}\"]"), "[\n  \"\\u009b\"\n]");
    }

    #[test]
    fn the_first_line_is_not_moved() {
        assert_eq!(indented("[1]", 4), "[\n      1\n    ]");
    }

    #[test]
    fn deep_texts_need_no_stack() {
        let deep = format!("{}{}", "[".repeat(128), "]".repeat(128));
        assert!(pretty(&deep).lines().count() > 200);
    }
}
