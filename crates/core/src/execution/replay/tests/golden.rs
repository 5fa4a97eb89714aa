//! Golden histories: logs that are recorded once and that every later build must read alike.
//!
//! Each history here is a definition and a script. The first time it is recorded into
//! `tests/golden/<name>.json`; from then on the file is the truth and `tests/golden.rs` checks it
//! without looking at the scripts. Recording is
//!
//! ```text
//! REFIRE_UPDATE=1 cargo test -p refire-core --lib golden
//! ```
//!
//! and writes only files that are missing. A file that exists is never written again, whatever
//! the rules say today: it stands for logs in databases that nobody can write again either. A
//! behaviour that changes needs new rules (`RULES`) beside the old ones, and a new history.

mod callbacks;
mod failing;
mod file;
mod flow;
mod history;
mod letters;
mod losses;
mod open;
mod pauses;
mod retries;
mod second_rules;
mod start;
mod strange;
mod tasks;
mod undoing;

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use self::file::{Manifest, Recorded, Row};
use self::history::History;
use super::histories::SCENARIOS;
use crate::execution::{RULES, has_rules};

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden")
}

/// Every history that this build can record.
fn all() -> Vec<History> {
    let mut all: Vec<History> = SCENARIOS.iter().map(History::of_scenario).collect();
    all.extend(flow::histories());
    all.extend(start::histories());
    all.extend(retries::histories());
    all.extend(failing::histories());
    all.extend(undoing::histories());
    all.extend(pauses::histories());
    all.extend(losses::histories());
    all.extend(letters::histories());
    all.extend(open::histories());
    all.extend(strange::histories());
    all.extend(second_rules::histories());
    all.extend(tasks::histories());
    all.extend(callbacks::histories());
    all
}

#[test]
fn names_are_their_own() {
    let names: Vec<String> = all().iter().map(History::file_name).collect();
    let different: BTreeSet<&String> = names.iter().collect();
    assert_eq!(different.len(), names.len(), "{names:#?}");
}

#[test]
fn every_history_is_recorded_and_comes_out_today_as_it_was_recorded() {
    let mut missing = Vec::new();
    for history in all() {
        let name = history.file_name();
        let Ok(text) = fs::read_to_string(folder().join(&name)) else {
            missing.push((name, history.record(&history.play(RULES)).text()));
            continue;
        };
        let stored = Recorded::read(&text);
        // An execution goes on under the rules it began with, whatever came after them. Of rules that
        // this build does not have the script says so itself.
        let rules = Some(stored.rules()).filter(|rules| has_rules(*rules));
        let log = history.play(rules.unwrap_or(RULES));
        let events: Vec<Row> = log.iter().map(Row::of).collect();
        assert_eq!(stored.definition, history.lines(), "{name}");
        assert_eq!(stored.events, events, "{name}");
    }
    if std::env::var_os("REFIRE_UPDATE").is_some() {
        let mut manifest = Manifest::read(&folder());
        for (name, text) in missing.drain(..) {
            manifest.add(&name, &text);
            fs::write(folder().join(name), text).unwrap();
        }
        manifest.write(&folder());
    }
    let names: Vec<&String> = missing.iter().map(|(name, _)| name).collect();
    assert!(
        names.is_empty(),
        "not recorded: {names:#?}\nREFIRE_UPDATE=1 cargo test -p refire-core --lib golden records \
         what is missing and touches nothing else"
    );
}
