//! A worker as any program may be one: it fetches tasks over plain HTTP and says what came of them.
//! What it was handed and what it was told is kept.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use refire_client::model::Task;
use refire_core::time::Timestamp;
use reqwest::Method;
use serde_json::{Value, json};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;

use crate::client::Client;
use crate::node::KEY;
use crate::target::{Call, Outcome};

/// Between two tries to say the same.
const AGAIN_AFTER: Duration = Duration::from_millis(100);

/// A task that a worker was handed.
#[derive(Debug, Clone)]
pub(crate) struct Handed {
    pub(crate) task: String,
    pub(crate) execution: String,
    pub(crate) step: String,
    pub(crate) attempt: u32,
    pub(crate) token: String,
    pub(crate) worker: String,
    pub(crate) locked_at: Timestamp,
    pub(crate) lock_until: Timestamp,
    /// The number that the client put into the execution's input.
    pub(crate) request: Option<u64>,
}

/// A call about a task.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Saying {
    Complete,
    Fail { retryable: bool },
    Unlock,
    Heartbeat,
    Extend { seconds: u32 },
}

/// What the server said to that.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Told {
    /// 200.
    Taken,
    /// Certainly not: every try got such an answer.
    Refused(u16),
    /// Nobody knows.
    Open,
}

/// What a worker said.
#[derive(Debug, Clone)]
pub(crate) struct Said {
    pub(crate) task: String,
    pub(crate) token: String,
    pub(crate) saying: Saying,
    /// What it said it with; no other has the same.
    pub(crate) word: String,
    pub(crate) told: Told,
}

/// What all workers saw, in the order in which it happened.
#[derive(Debug, Clone, Default)]
pub(crate) struct Account(Arc<Mutex<Book>>);

#[derive(Debug, Default)]
struct Book {
    handed: Vec<Handed>,
    said: Vec<Said>,
    words: u64,
}

impl Account {
    fn with<T>(&self, what: impl FnOnce(&mut Book) -> T) -> T {
        what(&mut self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }

    pub(crate) fn handed(&self) -> Vec<Handed> {
        self.with(|book| book.handed.clone())
    }

    pub(crate) fn said(&self) -> Vec<Said> {
        self.with(|book| book.said.clone())
    }

    pub(crate) fn add_handed(&self, handed: Handed) {
        self.with(|book| book.handed.push(handed));
    }

    pub(crate) fn add_said(&self, said: Said) {
        self.with(|book| book.said.push(said));
    }

    /// A word that nobody has said.
    pub(crate) fn word(&self) -> String {
        self.with(|book| {
            book.words += 1;
            format!("word-{}", book.words)
        })
    }

    /// What was handed out, as calls of a target: a worker that said that it is done has answered well.
    pub(crate) fn calls(&self) -> Vec<Call> {
        let said = self.said();
        let done = |handed: &Handed| {
            said.iter().any(|said| {
                said.token == handed.token
                    && said.task == handed.task
                    && said.saying == Saying::Complete
            })
        };
        let call = |handed: Handed| Call {
            key: format!("{}:{}", handed.execution, handed.step),
            outcome: match done(&handed) {
                true => Outcome::Good,
                false => Outcome::Bad,
            },
            execution: handed.execution,
            step: handed.step,
            attempt: handed.attempt,
            request: handed.request,
            at: handed.locked_at,
        };
        self.handed().into_iter().map(call).collect()
    }
}

/// See the module.
#[derive(Clone)]
pub(crate) struct Worker {
    pub(crate) client: Client,
    pub(crate) name: String,
    pub(crate) account: Account,
}

impl Worker {
    pub(crate) fn new(client: &Client, name: impl Into<String>, account: &Account) -> Self {
        Self {
            client: client.clone(),
            name: name.into(),
            account: account.clone(),
        }
    }

    fn path(&self, types: &str, most: u32, wait: u32) -> String {
        format!(
            "/api/external-tasks/poll?taskType={types}&workerId={}&maxTasks={most}&waitSeconds={wait}",
            self.name
        )
    }

    /// Fetches tasks; none also when nobody answers.
    pub(crate) async fn poll(&self, types: &str, most: u32, wait: u32) -> Vec<Handed> {
        let path = self.path(types, most, wait);
        match self.client.call(Method::GET, &path, None).await {
            Some((200, text)) => self.note(&text),
            _ => Vec::new(),
        }
    }

