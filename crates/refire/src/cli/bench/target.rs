//! The service that the throw-away workflow calls: reads the request, says yes.
//!
//! It has a thread of its own, so that answering the server and sending to it do not wait for
//! each other.

use std::convert::Infallible;
use std::net::{Ipv4Addr, SocketAddr};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use anyhow::Context as _;
use bytes::Bytes;
use http::header::CONTENT_TYPE;
use http::{HeaderValue, Request, Response};
use http_body_util::{BodyExt as _, Full};
use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::TokioIo;
use tokio::net::TcpListener;
use tokio::runtime;
use tokio_util::sync::{CancellationToken, DropGuard};

const ANSWER: &str = r#"{"ok":true}"#;

/// A running target; ends when it is dropped.
pub(super) struct Target {
    /// Where it listens.
    pub(super) address: SocketAddr,
    calls: Arc<AtomicU64>,
    _stop: DropGuard,
}

impl Target {
    /// Starts it on a free port of this machine.
    pub(super) fn start() -> anyhow::Result<Self> {
        let listener = std::net::TcpListener::bind((Ipv4Addr::LOCALHOST, 0))
            .context("no port for the target of the load test")?;
        listener.set_nonblocking(true)?;
        let address = listener.local_addr()?;
        let runtime = runtime::Builder::new_current_thread()
            .enable_all()
            .build()?;
        let (calls, stop) = (Arc::new(AtomicU64::new(0)), CancellationToken::new());
        let (counter, stopped) = (Arc::clone(&calls), stop.clone());
        std::thread::Builder::new()
            .name("bench-target".to_owned())
            .spawn(move || {
                runtime.block_on(async {
                    tokio::select! {
                        _ = serve(listener, counter) => {}
                        () = stopped.cancelled() => {}
                    }
                });
            })?;
        Ok(Self {
            address,
            calls,
            _stop: stop.drop_guard(),
        })
    }

    /// Calls answered so far.
    pub(super) fn calls(&self) -> u64 {
        self.calls.load(Ordering::Relaxed)
    }
}

async fn serve(listener: std::net::TcpListener, calls: Arc<AtomicU64>) -> std::io::Result<()> {
    let listener = TcpListener::from_std(listener)?;
    loop {
        let (stream, _) = listener.accept().await?;
        let _ = stream.set_nodelay(true);
        let calls = Arc::clone(&calls);
        tokio::spawn(async move {
            let service = service_fn(|request| answer(request, &calls));
            let connection = http1::Builder::new().serve_connection(TokioIo::new(stream), service);
            // Only the server calls it; how a connection ends is its business.
            let _ = connection.await;
        });
    }
}

async fn answer(
    request: Request<Incoming>,
    calls: &AtomicU64,
) -> Result<Response<Full<Bytes>>, Infallible> {
    let _ = request.into_body().collect().await;
    calls.fetch_add(1, Ordering::Relaxed);
    let mut response = Response::new(Full::new(Bytes::from_static(ANSWER.as_bytes())));
    let json = HeaderValue::from_static("application/json");
    response.headers_mut().insert(CONTENT_TYPE, json);
    Ok(response)
}
