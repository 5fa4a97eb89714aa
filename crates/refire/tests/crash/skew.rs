//! Nodes whose machines show another time. `faketime` comes between the server and the wall clock; the
//! clock that only counts is left alone, as on a machine whose time was set wrongly.

use std::path::Path;
use std::process::Command;
use std::time::Duration;

use refire_core::time::Timestamp;

use crate::node::Node;
use crate::tracer::tool;

/// How long a server may take to start.
const STARTS_WITHIN: Duration = Duration::from_secs(20);

/// How far a machine's clock is off.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Skew {
    Ahead(Duration),
    Behind(Duration),
}

impl Skew {
    /// The same node on such a machine.
    pub(crate) fn of(self, node: Node) -> Node {
        let offset = match self {
            Self::Ahead(by) => format!("+{}s", by.as_secs()),
            Self::Behind(by) => format!("-{}s", by.as_secs()),
        };
        node.with("LD_PRELOAD", &library())
            .with("FAKETIME", &offset)
            .with("FAKETIME_DONT_FAKE_MONOTONIC", "1")
    }

    /// Whether what a server wrote at a moment has the time of such a machine.
    #[track_caller]
    pub(crate) fn must_show(self, log: &str, started: Timestamp) {
        let first = log.split_whitespace().find_map(|word| word.parse().ok());
        let shown: Timestamp = first.expect("the log has a time");
        let about = match self {
            Self::Ahead(by) => started.plus(by),
            Self::Behind(by) => started.minus(by),
        };
        let is_off = shown >= about && shown <= about.plus(STARTS_WITHIN);
        assert!(is_off, "started at {started}, {self:?}: {shown}");
    }
}

/// What is loaded before the server, so that it is told another time.
fn library() -> String {
    let faketime = tool("faketime").expect("faketime is missing: scripts/test-tools installs it");
    let asked = Command::new(faketime)
        .args(["-m", "-f", "+0s"])
        .arg(tool("printenv").unwrap_or_else(|| Path::new("printenv").to_owned()))
        .arg("LD_PRELOAD")
        .output()
        .unwrap();
    String::from_utf8(asked.stdout).unwrap().trim().to_owned()
}
