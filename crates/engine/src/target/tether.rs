//! Nothing is sent to a target under a lease that may be over.
//!
//! A process may stand still between the moment it looks at its lease and the moment its request
//! leaves: stopped, swapped out, moved to another machine. When it goes on, others have its work, and
//! the request would be a call that nobody knows of. So each write looks once more, right before it is
//! handed to the system, and waits while the lease may be over. When the lease is lost, every
//! connection made under it is closed, with whatever was still to be sent.

use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::time::{Instant, Sleep, sleep};
use tokio_util::sync::{CancellationToken, WaitForCancellationFutureOwned};

use crate::lock::Mutex;

/// How long a write waits before it looks again whether the lease was renewed.
const LOOK_AGAIN_AFTER: Duration = Duration::from_millis(50);

/// What all connections of a node hang on. The default holds for ever.
#[derive(Debug, Clone, Default)]
pub struct Tether(Arc<Mutex<Hold>>);

#[derive(Debug, Default)]
struct Hold {
    /// None = for ever.
    until: Option<Instant>,
    /// Set when what was connected so far is to be closed.
    cut: CancellationToken,
}

impl Tether {
    /// It holds until then, and longer if it is told so in time or later.
    pub fn holds_until(&self, until: Instant) {
        self.0.lock().until = Some(until);
    }

    /// Closes every connection made so far. Those made from now on are not touched.
    pub fn cut(&self) {
        let cut = std::mem::take(&mut self.0.lock().cut);
        cut.cancel();
    }

    fn holds(&self) -> bool {
        let until = self.0.lock().until;
        until.is_none_or(|until| Instant::now() < until)
    }

    /// For a connection that is about to be made.
    pub(super) fn cord(&self) -> Cord {
        Cord {
            tether: self.clone(),
            cut: self.0.lock().cut.clone(),
        }
    }
}

/// Ties one connection. Taken before it is made, so that a cut in between is not missed.
pub(super) struct Cord {
    tether: Tether,
    cut: CancellationToken,
}

impl Cord {
    pub(super) fn tie<S>(self, stream: S) -> Tethered<S> {
        Tethered {
            stream,
            tether: self.tether,
            cut: Box::pin(self.cut.cancelled_owned()),
            look_again: None,
        }
    }
}

/// A connection that hangs on the lease.
#[derive(Debug)]
pub(super) struct Tethered<S> {
    stream: S,
    tether: Tether,
    cut: Pin<Box<WaitForCancellationFutureOwned>>,
    /// While a write waits.
    look_again: Option<Pin<Box<Sleep>>>,
}

impl<S> Tethered<S> {
    /// Fails when the connection is cut; whoever polls is woken when that happens.
    fn poll_cut(&mut self, context: &mut Context<'_>) -> io::Result<()> {
        match self.cut.as_mut().poll(context) {
            Poll::Ready(()) => Err(io::Error::new(
                io::ErrorKind::ConnectionAborted,
                "this node lost its lease",
            )),
            Poll::Pending => Ok(()),
        }
    }

    /// Ready when something may be sent.
    fn poll_may_send(&mut self, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        self.poll_cut(context)?;
        while !self.tether.holds() {
            let wait = self
                .look_again
                .get_or_insert_with(|| Box::pin(sleep(LOOK_AGAIN_AFTER)));
            std::task::ready!(wait.as_mut().poll(context));
            self.look_again = None;
        }
        self.look_again = None;
        Poll::Ready(Ok(()))
    }
}

impl<S: AsyncRead + Unpin> AsyncRead for Tethered<S> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        self.poll_cut(context)?;
        Pin::new(&mut self.stream).poll_read(context, buffer)
    }
}

impl<S: AsyncWrite + Unpin> AsyncWrite for Tethered<S> {
    fn poll_write(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        std::task::ready!(self.poll_may_send(context))?;
        Pin::new(&mut self.stream).poll_write(context, bytes)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        parts: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        std::task::ready!(self.poll_may_send(context))?;
        Pin::new(&mut self.stream).poll_write_vectored(context, parts)
    }

    fn is_write_vectored(&self) -> bool {
        self.stream.is_write_vectored()
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_flush(context)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_shutdown(context)
    }
}
