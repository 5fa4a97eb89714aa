//! One change for the inputs of many dead letters: a merge patch laid over each, or a template that each is
//! made from. Strings may hold `${input…}`, `${error.type}`, `${letter.id}` and so on, with a default after
//! `??`. Values keep their bytes; secrets are not known here.

use std::borrow::Cow;

use crate::definition::source::{Content, Node};
use crate::failure::Failure;
use crate::id::DlqId;
use crate::json::{Json, Members, ObjectBuilder, Segment, locate};
use crate::template::{RENDER_BYTES_MAX, Reference, RenderError, Root, Scope, Tree};
use crate::time::Timestamp;

/// See the module.
#[derive(Debug, Clone, PartialEq)]
pub enum Transform {
    /// A JSON merge patch (RFC 7396), laid over the input.
    Merge(Tree),
    /// The whole input.
    Template(Tree),
}

/// Something that is wrong with a transform.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TransformProblem {
    /// The way to it, such as `merge.customer`.
    pub path: String,
    /// What is wrong.
    pub message: String,
}

/// Why an input could not be made for a letter.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum TransformError {
    /// A value is missing, or it is too much.
    #[error("the transform fails: {0}")]
    Render(#[from] RenderError),
    /// An input is never null.
    #[error("the transform gives null, which is no input")]
    Null,
}

/// The letter that a transform is worked out for.
#[derive(Debug, Clone, Copy)]
pub struct Source<'a> {
    /// Its input.
    pub input: &'a Json,
    /// Its error.
    pub failure: &'a Failure,
    /// Its id.
    pub letter: DlqId,
    /// Its workflow.
    pub workflow: &'a str,
    /// When it failed.
    pub failed_at: Timestamp,
}

impl Transform {
    /// Reads `{"merge": …}` or `{"template": …}`.
    ///
    /// # Errors
    /// Everything that is wrong, each with its place.
    pub fn parse(text: &str) -> Result<Self, Vec<TransformProblem>> {
        let one = |path: &str, message: String| {
            vec![TransformProblem {
                path: path.to_owned(),
                message,
            }]
        };
        const FORM: &str = "write {\"merge\": …} or {\"template\": …}";
        let node = Node::parse(text).map_err(|problem| one("", problem.message))?;
        let Content::Mapping(members) = &node.content else {
            return Err(one("", format!("is not an object; {FORM}")));
        };
        let [(key, value)] = members.as_slice() else {
            return Err(one("", format!("takes exactly one of the two; {FORM}")));
        };
        let make: fn(Tree) -> Self = match &*key.text {
            "merge" => Self::Merge,
            "template" => Self::Template,
            other => return Err(one(other, format!("is unknown; {FORM}"))),
        };
        let tree = Tree::compile(value).map_err(|errors| {
            let problem = |error: crate::template::TreeError| TransformProblem {
                path: format!("{}{}", key.text, error.path),
                message: error.error.to_string(),
            };
            errors.into_iter().map(problem).collect::<Vec<_>>()
        })?;
        let wrong: Vec<_> = tree
            .references()
            .into_iter()
            .filter_map(refused)
            .map(|message| TransformProblem {
                path: key.text.to_string(),
                message,
            })
            .collect();
        match wrong.is_empty() {
            true => Ok(make(tree)),
            false => Err(wrong),
        }
    }

    /// The input that a letter is retried with.
    ///
    /// # Errors
    /// When a value is missing, or the result is too large or null.
    pub fn apply(&self, source: &Source<'_>) -> Result<Json, TransformError> {
        let input = match self {
            Self::Template(tree) => tree.render(source)?,
            Self::Merge(tree) => {
                let patch = tree.render(source)?;
                merged(Some(source.input.as_str()), patch.as_str())
            }
        };
        if input.is_null() {
            return Err(TransformError::Null);
        }
        if input.as_str().len() > RENDER_BYTES_MAX {
            return Err(RenderError::TooLarge.into());
        }
        Ok(input)
    }
}

