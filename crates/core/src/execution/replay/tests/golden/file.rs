//! The files: one per history, and the manifest that knows them all.

use std::fmt::Write as _;
use std::fs;
use std::path::Path;

use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;
use sha2::{Digest, Sha256};

use crate::execution::Event;

/// A run of one character at least this long is written as a number, so that a history at the
/// limit of its bytes makes a small file.
const RUN_LENGTH_MIN: usize = 1_000;

/// A history as its file says it.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct Recorded {
    pub(super) about: String,
    /// The lines of the definition's text.
    pub(super) definition: Vec<String>,
    pub(super) events: Vec<Row>,
    pub(super) snapshot: Snapshot,
    pub(super) state: Box<RawValue>,
    /// The state in a few words.
    pub(super) ends: String,
    /// What deriving the log again finds.
    pub(super) replay: String,
    pub(super) changed: Vec<Changed>,
}

/// An event as a store keeps it; columns that are empty are left out.
#[derive(Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct Row {
    sequence: u64,
    r#type: String,
    v: u16,
    /// Microseconds since 1970.
    at: i64,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    step: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    attempt: Option<u32>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    backoff_ms: Option<u64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    reason: Option<String>,
    payload: Payload,
}

/// The payload's text, or its parts where a part is too long to be written out.
#[derive(Debug, PartialEq, Serialize, Deserialize)]
#[serde(untagged)]
enum Payload {
    Text(String),
    Parts(Vec<Part>),
}

#[derive(Debug, PartialEq, Serialize, Deserialize)]
#[serde(untagged)]
enum Part {
    Text(String),
    Run { repeat: char, times: usize },
}

/// A state as a store kept it on the way.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct Snapshot {
    pub(super) version: u64,
    pub(super) state: Box<RawValue>,
}

/// A change of the definition and the first difference it makes.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct Changed {
    pub(super) replace: String,
    pub(super) with: String,
    pub(super) finds: String,
}

impl Row {
    pub(super) fn of(event: &Event) -> Self {
        let row = event.encode();
        Self {
            sequence: row.sequence,
            r#type: row.name.into_owned(),
            v: row.v,
            at: row.at.as_micros(),
            step: row.step,
            attempt: row.attempt,
            backoff_ms: row.backoff_ms,
            reason: row.reason,
            payload: Payload::of(String::from_utf8(row.payload).unwrap()),
        }
    }
}

impl Payload {
    fn of(text: String) -> Self {
        let mut parts = Vec::new();
        let mut written = 0;
        let mut at = 0;
        for run in text.as_bytes().chunk_by(|a, b| a == b) {
            if run.len() >= RUN_LENGTH_MIN && run[0].is_ascii() {
                parts.push(Part::Text(text[written..at].to_owned()));
                parts.push(Part::Run {
                    repeat: run[0].into(),
                    times: run.len(),
                });
                written = at + run.len();
            }
            at += run.len();
        }
        if parts.is_empty() {
            return Self::Text(text);
        }
        parts.push(Part::Text(text[written..].to_owned()));
        Self::Parts(parts)
    }
}

impl Recorded {
    pub(super) fn read(text: &str) -> Self {
        serde_json::from_str(text).unwrap_or_else(|error| panic!("{error} in\n{text}"))
    }

    /// The rules that made it.
    pub(super) fn rules(&self) -> u16 {
        #[derive(Deserialize)]
        struct State {
            origin: Origin,
        }
        #[derive(Deserialize)]
        struct Origin {
            rules: u16,
        }
        let state: State = serde_json::from_str(self.state.get()).unwrap();
        state.origin.rules
    }

    /// The file: one line per event, so that a difference can be read.
    pub(super) fn text(&self) -> String {
        let mut out = String::from("{\n");
        let _ = writeln!(out, "  \"about\": {},", json(&self.about));
        list(&mut out, "definition", &self.definition);
        list(&mut out, "events", &self.events);
        let _ = writeln!(out, "  \"snapshot\": {},", json(&self.snapshot));
        let _ = writeln!(out, "  \"state\": {},", json(&self.state));
        let _ = writeln!(out, "  \"ends\": {},", json(&self.ends));
        let _ = writeln!(out, "  \"replay\": {},", json(&self.replay));
        list(&mut out, "changed", &self.changed);
        out.truncate(out.len() - ",\n".len());
        out + "\n}\n"
    }
}

fn json<T: Serialize>(value: &T) -> String {
    serde_json::to_string(value).unwrap()
}

fn list<T: Serialize>(out: &mut String, name: &str, items: &[T]) {
    let items: Vec<String> = items
        .iter()
        .map(|item| format!("    {}", json(item)))
        .collect();
    let _ = writeln!(out, "  \"{name}\": [\n{}\n  ],", items.join(",\n"));
}

/// Every file with its SHA-256, in the form of `sha256sum`, the oldest first. A line stays for
/// ever: `tests/golden.rs` compares.
pub(super) struct Manifest(String);

impl Manifest {
    const NAME: &'static str = "MANIFEST";

    pub(super) fn read(folder: &Path) -> Self {
        Self(fs::read_to_string(folder.join(Self::NAME)).unwrap_or_default())
    }

    /// Adds a file that was not there. One that was and is gone must come back as it was.
    pub(super) fn add(&mut self, name: &str, text: &str) {
        let hash = Sha256::digest(text.as_bytes());
        let hash: String = hash.iter().map(|byte| format!("{byte:02x}")).collect();
        let line = format!("{hash}  {name}");
        match self
            .0
            .lines()
            .find(|known| known.ends_with(&format!("  {name}")))
        {
            None => self.0 += &format!("{line}\n"),
            Some(known) => assert_eq!(
                known, line,
                "{name} was recorded before and would come out changed; bring the file back"
            ),
        }
    }

    pub(super) fn write(&self, folder: &Path) {
        fs::write(folder.join(Self::NAME), &self.0).unwrap();
    }
}
