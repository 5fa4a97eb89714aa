//! What an edit changed in a JSON value, place by place.

use std::collections::BTreeMap;

use refire_client::model::Change;
use refire_core::json::{Elements, Json, Kind, Members};

use super::raw;
use crate::api::Problem;

/// Places that are told; an edit with more is told as one change of the whole.
const CHANGES_MAX: usize = 200;

/// The changes from one value to another, members by name, additions last.
pub(crate) fn changes(old: &Json, new: &Json) -> Result<Vec<Change>, Problem> {
    let mut found = Vec::new();
    compare("", old, new, &mut found);
    if found.len() > CHANGES_MAX {
        found = vec![(String::new(), Some(old.clone()), Some(new.clone()))];
    }
    found
        .into_iter()
        .map(|(path, old, new)| change(path, old.as_ref(), new.as_ref()))
        .collect()
}

fn change(path: String, old: Option<&Json>, new: Option<&Json>) -> Result<Change, Problem> {
    let kind = match (old, new) {
        (None, _) => "added",
        (_, None) => "removed",
        _ => "changed",
    };
    Ok(Change {
        path,
        kind: kind.to_owned(),
        old: old.map(raw).transpose()?,
        new: new.map(raw).transpose()?,
    })
}

type Found = Vec<(String, Option<Json>, Option<Json>)>;

/// Received JSON is at most 128 levels deep, so this can call itself.
fn compare(path: &str, old: &Json, new: &Json, found: &mut Found) {
    match (old.kind(), new.kind()) {
        _ if old == new || found.len() > CHANGES_MAX => {}
        (Kind::Object, Kind::Object) => {
            let (old, new) = (members(old), members(new));
            for (key, before) in &old {
                both(join(path, key), Some(before), new.get(key), found);
            }
            for (key, after) in new.iter().filter(|(key, _)| !old.contains_key(*key)) {
                both(join(path, key), None, Some(after), found);
            }
        }
        (Kind::Array, Kind::Array) => {
            let (old, new) = (elements(old), elements(new));
            for at in 0..old.len().max(new.len()) {
                both(format!("{path}[{at}]"), old.get(at), new.get(at), found);
            }
        }
        _ => found.push((path.to_owned(), Some(old.clone()), Some(new.clone()))),
    }
}

fn both(path: String, old: Option<&Json>, new: Option<&Json>, found: &mut Found) {
    match (old, new) {
        (Some(old), Some(new)) => compare(&path, old, new, found),
        _ => found.push((path, old.cloned(), new.cloned())),
    }
}

fn join(path: &str, key: &str) -> String {
    if path.is_empty() {
        key.to_owned()
    } else {
        format!("{path}.{key}")
    }
}

/// The last of several members with one name counts, as for most readers.
fn members(json: &Json) -> BTreeMap<String, Json> {
    Members::of(json.as_str())
        .filter_map(|(key, value)| Some((key.into_owned(), Json::parse(value).ok()?)))
        .collect()
}

fn elements(json: &Json) -> Vec<Json> {
    Elements::of(json.as_str())
        .filter_map(|value| Json::parse(value).ok())
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn told(old: &str, new: &str) -> Vec<String> {
        let parse = |text: &str| Json::parse(text).unwrap();
        let text = |raw: Option<refire_client::model::Raw>| raw.map(|raw| raw.get().to_owned());
        changes(&parse(old), &parse(new))
            .unwrap()
            .into_iter()
            .map(|change| {
                let (old, new) = (text(change.old), text(change.new));
                format!("{} {} {old:?} {new:?}", change.kind, change.path)
            })
            .collect()
    }

    #[test]
    fn changes_are_found_where_they_are() {
        assert_eq!(told(r#"{"a":1}"#, r#"{"a":1}"#), Vec::<String>::new());
        assert_eq!(
            told(
                r#"{"a":{"b":[1,2]},"c":1}"#,
                r#"{"a":{"b":[1,3,4]},"d":null}"#
            ),
            [
                r#"changed a.b[1] Some("2") Some("3")"#,
                r#"added a.b[2] None Some("4")"#,
                r#"removed c Some("1") None"#,
                r#"added d None Some("null")"#,
            ]
        );
        assert_eq!(
            told("[1]", r#"{"a":1}"#),
            [r#"changed  Some("[1]") Some("{\"a\":1}")"#]
        );
    }

    #[test]
    fn a_large_edit_is_one_change() {
        let list = |from: u32| {
            let numbers: Vec<_> = (from..from + 500)
                .map(|number| number.to_string())
                .collect();
            format!("[{}]", numbers.join(","))
        };
        assert_eq!(told(&list(0), &list(1)).len(), 1);
    }
}
