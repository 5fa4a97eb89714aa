//! One text for one content: the form by which versions of a definition are compared.
//!
//! YAML and JSON, camelCase and snake_case of the same content give the same text. The keys that
//! the definition language knows stand in a fixed order; what belongs to the user (bodies, headers,
//! mappings) keeps its order, because the order is sent to targets as written. Values are not
//! interpreted: `60s` and `1m` are different contents.

use sha2::{Digest, Sha256};

use super::keys::{self, Known};
use super::problem::Problem;
use super::source::{Content, Key, Mark, Node};
use super::step_type;
use crate::json::Json;

/// The canonical JSON of a definition. `id` is put in where the definition has none.
///
/// # Errors
/// When the text is neither YAML nor JSON. Whether the definition makes sense is not looked at.
pub fn canonical(source: &str, id: Option<&str>) -> Result<Json, Problem> {
    Ok(canonical_node(Node::parse(source)?, id).to_json())
}

/// The SHA-256 of a canonical text.
#[must_use]
pub fn content_hash(canonical: &Json) -> [u8; 32] {
    Sha256::digest(canonical.as_str().as_bytes()).into()
}

/// The same as a tree.
pub(super) fn canonical_node(node: Node, id: Option<&str>) -> Node {
    let mut node = ordered(node, keys::WORKFLOW);
    if let Some(Content::Sequence(steps)) = member(&mut node, "steps").map(|it| &mut it.content) {
        steps.iter_mut().for_each(order_config);
    }
    if let (Content::Mapping(members), Some(id)) = (&mut node.content, id) {
        let written = members
            .iter()
            .any(|(key, value)| &*key.text == "id" && value.content != Content::Null);
        if !written {
            members.retain(|(key, _)| &*key.text != "id");
            let key = Key {
                mark: Mark::START,
                text: "id".into(),
            };
            let value = Node {
                mark: Mark::START,
                content: Content::String(id.into()),
            };
            members.insert(0, (key, value));
        }
    }
    node
}

/// The keys of `config` depend on the step's type.
fn order_config(step: &mut Node) {
    let written = member(step, "type").and_then(|it| it.as_str().and_then(step_type::named));
    if let (Some(step_type), Some(config)) = (written, member(step, "config")) {
        let mark = config.mark;
        let nothing = Node {
            mark,
            content: Content::Null,
        };
        *config = ordered(std::mem::replace(config, nothing), step_type.keys);
    }
}

fn member<'a>(node: &'a mut Node, name: &str) -> Option<&'a mut Node> {
    let Content::Mapping(members) = &mut node.content else {
        return None;
    };
    let found = members.iter_mut().find(|(key, _)| &*key.text == name);
    found.map(|(_, value)| value)
}

/// Keys renamed to their documented spelling and put in the order of the table; keys that are not
/// in the table follow in the order of the text.
pub(crate) fn ordered(node: Node, table: &'static [Known]) -> Node {
    let Node { mark, content } = node;
    let content = match content {
        Content::Mapping(members) => {
            let place = |key: &Key| table.iter().position(|known| known.is(&key.text));
            let mut placed: Vec<_> = members
                .into_iter()
                .map(|(key, value)| (place(&key).unwrap_or(usize::MAX), key, value))
                .collect();
            placed.sort_by_key(|(place, ..)| *place);
            let named = |(place, key, value): (usize, Key, Node)| match table.get(place) {
                // A hint for editors, no part of the content.
                Some(known) if known.name == "$schema" => None,
                Some(known) => Some(renamed(known, &key, value)),
                None => Some((key, value)),
            };
            Content::Mapping(placed.into_iter().filter_map(named).collect())
        }
        Content::Sequence(items) if !table.is_empty() => {
            Content::Sequence(items.into_iter().map(|item| ordered(item, table)).collect())
        }
        other => other,
    };
    Node { mark, content }
}

fn renamed(known: &'static Known, key: &Key, value: Node) -> (Key, Node) {
    let mut value = if known.below.is_empty() {
        value
    } else {
        ordered(value, known.below)
    };
    if known.name == "type"
        && let Content::String(text) = &value.content
    {
        value.content = Content::String(text.to_ascii_lowercase().into());
    }
    (
        Key {
            mark: key.mark,
            text: known.name.into(),
        },
        value,
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::definition::{ParseOptions, Workflow};

    const YAML: &str = "
# a comment
steps:
  - type: HTTP
    id: a
    output_mapping: {z: $.x, a: $.y}
    config: {max_response_bytes: 1024, url: 'https://x.example/', body: {z: 1.50, a_b: no}}
$schema: https://x.example/schema
retry: {backoff_strategy: fixed, max_retries: 3}
id: w
";

    const JSON: &str = r#"{"id":"w","retry":{"maxRetries":3,"strategy":"fixed"},"steps":[{"id":"a",
        "type":"http","config":{"url":"https://x.example/","body":{"z":1.50,"a_b":"no"},
        "maxResponseBytes":1024},"outputMapping":{"z":"$.x","a":"$.y"}}]}"#;

    #[test]
    fn equal_contents_have_one_text() {
        let text = canonical(YAML, None).unwrap();
        assert_eq!(text, canonical(JSON, None).unwrap());
        assert_eq!(
            text.as_str(),
            r#"{"id":"w","retry":{"maxRetries":3,"strategy":"fixed"},"steps":[{"id":"a","type":"http","config":{"url":"https://x.example/","body":{"z":1.50,"a_b":"no"},"maxResponseBytes":1024},"outputMapping":{"z":"$.x","a":"$.y"}}]}"#
        );
        assert_eq!(
            text,
            canonical(text.as_str(), None).unwrap(),
            "canonical text is its own"
        );
        let other = canonical(&JSON.replace("1.50", "1.5"), None).unwrap();
        assert_ne!(content_hash(&text), content_hash(&other));
    }

    #[test]
    fn the_canonical_text_means_the_same_workflow() {
        let options = ParseOptions::default();
        let text = canonical(YAML, None).unwrap();
        assert_eq!(
            Workflow::parse(text.as_str(), &options).unwrap(),
            Workflow::parse(YAML, &options).unwrap()
        );
    }

    #[test]
    fn the_id_is_put_in() {
        let without = YAML.replace("id: w", "");
        assert_eq!(
            canonical(&without, Some("w")).unwrap(),
            canonical(YAML, Some("w")).unwrap()
        );
        assert!(
            canonical(YAML, Some("v"))
                .unwrap()
                .as_str()
                .contains("\"id\":\"w\"")
        );
    }

    #[test]
    fn the_order_of_a_body_is_content() {
        let swapped = JSON.replace(r#""z":1.50,"a_b":"no""#, r#""a_b":"no","z":1.50"#);
        assert_ne!(
            canonical(JSON, None).unwrap(),
            canonical(&swapped, None).unwrap()
        );
    }

    #[test]
    fn known_hash() {
        let hash = content_hash(&Json::empty_object());
        assert_eq!(hash[..4], [0x44, 0x13, 0x6f, 0xa3]);
        assert_eq!(hash[28..], [0x1c, 0xaa, 0xff, 0x8a]);
    }
}
