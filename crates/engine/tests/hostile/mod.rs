//! A server on loopback that does exactly what a script says, byte by byte, and counts what it
//! was asked and what it could send. It knows no HTTP beyond where a request ends.

pub(crate) mod secure;

use std::future::Future;
use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::time::Duration;

use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpSocket, TcpStream};
use tokio::task::{JoinHandle, JoinSet};

/// Connections that may wait to be accepted, so that only who wants to turns them away.
const BACKLOG: u32 = 1024;
/// Small, so that what was sent is close to what was read.
const SEND_BUFFER_BYTES: u32 = 64 * 1024;

#[derive(Debug, Default)]
struct Counts {
    connections: AtomicUsize,
    requests: AtomicUsize,
    sent_bytes: AtomicU64,
}

/// The server; it ends when this is dropped, and its connections with it.
pub(crate) struct Hostile {
    pub(crate) address: SocketAddr,
    counts: Arc<Counts>,
    accepting: JoinHandle<()>,
}

impl Drop for Hostile {
    fn drop(&mut self) {
        self.accepting.abort();
    }
}

impl Hostile {
    /// Runs the script for every connection.
    pub(crate) async fn start<F, S>(script: F) -> Self
    where
        F: Fn(Peer) -> S + Send + 'static,
        S: Future<Output = ()> + Send + 'static,
    {
        let socket = TcpSocket::new_v4().unwrap();
        socket.set_send_buffer_size(SEND_BUFFER_BYTES).unwrap();
        socket.bind(SocketAddr::from(([127, 0, 0, 1], 0))).unwrap();
        let listener = socket.listen(BACKLOG).unwrap();
        let address = listener.local_addr().unwrap();
        let counts = Arc::new(Counts::default());
        let shared = Arc::clone(&counts);
        let accepting = tokio::spawn(async move {
            let mut peers = JoinSet::new();
            while let Ok((stream, _)) = listener.accept().await {
                shared.connections.fetch_add(1, Ordering::SeqCst);
                let peer = Peer {
                    stream,
                    counts: Arc::clone(&shared),
                };
                peers.spawn(script(peer));
                while peers.try_join_next().is_some() {}
            }
        });
        Self {
            address,
            counts,
            accepting,
        }
    }

    /// Answers every request of every connection with these bytes.
    pub(crate) async fn answering(answer: impl Into<Vec<u8>>) -> Self {
        let answer: Arc<[u8]> = answer.into().into();
        Self::start(move |mut peer| {
            let answer = Arc::clone(&answer);
            async move { while peer.request().await.is_some() && peer.send(&answer).await {} }
        })
        .await
    }

    /// Answers one request with these bytes and closes.
    pub(crate) async fn closing_after(answer: impl Into<Vec<u8>>) -> Self {
        let answer: Arc<[u8]> = answer.into().into();
        Self::start(move |mut peer| {
            let answer = Arc::clone(&answer);
            async move {
                peer.request().await;
                peer.send(&answer).await;
            }
        })
        .await
    }

    pub(crate) fn url(&self) -> String {
        format!("http://{}/", self.address)
    }

    pub(crate) fn connections(&self) -> usize {
        self.counts.connections.load(Ordering::SeqCst)
    }

    pub(crate) fn requests(&self) -> usize {
        self.counts.requests.load(Ordering::SeqCst)
    }

    pub(crate) fn sent_bytes(&self) -> u64 {
        self.counts.sent_bytes.load(Ordering::SeqCst)
    }
}

/// One connection.
pub(crate) struct Peer {
    stream: TcpStream,
    counts: Arc<Counts>,
}

impl Peer {
    /// Reads one request with its body; `None` when the client has closed.
    pub(crate) async fn request(&mut self) -> Option<String> {
        let mut request = Vec::new();
        loop {
            let mut buffer = [0; 4096];
            let read = self
                .stream
                .read(&mut buffer)
                .await
                .ok()
                .filter(|read| *read > 0)?;
            request.extend_from_slice(&buffer[..read]);
            let text = String::from_utf8_lossy(&request).into_owned();
            let Some((head, body)) = text.split_once("\r\n\r\n") else {
                continue;
            };
            let length = head.to_ascii_lowercase().lines().find_map(|line| {
                line.strip_prefix("content-length:")?
                    .trim()
                    .parse::<usize>()
                    .ok()
            });
            if body.len() >= length.unwrap_or(0) {
                self.counts.requests.fetch_add(1, Ordering::SeqCst);
                return Some(text);
            }
        }
    }

    /// False when the client is gone.
    pub(crate) async fn send(&mut self, bytes: impl AsRef<[u8]>) -> bool {
        let mut rest = bytes.as_ref();
        while !rest.is_empty() {
            match self.stream.write(rest).await {
                Ok(written) if written > 0 => {
                    self.counts
                        .sent_bytes
                        .fetch_add(written as u64, Ordering::SeqCst);
                    rest = &rest[written..];
                }
                _ => return false,
            }
        }
        true
    }

    /// Sends the same bytes until the client is gone.
    pub(crate) async fn send_for_ever(&mut self, bytes: impl AsRef<[u8]>) {
        while self.send(bytes.as_ref()).await {}
    }

    /// Sends byte by byte with pauses, until the end or until the client is gone.
    pub(crate) async fn drip(&mut self, bytes: impl AsRef<[u8]>, pause: Duration) {
        for byte in bytes.as_ref() {
            if !self.send([*byte]).await {
                return;
            }
            tokio::time::sleep(pause).await;
        }
    }

    /// Keeps the connection and says nothing until the client closes it.
    pub(crate) async fn silence(&mut self) {
        let mut buffer = [0; 1024];
        while matches!(self.stream.read(&mut buffer).await, Ok(read) if read > 0) {}
    }

    /// Ends the connection with RST.
    pub(crate) fn reset(self) {
        self.stream.set_zero_linger().unwrap();
    }

    /// The bare stream, for TLS.
    pub(crate) fn into_stream(self) -> TcpStream {
        self.stream
    }
}
