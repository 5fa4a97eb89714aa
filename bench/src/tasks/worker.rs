//! A connection of a worker: raw HTTP, and no more of JSON than is needed.

use std::fmt::Write as _;
use std::net::SocketAddr;
use std::time::Duration;

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

use super::TYPE;
use crate::process::Server;
use crate::target::WORKFLOW;
use crate::{rows, wire};

/// What an answer may take.
const ANSWER_WITHIN: Duration = Duration::from_secs(60);

/// A task that was fetched.
#[derive(Debug, Clone)]
pub(super) struct Fetched {
    pub(super) id: String,
    pub(super) token: String,
}

/// See the module.
pub(super) struct Worker {
    stream: TcpStream,
    buffer: Vec<u8>,
    head: String,
}

impl Worker {
    pub(super) async fn connect(server: &Server) -> anyhow::Result<Self> {
        let to: SocketAddr = server.process.address;
        let stream = TcpStream::connect(to).await?;
        stream.set_nodelay(true)?;
        let mut head = format!("host: {to}\r\n");
        for (name, value) in server.headers() {
            let _ = write!(head, "{name}: {value}\r\n");
        }
        Ok(Self {
            stream,
            buffer: Vec::new(),
            head,
        })
    }

    async fn send(&mut self, method: &str, path: &str, body: &[u8]) -> anyhow::Result<()> {
        let (head, length) = (&self.head, body.len());
        let request = format!("{method} {path} HTTP/1.1\r\n{head}content-length: {length}\r\n\r\n");
        let mut bytes = request.into_bytes();
        bytes.extend_from_slice(body);
        Ok(self.stream.write_all(&bytes).await?)
    }

    /// The answer to what was sent: its status; its body is kept.
    async fn answer(&mut self, within: Duration) -> anyhow::Result<(u16, &[u8])> {
        self.buffer.clear();
        loop {
            let read = self.stream.read_buf(&mut self.buffer);
            let read = tokio::time::timeout(within, read).await??;
            anyhow::ensure!(read > 0, "the server hung up");
            if let Some(extent) = wire::extent(&self.buffer)
                && self.buffer.len() >= extent.whole
            {
                let status = wire::status(&self.buffer);
                return Ok((status, &self.buffer[extent.head..extent.whole]));
            }
        }
    }

    /// Asks for tasks; they are what [`Self::fetched`] reads.
    pub(super) async fn ask(&mut self, most: usize, wait: u32) -> anyhow::Result<()> {
        let path = format!(
            "/api/external-tasks/poll?taskType={TYPE}&workerId=w&maxTasks={most}&waitSeconds={wait}"
        );
        self.send("GET", &path, b"").await
    }

    pub(super) async fn fetched(&mut self) -> anyhow::Result<Vec<Fetched>> {
        self.fetched_within(ANSWER_WITHIN).await
    }

    /// As [`Self::fetched`], for a poll that may wait so long.
    pub(super) async fn fetched_within(&mut self, wait: Duration) -> anyhow::Result<Vec<Fetched>> {
        let (status, body) = self.answer(wait).await?;
        match status {
            204 => Ok(Vec::new()),
            200 => {
                let tasks: Vec<refire_client::model::Task> = serde_json::from_slice(body)?;
                let fetched = tasks.into_iter().map(|task| Fetched {
                    id: task.id,
                    token: task.lock_token.unwrap_or_default(),
                });
                Ok(fetched.collect())
            }
            other => anyhow::bail!("a poll got {other}: {}", String::from_utf8_lossy(body)),
        }
    }

    pub(super) async fn complete(&mut self, task: &Fetched) -> anyhow::Result<()> {
        self.say("complete", task, br#"{"ok":true}"#).await
    }

    pub(super) async fn beat(&mut self, task: &Fetched) -> anyhow::Result<()> {
        self.say("heartbeat", task, b"{}").await
    }

    async fn say(&mut self, what: &str, task: &Fetched, body: &[u8]) -> anyhow::Result<()> {
        let path = format!(
            "/api/external-tasks/{}/{what}?lockToken={}",
            task.id, task.token
        );
        self.send("POST", &path, body).await?;
        self.is_done(what).await
    }

    /// Starts an execution, which is a task.
    pub(super) async fn create(&mut self) -> anyhow::Result<()> {
        let path = format!("/api/workflows/{WORKFLOW}/execute");
        self.send("POST", &path, &rows::body()).await?;
        self.is_done("an execution").await
    }

    /// Says the last word of a target.
    pub(super) async fn call_back(&mut self, token: &str) -> anyhow::Result<()> {
        let path = format!("/task-callback/{token}");
        let body = br#"{"status":"success","result":{"ok":true}}"#;
        self.send("PUT", &path, body).await?;
        self.is_done("a callback").await
    }

    /// Reads a page of a scheduled task's history.
    pub(super) async fn history(&mut self, task: &str, records: usize) -> anyhow::Result<()> {
        let path = format!("/task-history/{task}?limit={records}");
        self.send("GET", &path, b"").await?;
        self.is_done("a history").await
    }

    async fn is_done(&mut self, what: &str) -> anyhow::Result<()> {
        let (status, body) = self.answer(ANSWER_WITHIN).await?;
        let said = || format!("{what} got {status}: {}", String::from_utf8_lossy(body));
        anyhow::ensure!((200..300).contains(&status), said());
        Ok(())
    }
}
