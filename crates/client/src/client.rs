//! One method per call of the API.

mod trigger;

use std::time::Duration;

use percent_encoding::{NON_ALPHANUMERIC, utf8_percent_encode};
use reqwest::{Method, RequestBuilder, StatusCode};
use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::error::Error;
use crate::model::{
    Accepted, BackupRequest, BackupResult, BatchItem, BatchResult, DeadLetter, DeadLetterDetail,
    DeadLetterRetried, DeadLetterSummary, Event, Execution, Node, Page, Problem, ReplayRequest,
    ReplayResult, RetriedExecution, RetryLetter, RetryTimeline, Version, Workflow, WorkflowDeleted,
    WorkflowDiff, WorkflowSaved, WorkflowVersion,
};
use crate::query::{
    CancelQuery, DiffQuery, EventQuery, ExecuteQuery, ExecutionQuery, LetterQuery, Paging, Query,
};

/// How long a call may take; waiting for an execution adds to it.
const TIMEOUT: Duration = Duration::from_secs(30);
/// How long a connection may take: a machine that is not there does not say so.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(5);
/// How long a connection is kept: the server closes idle ones after ten seconds, and a request
/// must not meet the closing.
const IDLE_MAX: Duration = Duration::from_secs(8);
/// How long a backup may take; the server copies as fast as its disk lets it.
const BACKUP_TIMEOUT: Duration = Duration::from_secs(6 * 60 * 60);

/// A client of one server.
#[derive(Clone)]
pub struct Client {
    http: reqwest::Client,
    url: String,
    key: Option<String>,
}

/// Makes a client.
#[derive(Clone)]
pub struct ClientBuilder {
    url: String,
    key: Option<String>,
}

impl std::fmt::Debug for Client {
    /// Without the key.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Client")
            .field("url", &self.url)
            .finish_non_exhaustive()
    }
}

impl std::fmt::Debug for ClientBuilder {
    /// Without the key.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("ClientBuilder")
            .field("url", &self.url)
            .finish_non_exhaustive()
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
        self.key = Some(key.into());
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

    /// What runs there.
    pub async fn version(&self) -> Result<Version, Error> {
        self.get("/version", &()).await
    }

    /// The nodes that share the server's store, the oldest first.
    pub async fn nodes(&self) -> Result<Page<Node>, Error> {
        self.get("/api/nodes", &()).await
    }

    /// Copies the store to a new file on the server's machine.
    pub async fn backup(&self, to: &str) -> Result<BackupResult, Error> {
        let body = BackupRequest { to: to.to_owned() };
        self.send(
            self.request(Method::POST, "/api/backup")
                .json(&body)
                .timeout(BACKUP_TIMEOUT),
        )
        .await
    }

    /// Saves a definition (YAML or JSON text).
    pub async fn apply_workflow(&self, id: &str, source: &str) -> Result<WorkflowSaved, Error> {
        let path = format!("/api/workflows/{}", segment(id));
        self.send(self.request(Method::PUT, &path).body(source.to_owned()))
            .await
    }

    /// Checks a definition without saving it.
    pub async fn validate_workflow(&self, source: &str) -> Result<WorkflowSaved, Error> {
        self.send(
            self.request(Method::POST, "/api/workflows/validate")
                .body(source.to_owned()),
        )
        .await
    }

    /// Compares a definition with the newest version of it.
    pub async fn diff_workflow(&self, id: &str, source: &str) -> Result<WorkflowDiff, Error> {
        let path = format!("/api/workflows/{}/diff", segment(id));
        self.send(self.request(Method::POST, &path).body(source.to_owned()))
            .await
    }

    /// Compares two versions.
    pub async fn diff_versions(&self, id: &str, from: u32, to: u32) -> Result<WorkflowDiff, Error> {
        let path = format!("/api/workflows/{}/diff", segment(id));
        let query = DiffQuery {
            from: Some(from),
            to: Some(to),
        };
        self.get(&path, &query).await
    }

    /// Workflows by name.
    pub async fn workflows(&self, paging: &Paging) -> Result<Page<Workflow>, Error> {
        self.get("/api/workflows", paging).await
    }

    /// One workflow with its definition.
    pub async fn workflow(&self, id: &str) -> Result<Workflow, Error> {
        self.get(&format!("/api/workflows/{}", segment(id)), &())
            .await
    }

    /// Its versions, newest first.
    pub async fn workflow_versions(&self, id: &str) -> Result<Page<WorkflowVersion>, Error> {
        self.get(&format!("/api/workflows/{}/versions", segment(id)), &())
            .await
    }

    /// One version with its text.
    pub async fn workflow_version(&self, id: &str, version: u32) -> Result<WorkflowVersion, Error> {
        self.get(
            &format!("/api/workflows/{}/versions/{version}", segment(id)),
            &(),
        )
        .await
    }

    /// Deletes a workflow, and disables its triggers.
    pub async fn delete_workflow(&self, id: &str) -> Result<WorkflowDeleted, Error> {
        let path = format!("/api/workflows/{}", segment(id));
        self.send(self.request(Method::DELETE, &path)).await
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
        let mut request = self.request(Method::POST, &path_with(&path, &query));
        if let Some(key) = &execute.idempotency_key {
            request = request.header("Idempotency-Key", key);
        }
        request
            .header("Content-Type", "application/json")
            .body(execute.input.clone().unwrap_or_default())
    }

