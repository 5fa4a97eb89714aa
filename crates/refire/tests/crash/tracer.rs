//! A server under `strace`, which lets its system calls on the database's files fail, or kills it at
//! one of them.

use std::collections::{BTreeMap, HashMap};
use std::path::{Path, PathBuf};
use std::process::Command;

/// The calls that change a database's files or make the change durable. Strace counts each kind for
/// itself, and for each thread.
pub(crate) const WRITES: [&str; 5] = ["pwrite64", "fsync", "fdatasync", "ftruncate", "unlink"];

/// What strace does to the server.
pub(crate) struct Tracer {
    database: PathBuf,
    /// What is added to the database's name for each file that is looked at.
    suffixes: &'static [&'static str],
    output: PathBuf,
    fault: Option<String>,
}

impl Tracer {
    /// Only writes down the calls; into a file in `home`.
    pub(crate) fn watches(home: &Path, database: &Path) -> Self {
        Self {
            database: database.to_owned(),
            suffixes: &["", "-wal", "-shm", "-journal"],
            output: home.join("strace.out"),
            fault: None,
        }
    }

    /// Looks at the database's file only, not at its log.
    pub(crate) fn only_the_file(mut self) -> Self {
        self.suffixes = &[""];
        self
    }

    /// The first thread that makes so many calls of this kind is killed instead of making the
    /// last, and the process with it.
    pub(crate) fn kills_at(self, call: &str, count: u32) -> Self {
        self.with(format!("{call}:signal=KILL:when={count}"))
    }

    /// A thread that asks so many times whether the disk has it is told by the last answer, and by
    /// all later ones, that the disk is broken.
    pub(crate) fn fails_syncs_from(self, count: u32) -> Self {
        self.with(format!("fsync,fdatasync:error=EIO:when={count}+"))
    }

    fn with(mut self, fault: String) -> Self {
        self.fault = Some(fault);
        self
    }

    /// The command under strace. The tracer stands aside, so that the process that is started is
    /// still the server.
    pub(crate) fn wrap(&self, command: &Command) -> Command {
        let mut traced = Command::new(tool("strace").unwrap());
        traced
            .args(["--daemonize", "--follow-forks", "--quiet=all"])
            .arg(format!("--output={}", self.output.display()))
            .arg(format!("--trace={}", WRITES.join(",")))
            .args(self.fault.iter().map(|fault| format!("--inject={fault}")));
        for suffix in self.suffixes {
            let mut path = self.database.clone().into_os_string();
            path.push(suffix);
            traced.arg("--trace-path").arg(path);
        }
        traced.arg("--").arg(command.get_program());
        traced.args(command.get_args());
        traced.env_clear();
        for (name, value) in command.get_envs() {
            if let Some(value) = value {
                traced.env(name, value);
            }
        }
        if let Some(directory) = command.get_current_dir() {
            traced.current_dir(directory);
        }
        traced
    }

    /// What strace wrote down.
    pub(crate) fn seen(&self) -> String {
        std::fs::read_to_string(&self.output).unwrap_or_default()
    }

    /// The calls that were made to fail.
    pub(crate) fn injected(&self) -> Vec<String> {
        let seen = self.seen();
        let injected = seen.lines().filter(|line| line.contains("(INJECTED)"));
        injected.map(str::to_owned).collect()
    }

    /// How many calls of each kind the busiest thread made.
    pub(crate) fn counts(&self) -> BTreeMap<&'static str, u32> {
        let mut by_thread: HashMap<(String, &'static str), u32> = HashMap::new();
        for line in self.seen().lines() {
            let mut words = line.split_whitespace();
            let (Some(thread), Some(rest)) = (words.next(), words.next()) else {
                continue;
            };
            let name = rest.split('(').next().unwrap_or_default();
            if let Some(call) = WRITES.iter().find(|call| **call == name) {
                *by_thread.entry((thread.to_owned(), call)).or_default() += 1;
            }
        }
        let mut counts = BTreeMap::new();
        for ((_, call), count) in by_thread {
            let most = counts.entry(call).or_insert(0);
            *most = count.max(*most);
        }
        counts
    }
}

/// Why a server cannot be traced here; none = it can.
pub(crate) fn cannot_trace() -> Option<String> {
    let strace = tool("strace").expect("strace is missing: scripts/test-tools installs it");
    let tried = Command::new(strace)
        .args(["--daemonize", "--output=/dev/null", "true"])
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&tried.stderr).into_owned();
    let is_able = tried.status.success() && said.is_empty();
    (!is_able).then(|| format!("processes cannot be traced here: {said}"))
}

/// Where a program is, if it is installed.
pub(crate) fn tool(name: &str) -> Option<PathBuf> {
    ["/usr/bin", "/usr/sbin", "/bin", "/sbin", "/usr/local/bin"]
        .iter()
        .map(|folder| Path::new(folder).join(name))
        .find(|path| path.exists())
}
