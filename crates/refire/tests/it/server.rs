//! The real binary, started on a free port with a data directory of its own.

use std::path::{Path, PathBuf};
use std::process::ExitStatus;
use std::sync::Arc;
use std::time::{Duration, Instant};

use reqwest::{Body, Method, RequestBuilder};
use serde_json::Value;
use tempfile::TempDir;

use crate::database::Database;
use crate::process::{Process, Refused, command};

/// Longer than anything a test waits for.
const PATIENCE: Duration = Duration::from_secs(20);
/// Between two looks at something that changes by itself.
const GLANCE: Duration = Duration::from_millis(10);
/// What it logs, beside its data.
const LOG: &str = "server.log";

/// A running server.
pub(crate) struct Server {
    process: Process,
    pub(crate) url: String,
    pub(crate) key: String,
    pub(crate) http: reqwest::Client,
    home: TempDir,
    options: Vec<String>,
    environment: Vec<(String, String)>,
    // Last, so that it goes after the process that uses it.
    database: Arc<Database>,
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
        Self::start_on(Arc::new(Database::new()), options).await
    }

    /// A server with these variables in its environment.
    pub(crate) async fn start_in(environment: &[(&str, &str)]) -> Self {
        Self::begin(Arc::new(Database::new()), &[], environment)
    }

    /// A server on this database; its key is that of its data directory, if one is there.
    pub(crate) async fn start_on(database: Arc<Database>, options: &[&str]) -> Self {
        Self::begin(database, options, &[])
    }

    pub(crate) fn begin(
        database: Arc<Database>,
        options: &[&str],
        environment: &[(&str, &str)],
    ) -> Self {
        let home = tempfile::tempdir().unwrap();
        let options: Vec<String> = options.iter().map(|one| (*one).to_owned()).collect();
        let environment: Vec<_> = environment
            .iter()
            .map(|(name, value)| ((*name).to_owned(), (*value).to_owned()))
            .collect();
        let process = spawn(home.path(), &options, &environment, &database);
        let key = std::fs::read_to_string(home.path().join("data/admin.key")).unwrap_or_default();
        let http = reqwest::Client::builder()
            .no_proxy()
            .timeout(PATIENCE * 3)
            .build()
            .unwrap();
        let key = key.trim().to_owned();
        Self {
            url: process.url.clone(),
            process,
            key,
            http,
            home,
            options,
            environment,
            database,
        }
    }

    /// What it keeps its data in.
    pub(crate) fn database(&self) -> &Database {
        &self.database
    }

    /// Where its data is.
    pub(crate) fn data(&self) -> PathBuf {
        self.home.path().join("data")
    }

    /// Starts it again on the same data, with other options.
    pub(crate) fn restart_with(&mut self, options: &[&str]) {
        self.options = options.iter().map(|one| (*one).to_owned()).collect();
        self.restart();
    }

    /// Starts it again on the same data.
    pub(crate) fn restart(&mut self) {
        self.process = spawn(
            self.home.path(),
            &self.options,
            &self.environment,
            &self.database,
        );
        self.url.clone_from(&self.process.url);
    }

    /// Ends it without a word.
    pub(crate) fn kill(&mut self) {
        self.process.kill();
    }

    /// Sends a signal, by name.
    pub(crate) fn signal(&self, name: &str) {
        self.process.signal(name);
    }

    /// Waits for the process's end.
    pub(crate) async fn ended(&mut self) -> ExitStatus {
        let until = Instant::now() + PATIENCE * 2;
        loop {
            if let Some(status) = self.process.ended() {
                return status;
            }
            assert!(Instant::now() < until, "the server does not end");
            tokio::time::sleep(GLANCE).await;
        }
    }

    pub(crate) fn log(&self) -> String {
        std::fs::read_to_string(self.home.path().join(LOG)).unwrap_or_default()
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

fn spawn(
    home: &Path,
    options: &[String],
    environment: &[(String, String)],
    database: &Database,
) -> Process {
    let mut command = command(home);
    command
        .envs(environment.iter().cloned())
        .envs(database.settings())
        .args(["--listen", "127.0.0.1:0", "--dev", "--data-dir", "data"])
        .args(options);
    match Process::start(command, &home.join(LOG)) {
        Ok(process) => process,
        Err(Refused { status, log }) => panic!("the server did not start ({status}): {log}"),
    }
}
