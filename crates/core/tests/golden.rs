//! Golden histories: stored logs that this build must read exactly as the build that wrote them.
//!
//! A file in `tests/golden` stands for logs in people's databases. It holds the definition, the
//! events row by row as a store keeps them, a snapshot from the middle, the state that they fold
//! to and what deriving them again must say. Files are added and never changed: the unit tests
//! (`replay/tests/golden.rs`) record new ones with `REFIRE_UPDATE=1`, which writes only what is
//! missing. If a test here fails after a change of the rules, the change is wrong for the logs
//! that exist; the old rules must stay beside the new ones.
#![expect(clippy::unwrap_used, reason = "a test that cannot go on should panic")]

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::LazyLock;

use refire_core::dead_letter::Reason;
use refire_core::definition::{ParseOptions, StepId, Workflow};
use refire_core::execution::replay::{Replay, replay};
use refire_core::execution::{
    Command, Event, EventKind, EventRow, Execution, Refusal, Status, apply, decide, fold, has_rules,
};
use refire_core::failure::ErrorClass;
use refire_core::time::Timestamp;
use serde::Deserialize;
use serde_json::value::RawValue;
use sha2::{Digest, Sha256};

/// There were never fewer: a set that shrinks forgets a promise.
const HISTORIES_MIN: usize = 157;

#[derive(Deserialize)]
struct File {
    about: String,
    definition: Vec<String>,
    events: Vec<Row>,
    snapshot: Snapshot,
    state: Box<RawValue>,
    ends: String,
    replay: String,
    changed: Vec<Changed>,
}

#[derive(Deserialize)]
struct Row {
    sequence: u64,
    r#type: String,
    v: u16,
    at: i64,
    step: Option<String>,
    attempt: Option<u32>,
    backoff_ms: Option<u64>,
    reason: Option<String>,
    payload: Payload,
}

/// A payload's text; long runs of one character are counted instead of written.
#[derive(Deserialize)]
#[serde(untagged)]
enum Payload {
    Text(String),
    Parts(Vec<Part>),
}

#[derive(Deserialize)]
#[serde(untagged)]
enum Part {
    Text(String),
    Run { repeat: String, times: usize },
}

#[derive(Deserialize)]
struct Snapshot {
    version: u64,
    state: Box<RawValue>,
}

#[derive(Deserialize)]
struct Changed {
    replace: String,
    with: String,
    finds: String,
}

/// A history, read.
struct History {
    name: String,
    source: String,
    rows: Vec<EventRow>,
    log: Vec<Event>,
    file: File,
}

impl Row {
    fn stored(&self) -> EventRow {
        let payload = match &self.payload {
            Payload::Text(text) => text.clone(),
            Payload::Parts(parts) => parts
                .iter()
                .map(|part| match part {
                    Part::Text(text) => text.clone(),
                    Part::Run { repeat, times } => repeat.repeat(*times),
                })
                .collect(),
        };
        EventRow {
            sequence: self.sequence,
            name: self.r#type.clone().into(),
            v: self.v,
            at: Timestamp::from_micros(self.at),
            step: self.step.clone(),
            attempt: self.attempt,
            backoff_ms: self.backoff_ms,
            reason: self.reason.clone(),
            payload: payload.into_bytes(),
        }
    }
}

impl History {
    fn read(path: &Path) -> Self {
        let name = path.file_name().unwrap().to_str().unwrap().to_owned();
        let text = fs::read_to_string(path).unwrap();
        let file: File = serde_json::from_str(&text).unwrap_or_else(|e| panic!("{name}: {e}"));
        let rows: Vec<EventRow> = file.events.iter().map(Row::stored).collect();
        let decode = |row| Event::decode(row).unwrap_or_else(|e| panic!("{name}: {e}: {row:?}"));
        let log = rows.iter().map(decode).collect();
        let source = file.definition.iter().map(|line| format!("{line}\n"));
        Self {
            source: source.collect(),
            rows,
            log,
            file,
            name,
        }
    }

    fn workflow(&self) -> Workflow {
        parse(&self.source).unwrap_or_else(|problems| panic!("{}: {problems}", self.name))
    }
}

fn parse(source: &str) -> Result<Workflow, String> {
    Workflow::parse(source, &ParseOptions::default()).map_err(|problems| format!("{problems:?}"))
}

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden")
}

/// Every history; read once, because two of them are long.
static ALL: LazyLock<Vec<History>> = LazyLock::new(|| {
    let mut paths: Vec<PathBuf> = fs::read_dir(folder())
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.extension().is_some_and(|it| it == "json"))
        .collect();
    paths.sort();
    assert!(paths.len() >= HISTORIES_MIN, "only {} files", paths.len());
    paths.iter().map(|path| History::read(path)).collect()
});

