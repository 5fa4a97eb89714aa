//! The house rules that a compiler cannot check.
#![expect(clippy::unwrap_used, reason = "a test that cannot go on should panic")]

#[path = "tidy/stamp.rs"]
mod stamp;

use std::fs;
use std::path::{Path, PathBuf};

/// Lines a source file may have, tests included; beyond it is more than one concept.
const FILE_LINES_MAX: usize = 600;

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../..")
        .canonicalize()
        .unwrap()
}

fn sources(below: &Path, found: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(below).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            sources(&path, found);
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            found.push(path);
        }
    }
}

fn all_sources() -> Vec<PathBuf> {
    let mut found = Vec::new();
    for folder in ["crates", "examples", "bench", "fuzz/src", "fuzz/targets"] {
        sources(&root().join(folder), &mut found);
    }
    assert!(found.len() > 50, "the sources were found");
    found
}

fn name(path: &Path) -> String {
    path.strip_prefix(root()).unwrap().display().to_string()
}

#[test]
fn every_module_says_what_it_is_for() {
    let silent: Vec<String> = all_sources()
        .iter()
        .filter(|path| !fs::read_to_string(path).unwrap().starts_with("//!"))
        // A crate whose README is its documentation.
        .filter(|path| {
            !fs::read_to_string(path)
                .unwrap()
                .contains("include_str!(\"../README.md\")")
        })
        .map(|path| name(path))
        .collect();
    assert!(
        silent.is_empty(),
        "these begin without a `//!` line: {silent:#?}"
    );
}

#[test]
fn no_file_is_several_concepts() {
    let long: Vec<String> = all_sources()
        .iter()
        .map(|path| {
            (
                fs::read_to_string(path).unwrap().lines().count(),
                name(path),
            )
        })
        .filter(|(lines, _)| *lines > FILE_LINES_MAX)
        .map(|(lines, name)| format!("{name} has {lines} lines"))
        .collect();
    assert!(long.is_empty(), "over {FILE_LINES_MAX} lines: {long:#?}");
}

#[test]
fn no_buckets() {
    let buckets: Vec<String> = all_sources()
        .iter()
        .filter(|path| {
            let stem = path.file_stem().unwrap().to_str().unwrap();
            [
                "util", "utils", "common", "helper", "helpers", "types", "misc",
            ]
            .contains(&stem)
        })
        .map(|path| name(path))
        .collect();
    assert!(
        buckets.is_empty(),
        "a name that says nothing attracts code: {buckets:#?}"
    );
}

#[test]
fn dependencies_point_one_way() {
    let forbidden = [
        (
            "retry",
            &[
                "refire-core",
                "refire-store",
                "refire-engine",
                "rusqlite",
                "axum",
            ][..],
        ),
        (
            "schedule",
            &[
                "refire-core",
                "refire-store",
                "refire-engine",
                "tokio",
                "rusqlite",
                "axum",
                "reqwest",
            ][..],
        ),
        (
            "core",
            &[
                "refire-store",
                "refire-engine",
                "tokio",
                "rusqlite",
                "axum",
                "reqwest",
            ][..],
        ),
        ("store", &["refire-engine", "axum", "reqwest", "hyper"][..]),
        ("engine", &["refire-client", "axum", "rusqlite", "clap"][..]),
        (
            "client",
            &["refire-core", "refire-store", "refire-engine", "axum"][..],
        ),
    ];
    for (krate, names) in forbidden {
        let manifest = fs::read_to_string(root().join("crates").join(krate).join("Cargo.toml"));
        let manifest = manifest.unwrap();
        let dependencies = manifest.split("[dependencies]").nth(1).unwrap();
        let dependencies = dependencies.split("\n[").next().unwrap();
        for name in names {
            let uses = dependencies.lines().any(|line| {
                line.split(['.', ' ', '='])
                    .next()
                    .is_some_and(|dependency| dependency == *name)
            });
            assert!(!uses, "crates/{krate} must not depend on {name}");
        }
    }
}

/// All that keeps and finds, without the suite that tries it.
fn sources_of_the_store() -> Vec<PathBuf> {
    let mut found = Vec::new();
    sources(&root().join("crates/store/src"), &mut found);
    found.retain(|path| !path.to_str().unwrap().contains("store/src/conformance"));
    found
}

