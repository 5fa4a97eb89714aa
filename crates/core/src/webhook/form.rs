//! A form (`a=1&b=2`) as a JSON object.
//!
//! Every value is a string. A field that occurs several times becomes a list, at the place where it
//! occurred first. Nothing inside a value is interpreted: the JSON that Slack puts into `payload`
//! stays a string.

use std::borrow::Cow;
use std::collections::HashMap;

use percent_encoding::percent_decode;

use crate::json::{ArrayBuilder, Json, ObjectBuilder};

/// Fields of a form, repeated ones counted each time.
pub(super) const FIELDS_MAX: usize = 1_000;

pub(super) fn read(body: &[u8]) -> Result<Json, String> {
    let mut fields: Vec<(String, Vec<String>)> = Vec::new();
    let mut places: HashMap<String, usize> = HashMap::new();
    let pairs = body.trim_ascii().split(|byte| *byte == b'&');
    for (count, pair) in pairs.filter(|pair| !pair.is_empty()).enumerate() {
        if count == FIELDS_MAX {
            return Err(format!("the form has more than {FIELDS_MAX} fields"));
        }
        let equals = pair.iter().position(|byte| *byte == b'=');
        let (name, value) = match equals {
            Some(at) => (&pair[..at], &pair[at + 1..]),
            None => (pair, &b""[..]),
        };
        let text = |bytes| {
            decode(bytes).ok_or_else(|| format!("field {} of the form is not UTF-8", count + 1))
        };
        let (name, value) = (text(name)?, text(value)?);
        match places.get(&name) {
            Some(place) => fields[*place].1.push(value),
            None => {
                places.insert(name.clone(), fields.len());
                fields.push((name, vec![value]));
            }
        }
    }
    let mut object = ObjectBuilder::new();
    for (name, values) in &fields {
        match values.as_slice() {
            [value] => object.push(name, &Json::string(value)),
            several => {
                let mut list = ArrayBuilder::new();
                several
                    .iter()
                    .for_each(|value| list.push(&Json::string(value)));
                object.push(name, &list.build());
            }
        }
    }
    Ok(object.build())
}

fn decode(bytes: &[u8]) -> Option<String> {
    let spaced: Cow<'_, [u8]> = if bytes.contains(&b'+') {
        let space = |byte: &u8| if *byte == b'+' { b' ' } else { *byte };
        bytes.iter().map(space).collect()
    } else {
        bytes.into()
    };
    let text = percent_decode(&spaced).decode_utf8().ok()?;
    Some(text.into_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_form_becomes_an_object() {
        for (form, expected) in [
            ("a=1&b=2", r#"{"a":"1","b":"2"}"#),
            ("a=1&b=x&a=2&a=", r#"{"a":["1","2",""],"b":"x"}"#),
            ("name=J%C3%BCrgen+M%2B", r#"{"name":"Jürgen M+"}"#),
            ("a&&=b&", r#"{"a":"","":"b"}"#),
            ("a=b=c", r#"{"a":"b=c"}"#),
            ("100%=5%", r#"{"100%":"5%"}"#),
            ("a%00=%22%0A", "{\"a\\u0000\":\"\\\"\\n\"}"),
            (
                "payload=%7B%22type%22%3A%22block_actions%22%7D\n",
                r#"{"payload":"{\"type\":\"block_actions\"}"}"#,
            ),
        ] {
            assert_eq!(read(form.as_bytes()).unwrap().as_str(), expected, "{form}");
        }
    }

    #[test]
    fn what_cannot_be_read_is_said() {
        assert_eq!(
            read(b"a=1&b=%FF").unwrap_err(),
            "field 2 of the form is not UTF-8"
        );
        assert!(read("a=1&".repeat(1_000).as_bytes()).is_ok());
        let error = read("a=1&".repeat(1_001).as_bytes()).unwrap_err();
        assert!(error.contains("more than 1000 fields"), "{error}");
    }
}