fn json(state: &Execution) -> String {
    serde_json::to_string(state).unwrap()
}

/// What a replay found, in the words of the files.
fn say(replay: &Replay) -> String {
    replay
        .first_difference
        .as_ref()
        .map_or_else(|| "identical".to_owned(), ToString::to_string)
}

#[test]
fn no_file_is_missing_added_by_hand_or_changed() {
    let manifest = fs::read_to_string(folder().join("MANIFEST")).unwrap();
    let mut known = BTreeSet::new();
    for line in manifest.lines() {
        let (hash, name) = line.split_once("  ").unwrap();
        assert!(known.insert(name.to_owned()), "{name} is listed twice");
        let bytes = fs::read(folder().join(name))
            .unwrap_or_else(|error| panic!("{name} is gone ({error}); recorded logs stay"));
        let found: String = Sha256::digest(&bytes)
            .iter()
            .map(|byte| format!("{byte:02x}"))
            .collect();
        assert_eq!(
            found, hash,
            "{name} was changed; recorded logs stay as they were"
        );
    }
    let there: BTreeSet<String> = fs::read_dir(folder())
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .filter(|name| name != "MANIFEST")
        .collect();
    let strangers: Vec<&String> = there.difference(&known).collect();
    assert!(strangers.is_empty(), "MANIFEST does not list {strangers:?}");
    assert!(
        known.len() >= HISTORIES_MIN,
        "only {} are listed",
        known.len()
    );
}

#[test]
fn every_row_is_written_again_byte_for_byte() {
    for history in ALL.iter() {
        for (row, event) in history.rows.iter().zip(&history.log) {
            assert_eq!(&event.encode(), row, "{}", history.name);
        }
    }
}

#[test]
fn every_log_folds_to_its_state() {
    for History {
        name, log, file, ..
    } in ALL.iter()
    {
        let state = fold(log);
        assert_eq!(json(&state), file.state.get(), "{name}: {}", file.about);
        assert_eq!(json(&fold(log)), json(&state), "{name}: the second time");
        let stored: Execution = serde_json::from_str(file.state.get()).unwrap();
        assert_eq!(stored, state, "{name}: as a snapshot");
        let word = |status| serde_json::to_string(status).unwrap().replace('"', "");
        let steps = state.steps.iter();
        let steps: Vec<String> = steps
            .map(|(id, step)| format!("{id} {}", word(&step.status)))
            .collect();
        assert_eq!(
            file.ends,
            format!("{}: {}", state.status, steps.join(", ")),
            "{name}"
        );
    }
}

#[test]
fn a_snapshot_changes_nothing_wherever_it_was_made() {
    for History {
        name, log, file, ..
    } in ALL.iter()
    {
        let end = file.state.get();
        let mut before = Execution::empty();
        for (at, event) in log.iter().enumerate() {
            before = apply(before, event);
            let restored: Execution = serde_json::from_str(&json(&before)).unwrap();
            let after = log[at + 1..].iter().fold(restored, apply);
            assert_eq!(
                json(&after),
                end,
                "{name}: a snapshot after event {}",
                at + 1
            );
            if event.sequence == file.snapshot.version {
                assert_eq!(
                    json(&before),
                    file.snapshot.state.get(),
                    "{name}: the stored one"
                );
            }
        }
        let stored: Execution = serde_json::from_str(file.snapshot.state.get()).unwrap();
        assert!((1..=log.len() as u64).contains(&stored.version), "{name}");
        let version = stored.version;
        let later = log.iter().filter(|event| event.sequence > version);
        assert_eq!(
            json(&later.fold(stored, apply)),
            end,
            "{name}: from the stored snapshot"
        );
    }
}

#[test]
fn every_log_is_derived_again_from_its_definition() {
    for history in ALL.iter() {
        let History {
            name, log, file, ..
        } = history;
        let found = replay(&history.workflow(), log);
        assert_eq!(say(&found), file.replay, "{name}: {}", file.about);
        if found.is_identical() {
            assert_eq!(found.events, log.len() as u64, "{name}");
            assert_eq!(json(&found.state), file.state.get(), "{name}");
        } else {
            let knows_all = log.iter().all(|event| !is_unknown(event)) && has_rules(rules(log));
            assert!(!knows_all, "{name}: only what is not known here may differ");
        }
    }
}

fn is_unknown(event: &Event) -> bool {
    matches!(event.kind, EventKind::Unknown(_))
}

fn rules(log: &[Event]) -> u16 {
    fold(log).origin.unwrap().rules
}

