//! What a change takes back: a field that is set to `null` goes back to its default, so there must be
//! such a field. What is set to anything else is looked at with the whole trigger.

use refire_schedule::nearest;

use super::keys::{CRON, SCHEDULE, WEBHOOK};
use super::written::Written;
use crate::definition::keys::{Known, snake};
use crate::definition::source::{Content, Key, Node};
use crate::definition::{Problem, Problems};

/// The kinds and their fields.
const KINDS: [(&str, &[Known]); 3] = [("cron", CRON), ("schedule", SCHEDULE), ("webhook", WEBHOOK)];

/// Everything that a change of a trigger of this kind takes back although there is no such field. What
/// is stored under a name that nobody knows any more may be taken back: that mends it.
pub(super) fn unknown(kind: &str, stored: &Written, change: &Written) -> Problems {
    let table = KINDS.into_iter().find(|(name, _)| *name == kind);
    let table = table.map_or(WEBHOOK, |(_, table)| table);
    let mut problems = Problems::new();
    for (key, node) in change.members() {
        let known = table.iter().find(|known| known.is(&key.text));
        match known {
            Some(known) => below(known, stored.node.get(known.name), key, node, &mut problems),
            None if stored.node.get(&snake(&key.text)).is_some() => {}
            None if node.content != Content::Null => {}
            None => {
                let names = table.iter().map(|known| known.name);
                let hint = elsewhere(&key.text).unwrap_or_else(|| meant(&key.text, names));
                problems.push(refused(&key.text, key, hint));
            }
        }
    }
    problems
}

/// The same for the members of a field.
fn below(known: &Known, stored: Option<&Node>, above: &Key, node: &Node, problems: &mut Problems) {
    let Content::Mapping(members) = &node.content else {
        return;
    };
    let is_none = |key: &Key| {
        let is_stored = stored.is_some_and(|stored| stored.get(&key.text).is_some());
        !is_stored && !known.below.iter().any(|known| known.is(&key.text))
    };
    for (key, node) in members {
        if !known.below.is_empty() && node.content == Content::Null && is_none(key) {
            let path = format!("{}.{}", above.text, key.text);
            let names = known.below.iter().map(|known| known.name);
            problems.push(refused(&path, key, meant(&key.text, names)));
        }
    }
}

fn refused(path: &str, key: &Key, hint: String) -> Problem {
    let message = format!("unknown key \"{}\"", key.text);
    Problem::new(path, key.mark, message).with_hint(hint)
}

/// Which kinds have the field.
fn elsewhere(key: &str) -> Option<String> {
    let has = |table: &[Known]| table.iter().any(|known| known.is(key));
    let kinds: Vec<String> = KINDS
        .iter()
        .filter(|(_, table)| has(table))
        .map(|(name, _)| format!("`{name}`"))
        .collect();
    let kinds = kinds.join(" and ");
    (!kinds.is_empty()).then(|| format!("it belongs to triggers of type {kinds}"))
}

fn meant(key: &str, names: impl Iterator<Item = &'static str>) -> String {
    let names: Vec<&str> = names.collect();
    let near = nearest(&key.replace('-', "_"), names.iter().copied());
    // One that begins in the same way, such as `filter` for `filters`.
    let near = near.or_else(|| {
        let begins = |name: &&&str| key.len() > 2 && name.starts_with(key);
        names.iter().find(begins).copied()
    });
    match near {
        Some(name) => format!("did you mean \"{name}\"?"),
        None => format!("use one of {}", names.join(", ")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn said(kind: &str, change: &str) -> Vec<String> {
        let change = Written::parse(change).unwrap();
        let stored = r#"{"fading":1,"dead_man":{"fading":1}}"#;
        let stored = Written::stored(stored).unwrap();
        let problems = unknown(kind, &stored, &change);
        let told = |problem: &Problem| {
            let hint = problem.hint.as_deref().unwrap_or_default();
            format!("{}: {}; {hint}", problem.path, problem.message)
        };
        problems.iter().map(told).collect()
    }

    #[test]
    fn what_is_taken_back_must_be_there() {
        for (kind, change, expected) in [
            ("cron", r#"{"jiter":null}"#, r#"did you mean "jitter"?"#),
            ("cron", r#"{"every":null}"#, "type `schedule`"),
            ("cron", r#"{"ip_allow":null}"#, "type `webhook`"),
            (
                "cron",
                r#"{"foo":null}"#,
                r#"unknown key "foo"; use one of trigger_type, name, "#,
            ),
            (
                "cron",
                r#"{"dead_man":{"grase":null}}"#,
                r#"dead_man.grase: unknown key "grase"; did you mean "grace"?"#,
            ),
            (
                "webhook",
                r#"{"ip-allow":null}"#,
                r#"ip-allow: unknown key "ip-allow"; did you mean "ip_allow"?"#,
            ),
            (
                "webhook",
                r#"{"filter":null}"#,
                r#"did you mean "filters"?"#,
            ),
            (
                "webhook",
                r#"{"jitter":null}"#,
                "type `cron` and `schedule`",
            ),
        ] {
            let said = said(kind, change);
            assert!(
                said.len() == 1 && said[0].contains(expected),
                "{change}: {said:?}"
            );
        }
        for (kind, change) in [
            ("cron", r#"{"jitter":null,"misfireMax":null,"cron":null}"#),
            ("schedule", r#"{"every":null,"dst":{"gap":null}}"#),
            ("webhook", r#"{"ipAllow":null,"filters":null,"name":null}"#),
            // It stands there, and mends the trigger when it goes.
            ("cron", r#"{"fading":null,"dead_man":{"fading":null}}"#),
            // What is not taken back is looked at elsewhere.
            ("cron", r#"{"foo":1,"input":{"foo":null}}"#),
        ] {
            assert_eq!(said(kind, change), [""; 0], "{change}");
        }
    }
}
