//! The JSON Schema of definitions, for editors.
//!
//! It is written by hand, so that it reads well in a tooltip, in one file with places for what each
//! step type adds; a test holds it to the parser's own list of keys. The schema is a help while typing, `Workflow::parse` is the judge.

use std::sync::LazyLock;

use super::step_type::{StepType, TYPES};

/// The schema (draft 2020-12) as JSON text.
#[must_use]
pub fn json_schema() -> &'static str {
    static SCHEMA: LazyLock<String> = LazyLock::new(|| {
        let base = include_str!("../../schema/workflow.schema.template.json");
        base.replace(
            "{{types}}",
            &each(", ", |it| format!("`{}` {}", it.name, it.does)),
        )
        .replace("{{patterns}}", &each("|", any_case))
        .replace("{{names}}", &each(", ", |it| format!("\"{}\"", it.name)))
        .replace("{{conditions}}", &each(",\n", condition))
        .replace(
            "{{configs}}",
            &each(",\n", |it| format!("    \"{}\": {}", it.name, it.schema)),
        )
    });
    &SCHEMA
}

fn each(between: &str, text: impl Fn(&StepType) -> String) -> String {
    TYPES.iter().map(text).collect::<Vec<_>>().join(between)
}

/// The name as a pattern, since schemas know no other way to leave the case open.
fn any_case(step_type: &StepType) -> String {
    let letter = |c: char| match c.is_ascii_alphabetic() {
        true => format!("[{}{c}]", c.to_ascii_uppercase()),
        false => c.to_string(),
    };
    step_type.name.chars().map(letter).collect()
}

fn condition(step_type: &StepType) -> String {
    format!(
        r##"        {{
          "if": {{ "properties": {{ "type": {{ "pattern": "^{}$" }} }} }},
          "then": {{ "properties": {{ "config": {{ "$ref": "#/$defs/{}" }} }} }}
        }}"##,
        any_case(step_type),
        step_type.name
    )
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use serde_json::Value;

    use super::*;
    use crate::definition::keys::{self, Known, snake};
    use crate::definition::retry::{FAIL_STATUSES, RETRY_STATUSES};
    use crate::definition::step::OUTPUT_MAPPING_MAX;
    use crate::failure::ErrorClass;

    fn schema() -> Value {
        serde_json::from_str(json_schema()).unwrap()
    }

    #[test]
    fn the_schema_has_the_bounds_of_the_parser() {
        let mapped = &schema()["$defs"]["outputMapping"]["maxProperties"];
        assert_eq!(*mapped, OUTPUT_MAPPING_MAX);
    }

    #[test]
    fn the_schema_has_the_keys_of_the_parser() {
        let table = [
            ("", keys::WORKFLOW),
            ("/$defs/step", keys::STEP),
            ("/$defs/step/properties/callback", keys::CALLBACK),
            ("/$defs/retryObject", keys::RETRY),
            ("/$defs/retryObject/properties/retryOn", keys::RETRY_ON),
            ("/$defs/retryObject/properties/failOn", keys::FAIL_ON),
            ("/$defs/jitterObject", keys::JITTER),
            ("/$defs/concurrencyObject", keys::CONCURRENCY),
            ("/$defs/rateLimit", keys::RATE_LIMIT),
        ];
        let schema = schema();
        let configs = TYPES.iter().flat_map(|it| {
            let config = format!("/$defs/{}", it.name);
            let objects = it.keys.iter().filter(|key| !key.below.is_empty());
            let below = |key: &Known| (format!("{config}/properties/{}", key.name), key.below);
            let below: Vec<_> = objects.map(below).collect();
            std::iter::once((config, it.keys)).chain(below)
        });
        let table = table.map(|(pointer, known)| (pointer.to_owned(), known));
        for (pointer, known) in table.into_iter().chain(configs) {
            let object = schema.pointer(&pointer).unwrap();
            let properties = object["properties"].as_object().unwrap();
            let described: BTreeSet<_> = properties.keys().cloned().collect();
            let mut expected: BTreeSet<_> = known.iter().map(|key| key.name.to_owned()).collect();
            for (other, name) in other_spellings(known) {
                let same = format!("#{pointer}/properties/{name}");
                assert_eq!(properties[&other], serde_json::json!({ "$ref": same }));
                expected.insert(other);
            }
            assert_eq!(described, expected, "{pointer}");
            assert_eq!(
                object["additionalProperties"], false,
                "{pointer}: typing slips show"
            );
            assert!(object.get("patternProperties").is_none(), "{pointer}");
        }
    }

    /// Every spelling that is not the documented one, and the one it stands for.
    fn other_spellings(table: &'static [Known]) -> Vec<(String, &'static str)> {
        let of = |key: &'static Known| {
            let also = key.also.iter().map(|other| (*other).to_owned());
            std::iter::once(snake(key.name))
                .chain(also)
                .filter(|other| other != key.name)
                .map(|other| (other, key.name))
        };
        table.iter().flat_map(of).collect()
    }

    #[test]
    fn the_schema_has_the_lists_of_the_code() {
        let schema = schema();
        let classes: Vec<_> = schema
            .pointer("/$defs/error/enum")
            .unwrap()
            .as_array()
            .unwrap()
            .clone();
        for class in &classes {
            assert!(
                ErrorClass::from_name(class.as_str().unwrap()).is_some(),
                "{class}"
            );
        }
        let own_rules = ["http_status", "node_lost", "history_limit", "internal"];
        for class in ErrorClass::ALL {
            let listed = classes.iter().any(|known| known == class.name());
            let is_own = own_rules.contains(&class.name()) || class.speaks_for_itself();
            assert_eq!(listed, !is_own, "{class}");
        }
        let lists = "/$defs/retryObject/properties";
        let default = |path: &str| {
            schema
                .pointer(&format!("{lists}/{path}/default"))
                .unwrap()
                .clone()
        };
        assert_eq!(
            default("retryOn/properties/statuses"),
            serde_json::json!(RETRY_STATUSES)
        );
        assert_eq!(
            default("failOn/properties/statuses"),
            serde_json::json!(FAIL_STATUSES)
        );
        let errors = crate::definition::RetryRules::default().retry_errors;
        assert_eq!(
            default("retryOn/properties/errors"),
            serde_json::to_value(errors).unwrap()
        );
    }

    #[test]
    fn every_key_is_described() {
        fn visit(name: &str, value: &Value, missing: &mut Vec<String>) {
            let Some(object) = value.as_object() else {
                return;
            };
            for (key, property) in object
                .get("properties")
                .and_then(Value::as_object)
                .into_iter()
                .flatten()
            {
                let said = property.get("description").is_some()
                    || property.get("$ref").is_some()
                    || property.get("enum").is_some()
                    || property.get("type").is_some();
                if !said {
                    missing.push(format!("{name}.{key}"));
                }
            }
            object
                .iter()
                .for_each(|(key, value)| visit(key, value, missing));
        }
        let mut missing = Vec::new();
        visit("", &schema(), &mut missing);
        assert_eq!(missing, Vec::<String>::new());
    }
}