    /// Starts many executions in one commit.
    pub async fn execute_batch(
        &self,
        workflow: &str,
        items: &[BatchItem],
    ) -> Result<Page<BatchResult>, Error> {
        let path = format!("/api/workflows/{}/execute-batch", segment(workflow));
        self.post(&path, &items).await
    }

    /// Executions, newest first.
    pub async fn executions(
        &self,
        query: &ExecutionQuery,
        paging: &Paging,
    ) -> Result<Page<Execution>, Error> {
        self.list("/api/executions", query, paging).await
    }

    /// One execution with everything.
    pub async fn execution(&self, id: &str) -> Result<Execution, Error> {
        self.get(&format!("/api/executions/{}", segment(id)), &())
            .await
    }

    /// Its log.
    pub async fn events(
        &self,
        id: &str,
        query: &EventQuery,
        paging: &Paging,
    ) -> Result<Page<Event>, Error> {
        let path = format!("/api/executions/{}/events", segment(id));
        self.list(&path, query, paging).await
    }

    /// `cancel`, `pause` or `resume`.
    pub async fn command(
        &self,
        id: &str,
        command: &str,
        compensate: bool,
    ) -> Result<Execution, Error> {
        let query = CancelQuery {
            compensate: compensate.then_some(true),
        };
        let path = format!("/api/executions/{}/{command}", segment(id));
        self.send(self.request(Method::POST, &path_with(&path, &query)))
            .await
    }

    /// Replays an execution, against another definition if one is given.
    pub async fn replay(&self, id: &str, definition: Option<&str>) -> Result<ReplayResult, Error> {
        let body = ReplayRequest {
            definition: definition.map(str::to_owned),
        };
        self.post(&format!("/api/executions/{}/replay", segment(id)), &body)
            .await
    }

    /// Executions that were retried, newest first.
    pub async fn retries(
        &self,
        query: &ExecutionQuery,
        paging: &Paging,
    ) -> Result<Page<RetriedExecution>, Error> {
        self.list("/api/retries", query, paging).await
    }

    /// When the retries of a policy (JSON or YAML text) would happen.
    pub async fn simulate(&self, policy: &str) -> Result<RetryTimeline, Error> {
        self.send(
            self.request(Method::POST, "/api/retry/simulate")
                .body(policy.to_owned()),
        )
        .await
    }

    /// Dead letters, newest first.
    pub async fn dead_letters(
        &self,
        query: &LetterQuery,
        paging: &Paging,
    ) -> Result<Page<DeadLetter>, Error> {
        self.list("/api/dlq", query, paging).await
    }

    /// An overview of dead letters.
    pub async fn dead_letter_summary(
        &self,
        query: &LetterQuery,
    ) -> Result<DeadLetterSummary, Error> {
        self.get("/api/dlq/summary", query).await
    }

    /// One dead letter with everything about it.
    pub async fn dead_letter(&self, id: &str) -> Result<DeadLetterDetail, Error> {
        self.get(&format!("/api/dlq/{}", segment(id)), &()).await
    }

    /// Retries a dead letter.
    pub async fn retry_dead_letter(
        &self,
        id: &str,
        retry: &RetryLetter,
    ) -> Result<DeadLetterRetried, Error> {
        self.post(&format!("/api/dlq/{}/retry", segment(id)), retry)
            .await
    }

    /// Gives a dead letter up.
    pub async fn delete_dead_letter(&self, id: &str) -> Result<(), Error> {
        let path = format!("/api/dlq/{}", segment(id));
        self.send_empty(self.request(Method::DELETE, &path)).await
    }

    async fn get<T: DeserializeOwned>(&self, path: &str, query: &impl Query) -> Result<T, Error> {
        self.send(self.request(Method::GET, &path_with(path, query)))
            .await
    }

    async fn list<T: DeserializeOwned, Q: Query + Clone>(
        &self,
        path: &str,
        query: &Q,
        paging: &Paging,
    ) -> Result<Page<T>, Error> {
        self.get(path, &(query.clone(), paging.clone())).await
    }

    async fn post<T: DeserializeOwned>(
        &self,
        path: &str,
        body: &impl Serialize,
    ) -> Result<T, Error> {
        self.send(self.request(Method::POST, path).json(body)).await
    }

    fn request(&self, method: Method, path: &str) -> RequestBuilder {
        let request = self.http.request(method, format!("{}{path}", self.url));
        match &self.key {
            Some(key) => request.bearer_auth(key),
            None => request,
        }
    }

    async fn send<T: DeserializeOwned>(&self, request: RequestBuilder) -> Result<T, Error> {
        let (status, body) = self.exchange(request).await?;
        self.read(status, &body)
    }

    async fn send_empty(&self, request: RequestBuilder) -> Result<(), Error> {
        self.exchange(request).await.map(|_| ())
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

fn segment(text: &str) -> String {
    utf8_percent_encode(text, NON_ALPHANUMERIC).to_string()
}

fn path_with(path: &str, query: &impl Query) -> String {
    let pairs = query.pairs();
    if pairs.is_empty() {
        return path.to_owned();
    }
    let mut text = url::form_urlencoded::Serializer::new(String::new());
    format!("{path}?{}", text.extend_pairs(pairs).finish())
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
