//! A target on this machine that answers at once, or never. It costs next to nothing, and tells
//! whoever asks when each call arrived.

use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::task::JoinSet;
use tokio_util::task::AbortOnDropHandle;

use crate::wire;

/// A call of a bench is shorter.
const CALL_BYTES_MAX: usize = 64 * 1_024;
const ANSWER: &[u8] =
    b"HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: 11\r\n\r\n{\"ok\":true}";

/// What is told of each call: its body, at the moment it is there.
type Listener = dyn Fn(&[u8]) + Send + Sync;

/// How it answers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Manner {
    AtOnce,
    Never,
}

/// A running target; it ends when this is dropped.
pub(crate) struct Target {
    pub(crate) address: SocketAddr,
    calls: Arc<AtomicU64>,
    _serving: AbortOnDropHandle<()>,
}

impl Target {
    pub(crate) async fn start(manner: Manner) -> anyhow::Result<Self> {
        Self::start_and_tell(manner, |_| {}).await
    }

    /// Starts it; `heard` is told of each call.
    pub(crate) async fn start_and_tell(
        manner: Manner,
        heard: impl Fn(&[u8]) + Send + Sync + 'static,
    ) -> anyhow::Result<Self> {
        let listener = TcpListener::bind("127.0.0.1:0").await?;
        let address = listener.local_addr()?;
        let calls = Arc::new(AtomicU64::new(0));
        let counted = Arc::clone(&calls);
        let heard: Arc<Listener> = Arc::new(move |body| {
            counted.fetch_add(1, Ordering::Relaxed);
            heard(body);
        });
        let serving = tokio::spawn(async move {
            let mut connections = JoinSet::new();
            while let Ok((stream, _)) = listener.accept().await {
                connections.spawn(converse(stream, manner, Arc::clone(&heard)));
                while connections.try_join_next().is_some() {}
            }
        });
        Ok(Self {
            address,
            calls,
            _serving: AbortOnDropHandle::new(serving),
        })
    }

    /// A workflow with one step that calls it.
    pub(crate) fn workflow(&self) -> String {
        workflow(&format!("http://{}/", self.address))
    }

    /// Calls that have arrived.
    pub(crate) fn calls(&self) -> u64 {
        self.calls.load(Ordering::Relaxed)
    }
}

/// A workflow whose calls go nowhere: somebody else answers them, or nobody.
pub(crate) fn workflow_to_nowhere() -> String {
    workflow("https://target.example/")
}

/// The name of the workflow that everything here runs.
pub(crate) const WORKFLOW: &str = "bench";

/// A workflow with one step that posts its input to a URL.
pub(crate) fn workflow(url: &str) -> String {
    format!(
        "id: {WORKFLOW}\nsteps:\n  - id: call\n    type: http\n    config: \
         {{ method: POST, url: \"{url}\", body: \"${{input}}\" }}\n"
    )
}

async fn converse(mut stream: TcpStream, manner: Manner, heard: Arc<Listener>) {
    let _ = stream.set_nodelay(true);
    let mut buffer = Vec::with_capacity(CALL_BYTES_MAX);
    loop {
        match wire::extent(&buffer) {
            Some(extent) if buffer.len() >= extent.whole => {
                heard(&buffer[extent.head..extent.whole]);
                buffer.drain(..extent.whole);
                if manner == Manner::AtOnce && stream.write_all(ANSWER).await.is_err() {
                    return;
                }
                continue;
            }
            _ if buffer.len() > CALL_BYTES_MAX => return,
            _ => {}
        }
        if stream.read_buf(&mut buffer).await.unwrap_or(0) == 0 {
            return;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn each_call_is_told_and_answered() {
        let (told, mut heard) = tokio::sync::mpsc::unbounded_channel();
        let target = Target::start_and_tell(Manner::AtOnce, move |body| {
            let _ = told.send(body.to_vec());
        });
        let target = target.await.unwrap();
        let mut stream = TcpStream::connect(target.address).await.unwrap();
        // Two in one write, the second in two pieces.
        let call = b"POST / HTTP/1.1\r\ncontent-length: 2\r\n\r\nab";
        stream
            .write_all(&[&call[..], &call[..20]].concat())
            .await
            .unwrap();
        assert_eq!(heard.recv().await.unwrap(), b"ab");
        stream.write_all(&call[20..]).await.unwrap();
        assert_eq!(heard.recv().await.unwrap(), b"ab");
        let mut answers = vec![0; ANSWER.len() * 2];
        stream.read_exact(&mut answers).await.unwrap();
        assert_eq!(answers, [ANSWER, ANSWER].concat());
        assert_eq!(target.calls(), 2);
    }
}
