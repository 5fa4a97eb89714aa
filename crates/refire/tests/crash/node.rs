//! The server under attack: the real binary on a data directory, killed and started at will.

use std::path::{Path, PathBuf};
use std::process::{Command, ExitStatus};
use std::sync::{Arc, PoisonError, RwLock};
use std::time::{Duration, Instant};

use crate::GLANCE;
use crate::process::{Process, Refused, command};

/// The key of every server here.
pub(crate) const KEY: &str = "rf_a_key_for_the_crash_tests";

/// Where the server is reached at the moment; a restart moves it.
#[derive(Clone, Default)]
pub(crate) struct Door(Arc<RwLock<String>>);

impl Door {
    pub(crate) fn url(&self) -> String {
        self.0
            .read()
            .unwrap_or_else(PoisonError::into_inner)
            .clone()
    }

    fn moves(&self, url: &str) {
        url.clone_into(&mut self.0.write().unwrap_or_else(PoisonError::into_inner));
    }
}

/// A server, running or not, on one data directory.
pub(crate) struct Node {
    process: Option<Process>,
    home: PathBuf,
    data: PathBuf,
    door: Door,
    environment: Vec<(&'static str, String)>,
}

impl Node {
    /// Not started yet. Its log is kept in `home`, which may be another disk than the data's.
    pub(crate) fn new(home: &Path, data: &Path) -> Self {
        Self {
            process: None,
            home: home.to_owned(),
            data: data.to_owned(),
            door: Door::default(),
            environment: Vec::new(),
        }
    }

    /// With one more variable in its environment.
    pub(crate) fn with(mut self, name: &'static str, value: &str) -> Self {
        self.environment.push((name, value.to_owned()));
        self
    }

    pub(crate) fn door(&self) -> Door {
        self.door.clone()
    }

    pub(crate) fn database(&self) -> PathBuf {
        self.data.join("refire.db")
    }

    fn log_file(&self) -> PathBuf {
        self.home.join("server.log")
    }

    /// The command that starts it.
    fn command(&self) -> Command {
        let mut command = command(&self.home);
        command
            .env("REFIRE_ADMIN_KEY", KEY)
            .envs(self.environment.iter().map(|(name, value)| (name, value)))
            .arg("--dev")
            .arg("--data-dir")
            .arg(&self.data);
        command
    }

    /// Starts it; it must start.
    #[track_caller]
    pub(crate) fn start(&mut self) {
        if let Err(Refused { status, log }) = self.try_start() {
            panic!("the server did not start ({status}):\n{log}");
        }
    }

    /// Starts it, or tells how it ended instead.
    pub(crate) fn try_start(&mut self) -> Result<(), Refused> {
        self.start_as(|command| command)
    }

    /// The same with the command wrapped into another.
    pub(crate) fn start_as(
        &mut self,
        wrap: impl FnOnce(Command) -> Command,
    ) -> Result<(), Refused> {
        assert!(self.process.is_none(), "it runs already");
        let process = Process::start(wrap(self.command()), &self.log_file())?;
        self.door.moves(&process.url);
        self.process = Some(process);
        Ok(())
    }

    /// Ends it without a word.
    pub(crate) fn kill(&mut self) {
        if let Some(mut process) = self.process.take() {
            process.kill();
        }
    }

    /// Asks it to stop.
    pub(crate) fn terminate(&self) {
        self.process.as_ref().unwrap().signal("TERM");
    }

    /// It stands still, and does not know it.
    pub(crate) fn freeze(&self) {
        self.process.as_ref().unwrap().signal("STOP");
    }

    /// It goes on.
    pub(crate) fn thaw(&self) {
        self.process.as_ref().unwrap().signal("CONT");
    }

    /// Whether it has ended, by itself or by somebody else's hand.
    pub(crate) fn has_ended(&mut self) -> bool {
        let process = self.process.as_mut();
        process.is_none_or(|process| process.ended().is_some())
    }

    /// Waits for its end, so long.
    #[track_caller]
    pub(crate) fn ends_within(&mut self, limit: Duration) -> ExitStatus {
        let until = Instant::now() + limit;
        let process = self.process.as_mut().unwrap();
        loop {
            if let Some(status) = process.ended() {
                self.process = None;
                return status;
            }
            assert!(
                Instant::now() < until,
                "the server did not end within {limit:?}"
            );
            std::thread::sleep(GLANCE);
        }
    }

    /// Stops it in order, which must go well.
    #[track_caller]
    pub(crate) fn stop(&mut self) {
        self.terminate();
        let status = self.ends_within(Duration::from_secs(30));
        assert!(status.success(), "it stopped with {status}");
    }

    /// What all its processes logged.
    pub(crate) fn log(&self) -> String {
        std::fs::read_to_string(self.log_file()).unwrap_or_default()
    }
}

impl Drop for Node {
    fn drop(&mut self) {
        self.kill();
        if std::thread::panicking() {
            eprintln!("--- the server's log ---\n{}", shortened(&self.log()));
        }
    }
}

/// Lines shown of each end of a long log.
const LINES_SHOWN: usize = 100;

/// The beginning and the end of a long text.
fn shortened(text: &str) -> String {
    let lines: Vec<&str> = text.lines().collect();
    if lines.len() <= 2 * LINES_SHOWN {
        return text.to_owned();
    }
    let left_out = lines.len() - 2 * LINES_SHOWN;
    let head = lines[..LINES_SHOWN].join("\n");
    let tail = lines[lines.len() - LINES_SHOWN..].join("\n");
    format!("{head}\n… {left_out} lines …\n{tail}")
}
