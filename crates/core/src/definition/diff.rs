//! What changed between two definitions, place by place.
//!
//! Steps are matched by their id, so that a step that moved is not a change of all others.

use serde::Serialize;

use super::canonical::canonical_node;
use super::fields::join;
use super::problem::Problem;
use super::source::{Content, Node};
use crate::json::Json;

/// One difference.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Change {
    /// Where, such as `steps[notify].config.url`.
    pub path: String,
    /// What happened there.
    pub kind: ChangeKind,
    /// The value before.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub old: Option<Json>,
    /// The value after.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub new: Option<Json>,
}

/// The kinds of difference.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum ChangeKind {
    /// Only the new definition has it.
    Added,
    /// Only the old definition has it.
    Removed,
    /// Both have it, with different values.
    Changed,
    /// Both have it, at another place in the order.
    Moved,
}

/// The differences between two definitions in YAML or JSON, in the order of the old one, added
/// parts after it.
///
/// # Errors
/// When one of the texts is neither YAML nor JSON.
pub fn diff(old: &str, new: &str) -> Result<Vec<Change>, Problem> {
    let old = canonical_node(Node::parse(old)?, None);
    let new = canonical_node(Node::parse(new)?, None);
    let mut changes = Vec::new();
    compare("", &old, &new, &mut changes);
    Ok(changes)
}

fn compare(path: &str, old: &Node, new: &Node, changes: &mut Vec<Change>) {
    match (&old.content, &new.content) {
        (Content::Mapping(before), Content::Mapping(after)) => {
            let before: Vec<_> = before
                .iter()
                .map(|(key, value)| (&*key.text, value))
                .collect();
            let after: Vec<_> = after
                .iter()
                .map(|(key, value)| (&*key.text, value))
                .collect();
            compare_named(&before, &after, |key| join(path, key), changes);
        }
        (Content::Sequence(before), Content::Sequence(after)) => {
            match (by_id(before), by_id(after)) {
                (Some(before), Some(after)) => {
                    compare_named(&before, &after, |id| format!("{path}[{id}]"), changes);
                    report_moves(path, &before, &after, changes);
                }
                _ => compare_lists(path, before, after, changes),
            }
        }
        _ if same(old, new) => {}
        _ => changes.push(Change {
            path: path.to_owned(),
            kind: ChangeKind::Changed,
            old: Some(old.to_json()),
            new: Some(new.to_json()),
        }),
    }
}

/// The elements by their `id`, if each has one and no two are the same.
fn by_id(items: &[Node]) -> Option<Vec<(&str, &Node)>> {
    let mut named: Vec<(&str, &Node)> = Vec::with_capacity(items.len());
    for item in items {
        let id = item.get("id")?.as_str()?;
        if named.iter().any(|(known, _)| *known == id) {
            return None;
        }
        named.push((id, item));
    }
    (!named.is_empty()).then_some(named)
}

fn compare_named(
    before: &[(&str, &Node)],
    after: &[(&str, &Node)],
    path: impl Fn(&str) -> String,
    changes: &mut Vec<Change>,
) {
    let find =
        |list: &[(&str, &Node)], name: &str| list.iter().position(|(known, _)| *known == name);
    for (name, old) in before {
        match find(after, name) {
            Some(at) => compare(&path(name), old, after[at].1, changes),
            None => changes.push(removed(path(name), old)),
        }
    }
    for (name, new) in after {
        if find(before, name).is_none() {
            changes.push(added(path(name), new));
        }
    }
}

/// The order of steps matters where no step has `needs`; only what stayed is compared.
fn report_moves(
    path: &str,
    before: &[(&str, &Node)],
    after: &[(&str, &Node)],
    changes: &mut Vec<Change>,
) {
    let kept = |list: &[(&str, &Node)], other: &[(&str, &Node)]| -> Vec<String> {
        let stays = |name: &str| other.iter().any(|(known, _)| *known == name);
        list.iter()
            .filter(|(name, _)| stays(name))
            .map(|(name, _)| (*name).to_owned())
            .collect()
    };
    let (old, new) = (kept(before, after), kept(after, before));
    if old != new {
        changes.push(Change {
            path: path.to_owned(),
            kind: ChangeKind::Moved,
            old: Some(names(&old)),
            new: Some(names(&new)),
        });
    }
}

