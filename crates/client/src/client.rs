//! A client: how calls are made, and those that are made in a way of their own. The others are in `calls`.

mod calls;

use std::time::Duration;

use reqwest::{Method, RequestBuilder, StatusCode};
use serde::de::DeserializeOwned;

use crate::error::Error;
use crate::model::{Accepted, BackupRequest, BackupResult, Execution, Page, Problem, Task};
use crate::query::{ExecuteQuery, Paging, PollQuery, Query};
use calls::segment;

/// How long a call may take; waiting for an execution adds to it.
const TIMEOUT: Duration = Duration::from_secs(30);
/// How long a connection may take: a machine that is not there does not say so.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(5);
/// How long a connection is kept: the server closes idle ones after ten seconds, and a request
/// must not meet the closing.
const IDLE_MAX: Duration = Duration::from_secs(8);
/// How long a backup may take; the server copies as fast as its disk lets it.
const BACKUP_TIMEOUT: Duration = Duration::from_secs(6 * 60 * 60);
/// How long a poll for tasks waits at the server if nothing is said.
const POLL_WAIT: Duration = Duration::from_secs(30);
/// What a poll may take beyond its wait.
const POLL_TIMEOUT: Duration = Duration::from_secs(15);

/// A client of one server.
#[derive(Debug, Clone)]
pub struct Client {
    http: reqwest::Client,
    url: String,
    key: Option<Key>,
}

/// Makes a client.
#[derive(Debug, Clone)]
pub struct ClientBuilder {
    url: String,
    key: Option<Key>,
}

/// Is never shown.
#[derive(Clone)]
struct Key(String);

impl std::fmt::Debug for Key {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Key(…)")
    }
}

/// How to start an execution.
#[derive(Debug, Clone, Default)]
pub struct Execute {
    /// The input as JSON text; absent = `{}`.
    pub input: Option<String>,
    /// The same key never starts a second execution.
    pub idempotency_key: Option<String>,
    /// 1 (first) to 10 (last).
    pub priority: Option<u8>,
    /// Such as `30s`.
    pub delay: Option<String>,
}

/// A started execution: accepted, or already ended within the wait.
pub type Started = Result<Execution, Accepted>;

impl ClientBuilder {
    /// The API key.
    #[must_use]
    pub fn key(mut self, key: impl Into<String>) -> Self {
        self.key = Some(Key(key.into()));
        self
    }

    /// The client.
    pub fn build(self) -> Result<Client, Error> {
        let url = self.url.trim_end_matches('/').to_owned();
        check(&url)?;
        let http = reqwest::Client::builder()
            .timeout(TIMEOUT)
            .connect_timeout(CONNECT_TIMEOUT)
            .pool_idle_timeout(IDLE_MAX)
            .no_proxy()
            .user_agent(concat!("refire-client/", env!("CARGO_PKG_VERSION")))
            .build()
            .map_err(|error| Error::Setting(format!("no HTTP client: {error}")))?;
        Ok(Client {
            http,
            url,
            key: self.key,
        })
    }
}

impl Client {
    /// A client of the server at this address.
    #[must_use]
    pub fn builder(url: impl Into<String>) -> ClientBuilder {
        ClientBuilder {
            url: url.into(),
            key: None,
        }
    }

    /// The server's address.
    #[must_use]
    pub fn url(&self) -> &str {
        &self.url
    }

    /// Copies the store to a new file on the server's machine.
    pub async fn backup(&self, to: &str) -> Result<BackupResult, Error> {
        let body = BackupRequest { to: to.to_owned() };
        let request = self.request(Method::POST, "/api/backup", &()).json(&body);
        self.send(request.timeout(BACKUP_TIMEOUT)).await
    }

    /// Starts an execution.
    pub async fn execute(&self, workflow: &str, execute: &Execute) -> Result<Accepted, Error> {
        self.send(self.execute_request(workflow, execute, None))
            .await
    }

    /// Starts an execution and waits for its end, at most so long.
    pub async fn execute_and_wait(
        &self,
        workflow: &str,
        execute: &Execute,
        wait: Duration,
    ) -> Result<Started, Error> {
        let request = self
            .execute_request(workflow, execute, Some(wait))
            .timeout(TIMEOUT + wait);
        let (status, body) = self.exchange(request).await?;
        if status == StatusCode::OK {
            self.read(status, &body).map(Ok)
        } else {
            self.read(status, &body).map(Err)
        }
    }

    /// Fetches tasks for a worker, and waits for the first; empty if there was none until the end of the
    /// wait. Each has a lock token, which belongs into every call about it.
    pub async fn poll_tasks(&self, query: &PollQuery) -> Result<Vec<Task>, Error> {
        let wait = query.wait_seconds.map(u64::from);
        let wait = wait.map_or(POLL_WAIT, Duration::from_secs);
        let request = self.request(Method::GET, "/api/external-tasks/poll", query);
        let tasks: Option<_> = self.send(request.timeout(wait + POLL_TIMEOUT)).await?;
        Ok(tasks.unwrap_or_default())
    }