    /// Asks for one task, stands still before the answer is read, and goes on when it is too late.
    pub(crate) async fn poll_frozen(&self, types: &str, frozen: Duration) -> Vec<Handed> {
        let url = self.client.next_url();
        let host = url.trim_start_matches("http://").to_owned();
        let request = format!(
            "GET {} HTTP/1.1\r\nHost: {host}\r\nAuthorization: Bearer {KEY}\r\nConnection: close\r\n\r\n",
            self.path(types, 1, 20)
        );
        let mut socket = TcpStream::connect(&host).await.unwrap();
        socket.write_all(request.as_bytes()).await.unwrap();
        tokio::time::sleep(frozen).await;
        let mut answer = String::new();
        socket.read_to_string(&mut answer).await.unwrap();
        let (head, body) = answer.split_once("\r\n\r\n").unwrap();
        match head.starts_with("HTTP/1.1 200") {
            true => self.note(body),
            false => Vec::new(),
        }
    }

    fn note(&self, text: &str) -> Vec<Handed> {
        let tasks: Vec<Task> = serde_json::from_str(text).unwrap();
        let all: Vec<Handed> = tasks.into_iter().map(|task| self.taken(task)).collect();
        for handed in &all {
            self.account.add_handed(handed.clone());
        }
        all
    }

    fn taken(&self, task: Task) -> Handed {
        let time = |text: Option<String>| text.unwrap().parse().unwrap();
        let input: Value = serde_json::from_str(task.input.unwrap().get()).unwrap();
        Handed {
            task: task.id,
            execution: task.execution_id,
            step: task.step_id,
            attempt: task.retry_count + 1,
            token: task.lock_token.unwrap(),
            worker: self.name.clone(),
            locked_at: time(task.locked_at),
            lock_until: time(task.lock_expires_at),
            request: input["request"].as_u64(),
        }
    }

    /// Says something about a task, once.
    pub(crate) async fn say(&self, handed: &Handed, saying: Saying) -> Told {
        self.insist(handed, saying, Duration::ZERO).await
    }

    /// Says it in the same words until it gets a certain answer, but not for longer than that.
    pub(crate) async fn insist(&self, handed: &Handed, saying: Saying, limit: Duration) -> Told {
        let word = self.account.word();
        self.repeat(handed, saying, word, limit).await
    }

    /// The same with a word that may have been said before.
    pub(crate) async fn repeat(
        &self,
        handed: &Handed,
        saying: Saying,
        word: String,
        limit: Duration,
    ) -> Told {
        let (begun, mut is_open) = (Instant::now(), false);
        let told = loop {
            let told = self.say_once(handed, saying, &word).await;
            match told {
                Told::Refused(409 | 404) if is_open => break Told::Open,
                Told::Taken | Told::Refused(409 | 404) => break told,
                Told::Refused(_) => {}
                Told::Open => is_open = true,
            }
            if begun.elapsed() >= limit {
                break if is_open { Told::Open } else { told };
            }
            tokio::time::sleep(AGAIN_AFTER).await;
        };
        self.account.add_said(Said {
            task: handed.task.clone(),
            token: handed.token.clone(),
            saying,
            word,
            told,
        });
        told
    }

    async fn say_once(&self, handed: &Handed, saying: Saying, word: &str) -> Told {
        let (call, body) = match saying {
            Saying::Complete => ("complete", json!({ "word": word })),
            Saying::Fail { retryable } => {
                let said =
                    json!({ "message": word, "retryable": retryable, "retryAfterSeconds": 0 });
                ("fail", said)
            }
            Saying::Unlock => ("unlock", Value::Null),
            Saying::Heartbeat => (
                "heartbeat",
                json!({ "progress": 50, "progressMessage": word }),
            ),
            Saying::Extend { seconds } => ("extend", json!({ "seconds": seconds })),
        };
        let Handed { task, token, .. } = handed;
        let path = format!("/api/external-tasks/{task}/{call}?lockToken={token}");
        let body = (!body.is_null()).then(|| body.to_string());
        match self.client.call(Method::POST, &path, body).await {
            Some((200, _)) => Told::Taken,
            // The server says that it does not know.
            Some((500, _)) | None => Told::Open,
            Some((status, _)) => Told::Refused(status),
        }
    }
}
