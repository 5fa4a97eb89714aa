//! What of a webhook's settings needs reading and showing: filters in a line, and secrets from elsewhere.

use std::io;

use anyhow::Context as _;
use refire_client::model::Trigger;
use serde_json::{Value, json};

use crate::cli::prelude::*;

/// Those that compare with a value.
const COMPARING: [&str; 9] = [
    "equals",
    "not_equals",
    "contains",
    "in",
    "matches",
    "gt",
    "gte",
    "lt",
    "lte",
];

/// Those that do not.
const ALONE: [&str; 2] = ["not_exists", "exists"];

/// `$.event_type equals incident.created` as a filter. A value that is JSON counts as such.
pub(super) fn parse(text: &str) -> Result<Value, Usage> {
    let text = text.trim();
    // A path may hold spaces and words, so the last operator is the one.
    let split = |operator: &'static str| {
        let mark = format!(" {operator} ");
        let at = text.rfind(&mark)?;
        Some((at, operator, text[at + mark.len()..].trim()))
    };
    if let Some((at, operator, value)) = COMPARING
        .into_iter()
        .filter_map(split)
        .max_by_key(|(at, ..)| *at)
    {
        let value: Value = serde_json::from_str(value).unwrap_or_else(|_| json!(value));
        let path = text[..at].trim();
        if operator == "in" && !value.is_array() {
            let list = as_list(&value);
            return Err(Usage(format!(
                "--filter '{text}': write a JSON list after `in`: '{path} in {list}'"
            )));
        }
        return Ok(json!({ "json_path": path, "operator": operator, "value": value }));
    }
    for operator in ALONE {
        if let Some(path) = text
            .strip_suffix(operator)
            .filter(|path| path.ends_with(' '))
        {
            return Ok(json!({ "json_path": path.trim(), "operator": operator }));
        }
    }
    Err(Usage(format!(
        "--filter `{text}`: write a path, an operator ({}, {}) and a value, such as \
         '$.event_type equals incident.created'",
        COMPARING.join(", "),
        ALONE.join(", ")
    )))
}

/// What was taken for a list, as one of texts.
fn as_list(value: &Value) -> String {
    let text = match value {
        Value::String(text) => text.trim_matches(['(', ')']).to_owned(),
        other => other.to_string(),
    };
    let parts: Vec<&str> = text.split(',').map(str::trim).collect();
    json!(parts).to_string()
}

/// Says of a filter that compares with a number or a truth value how the text would be written: many
/// senders put numbers into texts, and the two are never equal.
pub(super) fn note(text: &str) -> Option<String> {
    let filter = parse(text).ok()?;
    let (path, operator) = (filter["json_path"].as_str()?, filter["operator"].as_str()?);
    let value = &filter["value"];
    let kind = match value {
        Value::Number(_) => "a number",
        Value::Bool(_) => "true or false",
        _ => return None,
    };
    matches!(operator, "equals" | "not_equals").then(|| {
        format!(
            "`{value}` is {kind} here; if the sender sends a string, write '{path} {operator} \"{value}\"'"
        )
    })
}

/// The filters of a trigger, each in a line.
pub(super) fn lines(trigger: &Trigger) -> Vec<String> {
    let filters = trigger.settings.get("filters");
    let filters = filters.and_then(|raw| serde_json::from_str::<Vec<Value>>(raw.get()).ok());
    let line = |filter: &Value| {
        let word = |name: &str| filter[name].as_str().unwrap_or_default().to_owned();
        let value = filter.get("value").map(|value| format!(" {value}"));
        format!(
            "{} {}{}",
            word("json_path"),
            word("operator"),
            value.unwrap_or_default()
        )
    };
    filters.unwrap_or_default().iter().map(line).collect()
}

/// A secret as it is, from a file, or from the standard input; without the end of its line.
pub(super) fn secret(given: &str) -> anyhow::Result<String> {
    let text = match given.strip_prefix('@') {
        Some(file) => {
            std::fs::read_to_string(file).with_context(|| format!("{file} cannot be read"))?
        }
        None if given == "-" => {
            io::read_to_string(io::stdin()).context("standard input cannot be read")?
        }
        None => return Ok(given.to_owned()),
    };
    Ok(text.trim_end_matches(['\r', '\n']).to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_filter_is_a_path_an_operator_and_a_value() {
        let filter = |path: &str, operator: &str, value: Value| json!({"json_path": path, "operator": operator, "value": value});
        for (text, expected) in [
            (
                "$.event_type equals incident.created",
                filter("$.event_type", "equals", json!("incident.created")),
            ),
            ("$.n gte 5", filter("$.n", "gte", json!(5))),
            (
                r#"$.kind in ["a", "b"]"#,
                filter("$.kind", "in", json!(["a", "b"])),
            ),
            (
                "$['what equals'] contains x y",
                filter("$['what equals']", "contains", json!("x y")),
            ),
            (
                "$.id exists",
                json!({"json_path": "$.id", "operator": "exists"}),
            ),
            (
                "$.id not_exists",
                json!({"json_path": "$.id", "operator": "not_exists"}),
            ),
        ] {
            assert_eq!(parse(text).unwrap(), expected, "{text}");
        }
        for bad in ["", "$.a", "$.a is 5", "exists"] {
            let said = parse(bad).unwrap_err().to_string();
            assert!(said.contains("incident.created"), "{said}");
        }
    }

    #[test]
    fn a_list_is_written_for_who_wrote_none() {
        for (text, list) in [
            ("$.q in a,b", r#"'$.q in ["a","b"]'"#),
            ("$.q in (a, b)", r#"'$.q in ["a","b"]'"#),
            ("$.q in 1", r#"'$.q in ["1"]'"#),
        ] {
            let said = parse(text).unwrap_err().to_string();
            assert!(said.starts_with(&format!("--filter '{text}'")), "{said}");
            assert!(said.ends_with(list), "{said}");
        }
    }

    #[test]
    fn a_number_is_told_from_its_text() {
        let said = note("$.p equals 1").unwrap();
        assert!(said.contains(r#"'$.p equals "1"'"#), "{said}");
        assert!(note("$.p equals true").unwrap().contains(r#""true""#));
        for fine in [
            r#"$.p equals "1""#,
            "$.p gte 1",
            "$.p equals a",
            "$.p exists",
        ] {
            assert_eq!(note(fine), None, "{fine}");
        }
    }

    #[test]
    fn filters_are_shown_in_lines() {
        let trigger: Trigger = serde_json::from_str(
            r#"{"id":"trg_1","workflow_id":"w","trigger_type":"webhook","enabled":true,"version":1,
            "created_at":"a","updated_at":"b","filters":[
            {"json_path":"$.a","operator":"equals","value":"x y"},
            {"json_path":"$.b","operator":"exists"}]}"#,
        )
        .unwrap();
        assert_eq!(lines(&trigger), [r#"$.a equals "x y""#, "$.b exists"]);
    }

    #[test]
    fn a_secret_comes_from_a_file_without_its_line_end() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("secret");
        std::fs::write(&path, "s p\n").unwrap();
        assert_eq!(secret(&format!("@{}", path.display())).unwrap(), "s p");
        assert_eq!(secret("plain").unwrap(), "plain");
    }
}
