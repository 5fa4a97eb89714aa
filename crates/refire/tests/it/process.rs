//! The real binary as a process: started, heard out until it is ready, signalled, ended.

use std::fs::File;
use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Child, Command, ExitStatus, Stdio};

/// A server's process. It ends with this value.
pub(crate) struct Process {
    child: Child,
    pub(crate) url: String,
}

/// A server that ended before it was ready.
#[derive(Debug)]
pub(crate) struct Refused {
    pub(crate) status: ExitStatus,
    pub(crate) log: String,
}

impl Process {
    /// Starts it and waits until it says where it is. What it logs is added to the file `log`.
    pub(crate) fn start(mut command: Command, log: &Path) -> Result<Self, Refused> {
        let stderr = File::options().create(true).append(true).open(log).unwrap();
        let mut child = command
            .stdout(Stdio::piped())
            .stderr(stderr)
            .spawn()
            .unwrap();
        let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
        let url = loop {
            let Some(Ok(line)) = lines.next() else {
                return Err(Refused {
                    status: child.wait().unwrap(),
                    log: std::fs::read_to_string(log).unwrap_or_default(),
                });
            };
            if let Some((_, url)) = line.split_once("is ready at ") {
                break url.trim().to_owned();
            }
        };
        // Somebody must read the rest, or the server would find its terminal gone.
        std::thread::spawn(move || lines.for_each(drop));
        Ok(Self { child, url })
    }

    /// Ends it without a word.
    pub(crate) fn kill(&mut self) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
    }

    /// Sends a signal, by name.
    pub(crate) fn signal(&self, name: &str) {
        // The shell has a `kill` of its own, so that none must be installed.
        let kill = format!("kill -s {name} {}", self.child.id());
        let sent = Command::new("sh").args(["-c", &kill]).status();
        assert!(sent.unwrap().success());
    }

    /// How it ended, if it has.
    pub(crate) fn ended(&mut self) -> Option<ExitStatus> {
        self.child.try_wait().unwrap()
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// `refire serve` with nothing of the outer environment, and its settings in the environment, where
/// flags go over them.
pub(crate) fn command(home: &Path) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_refire"));
    command
        .env_clear()
        .env("REFIRE_LISTEN", "127.0.0.1:0")
        .env("REFIRE_DATA_DIR", "data")
        // Most targets here fail on purpose, and all of them are one host. What is left alone by breakers
        // has tests of its own, which turn them on.
        .env("REFIRE_BREAKERS", "off")
        .current_dir(home)
        .arg("serve");
    command
}