#[test]
fn stores_never_judge() {
    for path in sources_of_the_store() {
        // Names are data; variants are meaning.
        let text = fs::read_to_string(&path).unwrap();
        let text = text.replace("EventKind::NAMES", "");
        assert!(
            !text.contains("EventKind::"),
            "{} looks inside an event",
            name(&path)
        );
    }
}

/// Words of core's lists, and numbers of its rules, are in no statement of a backend: those that must be
/// are in `crates/store/src/words.rs`.
#[test]
fn backends_have_no_words_and_numbers_of_core() {
    use refire_core::dead_letter::LetterStatus;
    use refire_core::execution::{EventKind, Status, TriggerKind};
    use refire_core::trigger::Outcome;
    use refire_core::webhook::RequestStatus;

    let outcomes = Outcome::ALL.iter();
    let words = outcomes
        .flat_map(|outcome| [outcome.reason(), Some(outcome.status().name())])
        .flatten()
        .chain(Status::ALL.map(Status::name))
        .chain(LetterStatus::ALL.map(LetterStatus::name))
        .chain(RequestStatus::ALL.map(RequestStatus::name))
        .chain(TriggerKind::ALL.map(TriggerKind::name))
        .chain(EventKind::NAMES.iter().copied());
    let in_sql = words.map(|word| format!("'{word}'"));
    let in_code = EventKind::NAMES.iter().map(|name| format!("\"{name}\""));
    let words: Vec<String> = in_sql.chain(in_code).collect();
    let is_tested = |path: &PathBuf| {
        let path = path.to_str().unwrap();
        // The one whose own tests name an event has no statements.
        let excused = ["tests.rs", "store/src/words.rs", "store/src/checksum.rs"];
        !excused.iter().any(|end| path.ends_with(end))
    };
    for path in sources_of_the_store().into_iter().filter(is_tested) {
        let text = fs::read_to_string(&path).unwrap();
        for word in &words {
            assert!(!text.contains(word), "{} knows {word}", name(&path));
        }
        for before in ["LIMIT ", "OFFSET ", "VALUES (", "share = "] {
            for place in text.split(before).skip(1) {
                let digits = place.chars().take_while(char::is_ascii_digit).count();
                let number = &place[..digits];
                assert!(digits < 2, "{} counts: {before}{number}", name(&path));
            }
        }
    }
}

#[test]
fn what_the_architecture_names_exists() {
    let text = fs::read_to_string(root().join("ARCHITECTURE.md")).unwrap();
    let gone: Vec<&str> = text
        .split('`')
        .filter(|word| {
            ["crates/", "docs/", "examples/", "bench/"]
                .iter()
                .any(|start| word.starts_with(start))
        })
        .filter(|word| !root().join(word).exists())
        .collect();
    assert!(
        gone.is_empty(),
        "named in ARCHITECTURE.md but not there: {gone:#?}"
    );
}

/// A server error, an undocumented status or an answer that is not as described is never excused.
#[test]
fn exceptions_of_schemathesis_have_reasons_and_excuse_no_fault_of_ours() {
    let settings = fs::read_to_string(root().join("crates/refire/tests/schemathesis.toml"));
    let settings = settings.unwrap();
    let excusable = ["positive_data_acceptance", "negative_data_rejection"];
    let (rules, exceptions) = settings
        .split_once("# Everything below is an exception.")
        .unwrap();
    assert!(!rules.contains("= false\n[") && rules.contains("[checks]\nenabled = true"));
    assert!(!rules.contains("checks."), "exceptions stand below");
    let mut count = 0;
    for block in exceptions
        .split("\n\n")
        .filter(|block| !block.trim().is_empty())
    {
        assert!(block.trim().starts_with("# "), "without a reason: {block}");
        for line in block.lines().filter(|line| line.starts_with("checks.")) {
            let known = excusable
                .iter()
                .any(|check| *line == format!("checks.{check}.enabled = false"));
            assert!(known, "{line}");
            count += 1;
        }
    }
    assert!(count > 0, "the list was found");
}