/// Why a transform may not have a reference, if it may not.
fn refused(reference: &Reference) -> Option<String> {
    match reference.root {
        Root::Input | Root::Error(_) | Root::Letter(_) => None,
        Root::Secret(_) => Some(format!(
            "`${{{reference}}}`: an input is stored, so it takes no secrets"
        )),
        _ => Some(format!(
            "`${{{reference}}}` is not known here; use input, error.type, error.code, \
             error.message, letter.id, letter.workflow_id, letter.failed_at"
        )),
    }
}

/// What of an error a reference means.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum OfError {
    /// Its class.
    Type,
    /// Its code.
    Code,
    /// Its message.
    Message,
}

/// What of a letter a reference means.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum OfLetter {
    /// Its id.
    Id,
    /// Its workflow.
    WorkflowId,
    /// When it failed.
    FailedAt,
}

impl Scope for Source<'_> {
    fn resolve(&self, reference: &Reference) -> Option<Cow<'_, str>> {
        let quoted = |text: &str| Some(Cow::Owned(Json::string(text).as_str().to_owned()));
        match &reference.root {
            Root::Input => at(self.input.as_str(), &reference.path),
            Root::Error(OfError::Type) => quoted(self.failure.class.name()),
            Root::Error(OfError::Code) => quoted(self.failure.code.as_deref()?),
            Root::Error(OfError::Message) => quoted(&self.failure.message),
            Root::Letter(OfLetter::Id) => quoted(&self.letter.to_string()),
            Root::Letter(OfLetter::WorkflowId) => quoted(self.workflow),
            Root::Letter(OfLetter::FailedAt) => quoted(&self.failed_at.to_string()),
            _ => None,
        }
    }
}

fn at<'a>(text: &'a str, path: &[Segment]) -> Option<Cow<'a, str>> {
    Some(Cow::Borrowed(&text[locate(text, path)?]))
}

