//! The front door: accepts connections, bounds what each may cost, and closes in order.
//!
//! A connection must send its first byte and each request's headers in time, may not idle for
//! ever, and there are only so many of them. Who sends nothing, or sends a byte now and then,
//! holds a socket for seconds and nothing else.

mod activity;
mod entrance;
mod unread_body;

use std::io::ErrorKind;
use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;
use std::time::Duration;

use anyhow::Context;
use hyper_util::rt::{TokioExecutor, TokioIo, TokioTimer};
use hyper_util::server::conn::auto::Builder;
use refire_engine::turns::Turns;
use tokio::net::{TcpListener, TcpSocket, TcpStream};
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use activity::{Activity, Watched};
use entrance::Entrance;

use super::Api;

/// Until the first byte of a connection.
const FIRST_BYTE_WITHIN: Duration = Duration::from_secs(10);
/// Until a request's headers are complete; also how long a connection may idle between requests.
const HEADERS_WITHIN: Duration = Duration::from_secs(10);
/// A connection without a request in flight is closed after this, counted from when it was accepted.
const IDLE_MAX: Duration = Duration::from_secs(11);
/// A connection that was asked to close and still has no request in flight is cut after this.
const CLOSE_WITHIN: Duration = Duration::from_secs(2);
/// Headers that are parsed at all; what is a little over the limit gets a readable answer.
const HEADERS_PARSED_MAX: usize = 128;
/// Bytes that a connection may buffer; headers beyond this are refused without being kept. A thousand
/// signatures in a header, which are over the limit, fit, so that the webhook's log has a line of them.
const BUFFER_BYTES_MAX: usize = 80 * 1024;
/// Requests at once on one HTTP/2 connection.
const STREAMS_MAX: u32 = 128;
/// Streams that a client may reset before we have looked at them.
const RESETS_MAX: usize = 32;

/// Connections that may wait to be accepted. Where there is no room to wait, a client tries again
/// only after a second, and one that says nothing is not even known. The system may allow fewer.
const BACKLOG: u32 = 4096;

/// The other end of a request's connection.
#[derive(Debug, Clone, Copy)]
pub(super) struct Peer(pub(super) IpAddr);

/// Takes an address.
pub(crate) fn bind(address: SocketAddr) -> anyhow::Result<TcpListener> {
    listener(address).map_err(|error| {
        let told = match error.kind() {
            ErrorKind::AddrInUse => format!(
                "{address} is in use: another refire, or another program, listens there; stop it \
                 or choose another address with --listen"
            ),
            ErrorKind::PermissionDenied => format!(
                "{address} may not be listened on: ports below 1024 need a privilege; choose \
                 another with --listen"
            ),
            ErrorKind::AddrNotAvailable => {
                format!("{address} is not an address of this machine; see --listen")
            }
            _ => format!("{address} cannot be used to listen on"),
        };
        anyhow::Error::new(error).context(told)
    })
}

fn listener(address: SocketAddr) -> std::io::Result<TcpListener> {
    let socket = match address {
        SocketAddr::V4(_) => TcpSocket::new_v4()?,
        SocketAddr::V6(_) => TcpSocket::new_v6()?,
    };
    // A new start must not wait until the system has forgotten the connections of the last one.
    socket.set_reuseaddr(true)?;
    socket.bind(address)?;
    socket.listen(BACKLOG)
}

/// Accepts connections until `stop`, then lets requests in flight finish.
pub(crate) async fn serve(
    listener: TcpListener,
    api: Api,
    connections_max: usize,
    stop: CancellationToken,
) -> anyhow::Result<()> {
    let local = listener
        .local_addr()
        .context("the listener has no address")?;
    let door = Arc::new(Door {
        builder: builder(),
        api,
        stop,
    });
    let mut entrance = Entrance::new(listener, connections_max);
    let tracker = TaskTracker::new();
    loop {
        let (stream, place) = tokio::select! {
            accepted = entrance.next() => accepted?,
            () = door.stop.cancelled() => break,
        };
        let door = Arc::clone(&door);
        tracker.spawn(async move {
            door.carry(stream).await;
            drop(place);
        });
    }
    drop(entrance);
    tracing::debug!(%local, open = tracker.len(), "no more connections are accepted");
    tracker.close();
    tracker.wait().await;
    Ok(())
}

fn builder() -> Builder<TokioExecutor> {
    let mut builder = Builder::new(TokioExecutor::new());
    builder
        .http1()
        .timer(TokioTimer::new())
        .header_read_timeout(HEADERS_WITHIN)
        .max_headers(HEADERS_PARSED_MAX)
        .max_buf_size(BUFFER_BYTES_MAX);
    builder
        .http2()
        .timer(TokioTimer::new())
        .max_concurrent_streams(STREAMS_MAX)
        .max_pending_accept_reset_streams(RESETS_MAX)
        .max_local_error_reset_streams(RESETS_MAX)
        .max_header_list_size(u32::try_from(BUFFER_BYTES_MAX).unwrap_or(u32::MAX))
        .keep_alive_interval(HEADERS_WITHIN)
        .keep_alive_timeout(HEADERS_WITHIN);
    builder
}

/// What all connections share.
struct Door {
    builder: Builder<TokioExecutor>,
    api: Api,
    stop: CancellationToken,
}

impl Door {
    /// Carries one connection to its end.
    async fn carry(&self, stream: TcpStream) {
        // Its time counts from here, so that a late first byte does not buy more of it.
        let (began, activity) = (Instant::now(), Activity::default());
        // Answers are small and whole; waiting to fill a packet only delays them.
        let _ = stream.set_nodelay(true);
        let mut byte = [0];
        let first = tokio::time::timeout(FIRST_BYTE_WITHIN, stream.peek(&mut byte));
        tokio::select! {
            first = first => match first {
                Ok(Ok(bytes)) if bytes > 0 => {}
                _ => return,
            },
            () = self.stop.cancelled() => return,
        }
        let peer = stream.peer_addr().ok().map(|peer| Peer(peer.ip()));
        let service = Watched::new(self.api.clone(), activity.clone(), peer);
        let connection = self
            .builder
            .serve_connection(TokioIo::new(Turns::new(stream)), service);
        let mut connection = std::pin::pin!(connection);
        tokio::select! {
            // How a connection ends is the client's business; requests log for themselves.
            _ = connection.as_mut() => return,
            () = activity.idle_for(IDLE_MAX, began) => {}
            () = self.stop.cancelled() => {}
        }
        let asked = Instant::now();
        connection.as_mut().graceful_shutdown();
        tokio::select! {
            _ = connection => {}
            () = activity.idle_for(CLOSE_WITHIN, asked) => {}
        }
    }
}