    fn execute_request(
        &self,
        workflow: &str,
        execute: &Execute,
        wait: Option<Duration>,
    ) -> RequestBuilder {
        let path = format!("/api/workflows/{}/execute", segment(workflow));
        let query = ExecuteQuery {
            priority: execute.priority.map(u32::from),
            delay: execute.delay.clone(),
            wait: wait.map(|wait| format!("{}ms", wait.as_millis())),
        };
        let (input, key) = (&execute.input, &execute.idempotency_key);
        self.start(&path, &query, input.as_deref(), key.as_deref())
    }

    /// Starts an execution as the trigger would, with another input (JSON text) if one is given. The
    /// same idempotency key never starts a second one.
    pub async fn run_trigger(
        &self,
        id: &str,
        input: Option<&str>,
        idempotency_key: Option<&str>,
    ) -> Result<Accepted, Error> {
        let path = format!("/api/triggers/{}/run", segment(id));
        self.send(self.start(&path, &(), input, idempotency_key))
            .await
    }

    fn start(
        &self,
        path: &str,
        query: &impl Query,
        input: Option<&str>,
        idempotency_key: Option<&str>,
    ) -> RequestBuilder {
        let request = self
            .request(Method::POST, path, query)
            .header("Content-Type", "application/json")
            .body(input.unwrap_or_default().to_owned());
        match idempotency_key {
            Some(key) => request.header("Idempotency-Key", key),
            None => request,
        }
    }

    fn request(&self, method: Method, path: &str, query: &impl Query) -> RequestBuilder {
        let mut url = format!("{}{path}", self.url);
        let pairs = query.pairs();
        if !pairs.is_empty() {
            let mut text = url::form_urlencoded::Serializer::new(String::new());
            url = format!("{url}?{}", text.extend_pairs(pairs).finish());
        }
        let request = self.http.request(method, url);
        match &self.key {
            Some(Key(key)) => request.bearer_auth(key),
            None => request,
        }
    }

    async fn send<T: DeserializeOwned>(&self, request: RequestBuilder) -> Result<T, Error> {
        let (status, body) = self.exchange(request).await?;
        self.read(status, &body)
    }

    async fn exchange(&self, request: RequestBuilder) -> Result<(StatusCode, Vec<u8>), Error> {
        let unreachable = |source| Error::Unreachable {
            url: self.url.clone(),
            source,
        };
        let answer = request.send().await.map_err(unreachable)?;
        let status = answer.status();
        let body = answer.bytes().await.map_err(unreachable)?.to_vec();
        if status.is_success() {
            return Ok((status, body));
        }
        match serde_json::from_slice::<Problem>(&body) {
            Ok(problem) => Err(Error::Problem(Box::new(problem))),
            Err(_) => Err(self.unexpected(status)),
        }
    }

    fn read<T: DeserializeOwned>(&self, status: StatusCode, body: &[u8]) -> Result<T, Error> {
        // Where there is nothing to say, there is no body.
        let body = if body.is_empty() { b"null" } else { body };
        serde_json::from_slice(body).map_err(|_| self.unexpected(status))
    }

    fn unexpected(&self, status: StatusCode) -> Error {
        Error::Unexpected {
            url: self.url.clone(),
            status: status.as_u16(),
        }
    }
}

/// Rows asked for at once by who wants all.
const EVERY_ROWS: u32 = 500;

/// The whole list, page by page.
pub async fn every<T>(
    mut list: impl AsyncFnMut(&Paging) -> Result<Page<T>, Error>,
) -> Result<Page<T>, Error> {
    let mut paging = Paging::first(EVERY_ROWS);
    let mut all = list(&paging).await?;
    while let Some(next) = all.next_cursor.take() {
        paging.cursor = Some(next);
        let page = list(&paging).await?;
        all.items.extend(page.items);
        all.next_cursor = page.next_cursor;
    }
    Ok(all)
}

/// The address of a server begins with its scheme; one without is told the whole.
fn check(url: &str) -> Result<(), Error> {
    let refuse = |why: String| {
        let message = format!("`{url}` is not the address of a server: {why}");
        Err(Error::Setting(message))
    };
    if url.contains("://") {
        return match url::Url::parse(url) {
            Ok(parsed) if matches!(parsed.scheme(), "http" | "https") => Ok(()),
            Ok(parsed) => refuse(format!("`{}` is neither http nor https", parsed.scheme())),
            Err(error) => refuse(error.to_string()),
        };
    }
    let whole = format!("http://{url}");
    match url::Url::parse(&whole) {
        Ok(_) => refuse(format!("write {whole}")),
        Err(_) => refuse("write for example http://127.0.0.1:7373".to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_without_a_scheme_is_told_the_whole() {
        assert!(check("http://127.0.0.1:7373").is_ok());
        assert!(check("https://refire.example.com/base").is_ok());
        for (url, expected) in [
            ("127.0.0.1:7373", "write http://127.0.0.1:7373"),
            ("localhost:7373", "write http://localhost:7373"),
            ("ftp://a", "neither http nor https"),
            ("", "write for example"),
            ("a b", "write for example"),
        ] {
            let said = check(url).expect_err(url).to_string();
            assert!(said.contains(expected), "{url}: {said}");
        }
    }
}
