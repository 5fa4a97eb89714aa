//! The real binary, started on a free port with a data directory of its own.

use std::fs::File;
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};

use reqwest::{Body, Method, RequestBuilder};
use serde_json::Value;
use tempfile::TempDir;

/// Longer than anything a test waits for.
const PATIENCE: Duration = Duration::from_secs(20);
/// Between two looks at something that changes by itself.
const GLANCE: Duration = Duration::from_millis(10);

/// A running server.
pub(crate) struct Server {
    child: Child,
    pub(crate) url: String,
    pub(crate) key: String,
    pub(crate) http: reqwest::Client,
    home: TempDir,
    options: Vec<String>,
}

/// An answer of the server.
#[derive(Debug)]
pub(crate) struct Answer {
    pub(crate) status: u16,
    pub(crate) headers: http::HeaderMap,
    pub(crate) text: String,
}

impl Answer {
    pub(crate) fn json(&self) -> Value {
        serde_json::from_str(&self.text).unwrap_or_else(|_| panic!("not JSON: {}", self.text))
    }

    /// The answer, which must have this status.
    #[track_caller]
    pub(crate) fn expect(self, status: u16) -> Value {
        assert_eq!(self.status, status, "{}", self.text);
        if self.text.is_empty() {
            Value::Null
        } else {
            self.json()
        }
    }

    /// The problem, which must have this status and code.
    #[track_caller]
    pub(crate) fn problem(self, status: u16, code: &str) -> Value {
        let found = (
            self.status,
            self.json()["code"].as_str().unwrap_or_default().to_owned(),
        );
        assert_eq!(found, (status, code.to_owned()), "{}", self.text);
        assert_eq!(self.headers["content-type"], "application/problem+json");
        let problem = self.json();
        assert_eq!(problem["status"], status);
        assert_eq!(problem["type"], format!("/docs/errors/{code}"));
        problem
    }
}

impl Server {
    pub(crate) async fn start() -> Self {
        Self::start_with(&[]).await
    }

    pub(crate) async fn start_with(options: &[&str]) -> Self {
        let home = tempfile::tempdir().unwrap();
        let options: Vec<String> = options.iter().map(|one| (*one).to_owned()).collect();
        let (child, url) = spawn(home.path(), &options);
        let key = std::fs::read_to_string(home.path().join("data/admin.key")).unwrap();
        let http = reqwest::Client::builder()
            .no_proxy()
            .timeout(PATIENCE * 3)
            .build()
            .unwrap();
        let key = key.trim().to_owned();
        Self {
            child,
            url,
            key,
            http,
            home,
            options,
        }
    }

    /// Where its data is.
    pub(crate) fn data(&self) -> PathBuf {
        self.home.path().join("data")
    }

    /// Starts it again on the same data.
    pub(crate) fn restart(&mut self) {
        (self.child, self.url) = spawn(self.home.path(), &self.options);
    }