/// A merge patch laid over a value. What the patch does not name keeps its bytes.
fn merged(value: Option<&str>, patch: &str) -> Json {
    if !patch.trim_start().starts_with('{') {
        return Json::trusted(patch.trim());
    }
    let changes: Vec<(Cow<'_, str>, &str)> = Members::of(patch).collect();
    let change_of = |key: &str| {
        let mut found = changes.iter().rev();
        found
            .find(|(name, _)| name == key)
            .map(|(_, change)| *change)
    };
    let is_null = |text: &str| text.trim() == "null";
    let mut out = ObjectBuilder::new();
    let mut seen = Vec::new();
    for (key, before) in Members::of(value.unwrap_or("")) {
        match change_of(&key) {
            None => out.push_raw(&key, before),
            Some(change) if is_null(change) => {}
            Some(change) => out.push(&key, &merged(Some(before), change)),
        }
        seen.push(key);
    }
    for (key, change) in &changes {
        if !seen.contains(key) && !is_null(change) {
            out.push(key, &merged(None, change));
            seen.push(key.clone());
        }
    }
    out.build()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::failure::ErrorClass;

    const LETTER: DlqId = DlqId::from_bytes([7; 16]);

    fn apply(transform: &str, input: &str) -> Result<String, String> {
        let transform = Transform::parse(transform).map_err(|problems| {
            let told = problems
                .iter()
                .map(|it| format!("{}: {}", it.path, it.message));
            told.collect::<Vec<_>>().join("; ")
        })?;
        let mut failure = Failure::new(ErrorClass::HttpStatus, "answered \"503\"");
        failure.code = Some("503".to_owned());
        let input = Json::parse(input).expect("JSON");
        let source = Source {
            input: &input,
            failure: &failure,
            letter: LETTER,
            workflow: "ship_order",
            failed_at: Timestamp::from_millis(1_000),
        };
        let made = transform
            .apply(&source)
            .map_err(|error| error.to_string())?;
        Ok(made.as_str().to_owned())
    }

    #[test]
    fn a_merge_changes_what_it_names_and_keeps_the_rest_byte_for_byte() {
        let input = r#"{"a": 1.50, "b": {"x": [1,  2], "y": null}, "c": "\u00e9"}"#;
        let table = [
            (
                r#"{"merge": {}}"#,
                r#"{"a":1.50,"b":{"x": [1,  2], "y": null},"c":"\u00e9"}"#,
            ),
            (
                r#"{"merge": {"a": 2}}"#,
                r#"{"a":2,"b":{"x": [1,  2], "y": null},"c":"\u00e9"}"#,
            ),
            (r#"{"merge": {"a": null, "b": null}}"#, r#"{"c":"\u00e9"}"#),
            (
                r#"{"merge": {"b": {"x": 1, "z": {"q": null, "r": 2}}, "c": null}}"#,
                r#"{"a":1.50,"b":{"x":1,"y":null,"z":{"r":2}}}"#,
            ),
            (
                r#"{"merge": {"a": {"deep": 1}}}"#,
                r#"{"a":{"deep":1},"b":{"x": [1,  2], "y": null},"c":"\u00e9"}"#,
            ),
            (
                r#"{"merge": {"n": "${input.b.x}", "c": null, "b": null, "a": null}}"#,
                r#"{"n":[1,  2]}"#,
            ),
            (r#"{"merge": [1]}"#, "[1]"),
        ];
        for (transform, expected) in table {
            assert_eq!(
                apply(transform, input).as_deref(),
                Ok(expected),
                "{transform}"
            );
        }
        assert_eq!(
            apply(r#"{"merge": {"a": 1}}"#, "[5]").unwrap(),
            r#"{"a":1}"#
        );
    }

    #[test]
    fn a_template_is_the_whole_input() {
        let input = r#"{"order": {"id": 12345678901234567890}, "note": "é"}"#;
        let table = [
            (
                r#"{"template": "${input.order}"}"#,
                r#"{"id": 12345678901234567890}"#,
            ),
            (
                r#"{"template": {"id": "${input.order.id}", "was": "${error.type}/${error.code}: ${error.message}"}}"#,
                r#"{"id":12345678901234567890,"was":"http_status/503: answered \"503\""}"#,
            ),
            (
                r#"{"template": {"of": "${letter.workflow_id}", "x": "${input.none ?? 7}"}}"#,
                r#"{"of":"ship_order","x":7}"#,
            ),
            (
                r#"{"template": "${letter.failed_at}"}"#,
                r#""1970-01-01T00:00:01.000000Z""#,
            ),
        ];
        for (transform, expected) in table {
            assert_eq!(
                apply(transform, input).as_deref(),
                Ok(expected),
                "{transform}"
            );
        }
        let id = apply(r#"{"template": "${letter.id}"}"#, "{}").unwrap();
        assert_eq!(id, format!("\"{LETTER}\""));
    }

    #[test]
    fn what_has_no_value_fails_that_letter() {
        let missing = apply(r#"{"merge": {"a": "${input.none}"}}"#, "{}").unwrap_err();
        assert!(
            missing.contains("`${input.none}` has no value"),
            "{missing}"
        );
        let null = apply(r#"{"template": "${input.a}"}"#, r#"{"a": null}"#).unwrap_err();
        assert!(null.contains("null"), "{null}");
    }

    #[test]
    fn everything_that_is_wrong_is_told() {
        for (transform, expected) in [
            ("[]", "not an object"),
            ("{}", "exactly one"),
            (r#"{"merge": {}, "template": {}}"#, "exactly one"),
            (r#"{"patch": {}}"#, "patch: is unknown"),
            (
                r#"{"merge": {"a": "${input"}}"#,
                "merge.a: `${` is never closed",
            ),
            (r#"{"merge": {"a": "${secret.KEY}"}}"#, "takes no secrets"),
            (
                r#"{"merge": {"a": "${steps.x.output}"}}"#,
                "is not known here",
            ),
            (
                r#"{"merge": {"a": "${error.kind}"}}"#,
                "use error.type, error.code",
            ),
            (r#"{"merge": {"a": "${letter.colour}"}}"#, "use letter.id"),
        ] {
            let said = apply(transform, "{}").unwrap_err();
            assert!(said.contains(expected), "{transform}: {said}");
        }
        let both = apply(r#"{"merge": {"a": "${input", "b": "${x}"}}"#, "{}").unwrap_err();
        assert!(
            both.contains("merge.a") && both.contains("merge.b"),
            "{both}"
        );
    }
}
