//! JSON given on the command line: the text itself, `@file`, or `-` for the standard input.
//!
//! It is checked here, so that a missing quote is shown before anything is sent, and then passed
//! on byte for byte.

use std::io::Read as _;

use anyhow::Context as _;
use refire_core::json::{Json, JsonError};
use serde_json::value::RawValue;

use super::outcome::Usage;

/// Reads and checks an input.
pub(crate) fn read(argument: &str) -> anyhow::Result<Json> {
    let (name, bytes) = bytes(argument)?;
    Json::from_bytes(&bytes).map_err(|error| {
        let said = explain(&name, &error);
        // A file's name without the sign is the likeliest slip.
        match name == "the input" && std::path::Path::new(argument).is_file() {
            true => Usage(format!(
                "{said}\n  tip: write @{argument} to read that file"
            ))
            .into(),
            false => Usage(said).into(),
        }
    })
}

/// Reads a text as it is.
pub(crate) fn text(argument: &str) -> anyhow::Result<String> {
    let (name, bytes) = bytes(argument)?;
    String::from_utf8(bytes).with_context(|| format!("{name} is not UTF-8"))
}

/// What was given, and what it is called.
fn bytes(argument: &str) -> anyhow::Result<(String, Vec<u8>)> {
    Ok(match argument.strip_prefix('@') {
        Some(file) => {
            let bytes = std::fs::read(file).with_context(|| format!("{file} cannot be read"))?;
            (file.to_owned(), bytes)
        }
        None if argument == "-" => {
            let mut bytes = Vec::new();
            std::io::stdin()
                .read_to_end(&mut bytes)
                .context("standard input cannot be read")?;
            ("<stdin>".to_owned(), bytes)
        }
        None => ("the input".to_owned(), argument.as_bytes().to_vec()),
    })
}

fn explain(name: &str, error: &JsonError) -> String {
    let JsonError {
        line,
        column,
        message,
    } = error;
    format!("{name}:{line}:{column}: not JSON: {message}")
}

/// As a part of a request.
pub(crate) fn raw(json: &Json) -> anyhow::Result<Box<RawValue>> {
    Ok(RawValue::from_string(json.as_str().to_owned())?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn big_numbers_pass() {
        let text = r#"{"id": 12345678901234567890}"#;
        assert_eq!(raw(&read(text).unwrap()).unwrap().get(), text);
    }

    #[test]
    fn a_file_is_read() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("in.json");
        std::fs::write(&path, " [1]\n").unwrap();
        assert_eq!(
            read(&format!("@{}", path.display())).unwrap().as_str(),
            "[1]"
        );
        assert!(
            read("@/nowhere/at.all")
                .unwrap_err()
                .to_string()
                .contains("cannot be read")
        );
    }

    #[test]
    fn mistakes_have_a_place() {
        let said = read("{\"a\":}").unwrap_err().to_string();
        assert!(said.starts_with("the input:1:6: not JSON: "), "{said}");
    }
}
