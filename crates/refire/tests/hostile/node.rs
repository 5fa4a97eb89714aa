//! The server under attack: the real binary, and what the system says about its process.

use std::net::SocketAddr;
use std::path::Path;
use std::process::Command;
use std::time::{Duration, Instant};

use reqwest::{Client, Method, RequestBuilder};
use serde_json::Value;
use tempfile::TempDir;

use crate::process::{Process, command};

/// The key of every server here.
pub(crate) const KEY: &str = "rf_a_key_for_hostile_tests";
/// Longer than anything that is waited for.
const PATIENCE: Duration = Duration::from_secs(60);
/// Between two looks at something that changes by itself.
const GLANCE: Duration = Duration::from_millis(50);
/// Shorter than the server keeps an idle connection, so that none is used that it just closed.
const POOL_IDLE: Duration = Duration::from_secs(5);
/// What it logs, beside its data.
const LOG: &str = "server.log";

/// A running server.
pub(crate) struct Node {
    process: Process,
    pid: u32,
    pub(crate) http: Client,
    home: TempDir,
}

impl Node {
    pub(crate) fn start() -> Self {
        Self::start_as(|command| command)
    }

    /// The same with its command changed or wrapped into another.
    pub(crate) fn start_as(change: impl FnOnce(Command) -> Command) -> Self {
        let home = tempfile::tempdir().unwrap();
        let mut command = command(home.path());
        command.arg("--dev").env("REFIRE_ADMIN_KEY", KEY);
        let process = Process::start(change(command), &home.path().join(LOG));
        let process = process.unwrap_or_else(|refused| {
            panic!("it did not start ({}): {}", refused.status, refused.log)
        });
        let http = Client::builder()
            .no_proxy()
            .timeout(PATIENCE)
            .pool_idle_timeout(POOL_IDLE)
            .build();
        Self {
            pid: pid_in(home.path()),
            process,
            http: http.unwrap(),
            home,
        }
    }

    pub(crate) fn pid(&self) -> u32 {
        self.pid
    }

    pub(crate) fn address(&self) -> SocketAddr {
        let address = self.process.url.strip_prefix("http://").unwrap();
        address.parse().unwrap()
    }

    pub(crate) fn log(&self) -> String {
        std::fs::read_to_string(self.home.path().join(LOG)).unwrap_or_default()
    }

    pub(crate) fn request(&self, method: Method, path: &str) -> RequestBuilder {
        let url = format!("{}{path}", self.process.url);
        self.http.request(method, url).bearer_auth(KEY)
    }

    pub(crate) async fn get(&self, path: &str) -> Value {
        json(self.request(Method::GET, path)).await
    }

    pub(crate) async fn post(&self, path: &str, body: String) -> Value {
        json(self.request(Method::POST, path).body(body)).await
    }

    /// Saves a workflow of one POST that is retried once. `config` has more of the step's settings.
    pub(crate) async fn apply(&self, id: &str, url: &str, config: &str) {
        let definition = format!(
            "id: {id}\nretry: {{ maxRetries: 1, initialDelay: 100ms, strategy: fixed, jitter: none }}\n\
             steps:\n  - id: call\n    type: http\n    config:\n      method: POST\n      \
             url: \"{url}\"\n      body: \"${{input}}\"\n      {config}\n"
        );
        let path = format!("/api/workflows/{id}");
        json(self.request(Method::PUT, &path).body(definition)).await;
    }

    /// Stops it in order, which it can only if it still runs.
    pub(crate) async fn stop(mut self) {
        self.process.signal("TERM");
        let until = Instant::now() + PATIENCE;
        let status = loop {
            if let Some(status) = self.process.ended() {
                break status;
            }
            assert!(Instant::now() < until, "it does not end");
            tokio::time::sleep(GLANCE).await;
        };
        assert!(status.success(), "it ended with {status}");
    }

    /// What the system says about its memory under this name, in bytes.
    fn memory(&self, name: &str) -> u64 {
        let status = self.proc("status");
        let line = status.lines().find_map(|line| line.strip_prefix(name));
        let kib: u64 = line
            .and_then(|rest| rest.trim_start_matches(':').split_whitespace().next())
            .and_then(|number| number.parse().ok())
            .unwrap();
        kib * 1024
    }

    /// Bytes of memory that it holds.
    pub(crate) fn resident(&self) -> u64 {
        self.memory("VmRSS")
    }

    /// The most that it held since [`Node::forget_peak`].
    pub(crate) fn peak(&self) -> u64 {
        self.memory("VmHWM")
    }

    /// Measures the peak from now on.
    pub(crate) fn forget_peak(&self) {
        const PEAK: &str = "5";
        std::fs::write(format!("/proc/{}/clear_refs", self.pid), PEAK).unwrap();
    }

    /// Files that it has open.
    pub(crate) fn files(&self) -> usize {
        let open = std::fs::read_dir(format!("/proc/{}/fd", self.pid));
        open.unwrap().count()
    }

    /// Time of processors that it used.
    pub(crate) fn busy(&self) -> Duration {
        /// What the kernel counts in, for every program.
        const TICKS_PER_SECOND: u32 = 100;
        let stat = self.proc("stat");
        // After the name in brackets: the state is the first, user and system time follow.
        let (_, fields) = stat.rsplit_once(')').unwrap();
        let fields: Vec<&str> = fields.split_whitespace().collect();
        let ticks: u32 = fields[11..13]
            .iter()
            .map(|field| field.parse::<u32>().unwrap())
            .sum();
        Duration::from_secs(1) * ticks / TICKS_PER_SECOND
    }

    /// Waits until it has no more files open than this; how many there are.
    pub(crate) async fn files_fall_to(&self, most: usize) -> usize {
        let until = Instant::now() + PATIENCE;
        loop {
            let open = self.files();
            if open <= most {
                return open;
            }
            assert!(Instant::now() < until, "{open} files are open, not {most}");
            tokio::time::sleep(GLANCE).await;
        }
    }

    fn proc(&self, file: &str) -> String {
        std::fs::read_to_string(format!("/proc/{}/{file}", self.pid)).unwrap()
    }
}

impl Drop for Node {
    fn drop(&mut self) {
        if std::thread::panicking() {
            eprintln!("--- the server's log ---\n{}", self.log());
        }
    }
}

/// The process that works in this directory, which is one server's own.
fn pid_in(home: &Path) -> u32 {
    let home = home.canonicalize().unwrap();
    let processes = std::fs::read_dir("/proc").unwrap();
    let mut pids = processes.filter_map(|entry| entry.ok()?.file_name().to_str()?.parse().ok());
    pids.find(|pid: &u32| {
        std::fs::read_link(format!("/proc/{pid}/cwd")).is_ok_and(|cwd| cwd == home)
    })
    .unwrap()
}

/// The answer, which must be a success.
async fn json(request: RequestBuilder) -> Value {
    let response = request.send().await.unwrap();
    let status = response.status();
    let text = response.text().await.unwrap();
    assert!(status.is_success(), "{status}: {text}");
    serde_json::from_str(&text).unwrap_or(Value::Null)
}
