//! A PostgreSQL of a test's own, to be stopped and started at will.

use std::path::{Path, PathBuf};
use std::process::Command;

/// Ends with this value.
pub(crate) struct Cluster {
    pub(crate) url: String,
    pub(crate) folder: PathBuf,
}

impl Cluster {
    pub(crate) fn start() -> Self {
        // If this process is killed, it ends all the same.
        let said = postgres(&["start", &std::process::id().to_string()]);
        let mut lines = said.lines();
        Self {
            url: lines.next().unwrap().to_owned(),
            folder: lines.next().unwrap().into(),
        }
    }

    /// Ends the server as a crash would, and leaves its data.
    pub(crate) fn down(&self) {
        self.tell("down", &["immediate"]);
    }

    /// Starts it again.
    pub(crate) fn up(&self) {
        self.tell("up", &[]);
    }

    pub(crate) fn tell(&self, what: &str, more: &[&str]) {
        let mut args = vec![what, self.folder.to_str().unwrap()];
        args.extend(more);
        postgres(&args);
    }
}

impl Drop for Cluster {
    fn drop(&mut self) {
        let stopped = Command::new(script())
            .arg("stop")
            .arg(&self.folder)
            .status();
        if !stopped.is_ok_and(|status| status.success()) {
            eprintln!("the cluster in {} was not stopped", self.folder.display());
        }
    }
}

fn script() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../scripts/postgres")
}

fn postgres(args: &[&str]) -> String {
    let output = Command::new(script()).args(args).output().unwrap();
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{args:?}: {said}");
    String::from_utf8(output.stdout).unwrap()
}