    /// Ends it without a word.
    pub(crate) fn kill(&mut self) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
    }

    /// Sends a signal, by name.
    pub(crate) fn signal(&self, name: &str) {
        let sent = Command::new("kill")
            .arg(format!("-{name}"))
            .arg(self.child.id().to_string())
            .status();
        assert!(sent.unwrap().success());
    }

    /// Waits for the process's end.
    pub(crate) async fn ended(&mut self) -> ExitStatus {
        let until = Instant::now() + PATIENCE * 2;
        loop {
            if let Some(status) = self.child.try_wait().unwrap() {
                return status;
            }
            assert!(Instant::now() < until, "the server does not end");
            tokio::time::sleep(GLANCE).await;
        }
    }

    pub(crate) fn log(&self) -> String {
        std::fs::read_to_string(self.home.path().join("server.log")).unwrap_or_default()
    }

    pub(crate) fn request(&self, method: Method, path: &str) -> RequestBuilder {
        self.http
            .request(method, format!("{}{path}", self.url))
            .bearer_auth(&self.key)
    }

    pub(crate) async fn get(&self, path: &str) -> Answer {
        send(self.request(Method::GET, path)).await
    }

    pub(crate) async fn post(&self, path: &str, body: impl Into<Body>) -> Answer {
        send(self.request(Method::POST, path).body(body)).await
    }

    pub(crate) async fn put(&self, path: &str, body: impl Into<Body>) -> Answer {
        send(self.request(Method::PUT, path).body(body)).await
    }

    pub(crate) async fn delete(&self, path: &str) -> Answer {
        send(self.request(Method::DELETE, path)).await
    }

    /// Saves a workflow, which must be valid.
    pub(crate) async fn apply(&self, id: &str, definition: &str) -> Value {
        self.put(&format!("/api/workflows/{id}"), definition.to_owned())
            .await
            .expect(200)
    }

    /// Starts an execution and gives its id.
    pub(crate) async fn execute(&self, workflow: &str, input: &str) -> String {
        let path = format!("/api/workflows/{workflow}/execute");
        let accepted = self.post(&path, input.to_owned()).await.expect(202);
        accepted["execution_id"].as_str().unwrap().to_owned()
    }

    pub(crate) async fn execution(&self, id: &str) -> Value {
        self.get(&format!("/api/executions/{id}")).await.expect(200)
    }

    /// The execution, once it has this status.
    pub(crate) async fn reaches(&self, id: &str, status: &str) -> Value {
        let until = Instant::now() + PATIENCE;
        loop {
            let execution = self.execution(id).await;
            if execution["status"] == status {
                return execution;
            }
            assert!(Instant::now() < until, "not {status}: {execution:#}");
            tokio::time::sleep(GLANCE).await;
        }
    }

    /// The types of an execution's events, in order.
    pub(crate) async fn event_types(&self, id: &str) -> Vec<String> {
        let events = self
            .get(&format!("/api/executions/{id}/events?limit=1000"))
            .await
            .expect(200);
        let items = events["items"].as_array().unwrap();
        items
            .iter()
            .map(|event| event["event_type"].as_str().unwrap().to_owned())
            .collect()
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
        if std::thread::panicking() {
            eprintln!("--- the server's log ---\n{}", self.log());
        }
    }
}

pub(crate) async fn send(request: RequestBuilder) -> Answer {
    let response = request.send().await.unwrap();
    let status = response.status().as_u16();
    let headers = response.headers().clone();
    Answer {
        status,
        headers,
        text: response.text().await.unwrap(),
    }
}

/// Waits until something holds.
pub(crate) async fn until(what: &str, mut holds: impl FnMut() -> bool) {
    let until = Instant::now() + PATIENCE;
    while !holds() {
        assert!(Instant::now() < until, "never: {what}");
        tokio::time::sleep(GLANCE).await;
    }
}

fn spawn(home: &Path, options: &[String]) -> (Child, String) {
    let log = File::options()
        .create(true)
        .append(true)
        .open(home.join("server.log"))
        .unwrap();
    let mut child = command(home)
        .args(["--listen", "127.0.0.1:0", "--dev", "--data-dir", "data"])
        .args(options)
        .stdout(Stdio::piped())
        .stderr(log)
        .spawn()
        .unwrap();
    let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
    let url = loop {
        let Some(line) = lines.next() else {
            let log = std::fs::read_to_string(home.join("server.log")).unwrap_or_default();
            panic!("the server did not start: {log}");
        };
        if let Some((_, url)) = line.unwrap().split_once("is ready at ") {
            break url.trim().to_owned();
        }
    };
    // Somebody must read the rest, or the server would find its terminal gone.
    std::thread::spawn(move || lines.for_each(drop));
    (child, url)
}

/// `refire serve` with nothing of the outer environment, and its settings in the environment, where
/// flags go over them.
pub(crate) fn command(home: &Path) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_refire"));
    command
        .env_clear()
        .env("REFIRE_LISTEN", "127.0.0.1:0")
        .env("REFIRE_DATA_DIR", "data")
        .current_dir(home)
        .arg("serve");
    command
}