fn names(list: &[String]) -> Json {
    let mut array = crate::json::ArrayBuilder::new();
    list.iter().for_each(|name| array.push(&Json::string(name)));
    array.build()
}

fn compare_lists(path: &str, before: &[Node], after: &[Node], changes: &mut Vec<Change>) {
    for (at, (old, new)) in before.iter().zip(after).enumerate() {
        compare(&format!("{path}[{at}]"), old, new, changes);
    }
    for (at, old) in before.iter().enumerate().skip(after.len()) {
        changes.push(removed(format!("{path}[{at}]"), old));
    }
    for (at, new) in after.iter().enumerate().skip(before.len()) {
        changes.push(added(format!("{path}[{at}]"), new));
    }
}

fn added(path: String, node: &Node) -> Change {
    Change {
        path,
        kind: ChangeKind::Added,
        old: None,
        new: Some(node.to_json()),
    }
}

fn removed(path: String, node: &Node) -> Change {
    Change {
        path,
        kind: ChangeKind::Removed,
        old: Some(node.to_json()),
        new: None,
    }
}

/// Equal but for the place in the text.
fn same(old: &Node, new: &Node) -> bool {
    match (&old.content, &new.content) {
        (Content::Sequence(_) | Content::Mapping(_), _)
        | (_, Content::Sequence(_) | Content::Mapping(_)) => old.to_json() == new.to_json(),
        (before, after) => before == after,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn told(old: &str, new: &str) -> Vec<String> {
        let text = |json: &Option<Json>| {
            json.as_ref()
                .map_or_else(|| "-".to_owned(), Json::to_string)
        };
        diff(old, new)
            .unwrap()
            .iter()
            .map(|c| format!("{:?} {} {} {}", c.kind, c.path, text(&c.old), text(&c.new)))
            .collect()
    }

    const OLD: &str = "id: w\nretry: {maxRetries: 3}\nsteps:\n  - {id: a, type: http, config: {url: 'http://x/'}}\n  - {id: b, type: local, needs: [a], config: {task: t}}\n";

    #[test]
    fn spelling_is_no_difference() {
        let new = OLD
            .replace("maxRetries", "max_retries")
            .replace("http,", "HTTP,");
        assert_eq!(told(OLD, &new), Vec::<String>::new());
    }

    #[test]
    fn steps_are_matched_by_id() {
        let new = "id: w\ndescription: new\nsteps:\n  - {id: c, type: local, config: {task: u}}\n  - {id: b, type: local, needs: [a, c], config: {task: t}}\n  - {id: a, type: http, config: {url: 'http://y/', timeout: 5s}}\n";
        assert_eq!(
            told(OLD, new),
            [
                "Removed retry {\"maxRetries\":3} -",
                "Changed steps[a].config.url \"http://x/\" \"http://y/\"",
                "Added steps[a].config.timeout - \"5s\"",
                "Added steps[b].needs[1] - \"c\"",
                "Added steps[c] - {\"id\":\"c\",\"type\":\"local\",\"config\":{\"task\":\"u\"}}",
                "Moved steps [\"a\",\"b\"] [\"b\",\"a\"]",
                "Added description - \"new\"",
            ]
        );
    }

    #[test]
    fn odd_shapes_are_compared_all_the_same() {
        assert_eq!(told("a: [1, 2]", "a: [1]"), ["Removed a[1] 2 -"]);
        assert_eq!(told("a: [1]", "a: {b: 1}"), ["Changed a [1] {\"b\":1}"]);
        assert_eq!(told("a: []", "a: []"), Vec::<String>::new());
        assert_eq!(
            told("steps: [{id: x}, {id: x}]", "steps: [{id: x}]").len(),
            1
        );
        assert!(diff("a: [", "a: 1").is_err());
        let change = &diff("a: 1", "a: 2").unwrap()[0];
        assert_eq!(
            serde_json::to_string(change).unwrap(),
            r#"{"path":"a","kind":"changed","old":1,"new":2}"#
        );
    }
}
