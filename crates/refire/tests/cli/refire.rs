//! Runs the binary in an empty directory, with nothing of the developer's environment.

use std::ffi::OsString;
use std::path::Path;

use assert_cmd::Command;
use tempfile::TempDir;

/// Settings of the developer's own server, which no test may meet.
pub(crate) fn own_settings() -> impl Iterator<Item = OsString> {
    let names = std::env::vars_os().map(|(name, _)| name);
    names.filter(|name| name.to_string_lossy().starts_with("REFIRE_"))
}

/// A place to run the binary in.
pub(crate) struct Place {
    directory: TempDir,
}

/// What a run left behind.
#[derive(Debug)]
pub(crate) struct Run {
    pub(crate) code: i32,
    pub(crate) out: String,
    pub(crate) err: String,
}

impl Place {
    pub(crate) fn new() -> Self {
        Self {
            directory: tempfile::tempdir().unwrap(),
        }
    }

    pub(crate) fn path(&self) -> &Path {
        self.directory.path()
    }

    pub(crate) fn write(&self, name: &str, text: &str) {
        std::fs::write(self.path().join(name), text).unwrap();
    }

    /// The binary, ready for more settings.
    pub(crate) fn command(&self) -> Command {
        let mut command = assert_cmd::cargo::cargo_bin_cmd!("refire");
        command.current_dir(self.path());
        for name in own_settings() {
            command.env_remove(name);
        }
        command.env_remove("EDITOR").env_remove("VISUAL");
        command
    }

    pub(crate) fn run(&self, args: &[&str]) -> Run {
        Run::of(self.command().args(args))
    }

    pub(crate) fn run_with(&self, args: &[&str], stdin: &str) -> Run {
        Run::of(self.command().args(args).write_stdin(stdin))
    }
}

impl Run {
    pub(crate) fn of(command: &mut Command) -> Self {
        let output = command.output().unwrap();
        let text = |bytes| String::from_utf8(bytes).unwrap();
        Self {
            code: output.status.code().unwrap_or(-1),
            out: text(output.stdout),
            err: text(output.stderr),
        }
    }

    /// The run, which must have ended with this code.
    #[track_caller]
    pub(crate) fn code(self, expected: i32) -> Self {
        assert_eq!(self.code, expected, "{self:#?}");
        self
    }

    /// The standard output as JSON.
    #[track_caller]
    pub(crate) fn json(&self) -> serde_json::Value {
        serde_json::from_str(&self.out).unwrap_or_else(|error| panic!("{error}: {self:#?}"))
    }
}