#[test]
fn a_changed_definition_is_noticed_where_it_first_matters() {
    for history in ALL.iter() {
        let History {
            name,
            log,
            file,
            source,
            ..
        } = history;
        assert!(!file.changed.is_empty(), "{name}");
        for Changed {
            replace,
            with,
            finds,
        } in &file.changed
        {
            assert_eq!(source.matches(replace).count(), 1, "{name}: {replace}");
            let changed = parse(&source.replace(replace, with)).unwrap();
            let found = replay(&changed, log);
            assert_ne!(say(&found), "identical", "{name}: {with}");
            assert_eq!(&say(&found), finds, "{name}: {with}");
        }
    }
}

#[test]
fn a_log_with_a_hole_is_noticed() {
    for history in ALL.iter() {
        let workflow = history.workflow();
        for hole in 0..history.log.len() - 1 {
            let mut log = history.log.clone();
            log.remove(hole);
            let found = replay(&workflow, &log);
            assert!(
                !found.is_identical(),
                "{}: without {}",
                history.name,
                hole + 1
            );
        }
    }
}

#[test]
fn a_changed_attempt_wait_or_step_is_noticed_where_it_stands_or_before() {
    let mut noticed = 0;
    for history in ALL.iter() {
        let workflow = history.workflow();
        for at in 0..history.log.len() {
            let mut log = history.log.clone();
            let event = &mut log[at];
            match (event.backoff_ms, event.attempt, &event.step) {
                (Some(ms), ..) if at % 2 == 0 => event.backoff_ms = Some(ms + 1),
                (_, Some(attempt), _) if at % 3 > 0 => event.attempt = Some(attempt + 1),
                (.., Some(_)) => event.step = Some(StepId::new("elsewhere").unwrap()),
                _ => continue,
            }
            let changed = format!("{}: event {}", history.name, at + 1);
            let found = replay(&workflow, &log).first_difference;
            let found = found.unwrap_or_else(|| panic!("{changed} was changed"));
            assert!(found.sequence <= at as u64 + 1, "{changed}, found: {found}");
            noticed += 1;
        }
    }
    assert!(noticed > 1_000, "only {noticed}");
}

#[test]
fn what_this_build_has_no_rules_for_is_refused_and_not_guessed_at() {
    let mut refused = 0;
    for history in ALL.iter() {
        let rules = rules(&history.log);
        let pause = Command::Pause { by: None };
        let state = fold(&history.log);
        let answer = decide(&history.workflow(), &state, pause, state.updated_at);
        if !has_rules(rules) {
            assert_eq!(
                answer,
                Err(Refusal::UnknownRules(rules)),
                "{}",
                history.name
            );
            refused += 1;
        }
    }
    assert!(refused > 0, "a history of other rules is among them");
}

#[test]
fn everything_that_can_happen_is_in_one_of_them() {
    let histories = &*ALL;
    let names: BTreeSet<&str> = histories
        .iter()
        .flat_map(|history| history.rows.iter().map(|row| &*row.name))
        .collect();
    for name in EventKind::NAMES {
        assert!(names.contains(name), "no history has {name}");
    }
    let states: Vec<Execution> = histories.iter().map(|history| fold(&history.log)).collect();
    for status in Status::ALL {
        let found = states.iter().any(|state| state.status == status);
        assert!(found, "no history is {status}");
    }
    let texts: String = histories
        .iter()
        .flat_map(|history| &history.file.events)
        .filter_map(|row| match &row.payload {
            Payload::Text(text) => Some(text.as_str()),
            Payload::Parts(_) => None,
        })
        .collect();
    for class in ErrorClass::ALL {
        assert!(
            texts.contains(&format!("\"type\":\"{class}\"")),
            "no {class}"
        );
    }
    // The other reasons belong to step types that this build does not have.
    for reason in [
        Reason::Exhausted,
        Reason::NonRetryable,
        Reason::NodeLost,
        Reason::CompensationFailed,
        Reason::HistoryLimit,
    ] {
        let found = states.iter().any(|state| state.dlq_reason == Some(reason));
        assert!(found, "no letter says {}", reason.name());
    }
    let definitions: String = histories.iter().map(|it| it.source.as_str()).collect();
    for word in [
        "none",
        "proportional",
        "additive",
        "full",
        "equal",
        "decorrelated",
        "fixed",
        "linear",
        "exponential",
        "maxElapsed",
        "maxDelay",
        "compensate",
        "outputMapping",
        "when",
        "needs",
        "concurrency",
        "rateLimit",
        "deadLetter",
        "type: http",
        "??",
    ] {
        assert!(definitions.contains(word), "no definition has {word}");
    }
}
