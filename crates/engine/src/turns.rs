//! A connection that takes turns with all others.
//!
//! Whoever sends without a pause would keep its reader busy for as long as it likes, and everybody
//! who waits for the same thread, deadlines included, would wait with it. So a reader pauses after so
//! many bytes. It never changes what is read, and writing is not touched.

use std::io;
use std::pin::Pin;
use std::task::{Context, Poll};

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};

/// Bytes that are read before others get their turn.
const TURN_BYTES: usize = 16 * 1024;

/// A stream whose reader pauses.
#[derive(Debug)]
pub struct Turns<S> {
    stream: S,
    /// Bytes read since others last had their turn.
    read_bytes: usize,
}

impl<S> Turns<S> {
    /// The stream, taking turns from now on.
    pub fn new(stream: S) -> Self {
        Self {
            stream,
            read_bytes: 0,
        }
    }

    /// The stream itself.
    pub fn get_ref(&self) -> &S {
        &self.stream
    }
}

impl<S: AsyncRead + Unpin> AsyncRead for Turns<S> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        if self.read_bytes >= TURN_BYTES {
            self.read_bytes = 0;
            context.waker().wake_by_ref();
            return Poll::Pending;
        }
        let room = buffer.remaining().min(TURN_BYTES);
        let mut part = ReadBuf::new(buffer.initialize_unfilled_to(room));
        match Pin::new(&mut self.stream).poll_read(context, &mut part) {
            Poll::Ready(outcome) => outcome?,
            Poll::Pending => {
                self.read_bytes = 0;
                return Poll::Pending;
            }
        }
        let read = part.filled().len();
        buffer.advance(read);
        self.read_bytes += read;
        Poll::Ready(Ok(()))
    }
}

impl<S: AsyncWrite + Unpin> AsyncWrite for Turns<S> {
    fn poll_write(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.stream).poll_write(context, bytes)
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_flush(context)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_shutdown(context)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        parts: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.stream).poll_write_vectored(context, parts)
    }

    fn is_write_vectored(&self) -> bool {
        self.stream.is_write_vectored()
    }
}

#[cfg(test)]
mod tests {
    use tokio::io::AsyncWriteExt as _;
    use tokio::net::{TcpListener, TcpStream};

    use super::*;

    #[tokio::test]
    async fn a_reader_pauses_although_there_is_more_and_loses_nothing() {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let near = TcpStream::connect(listener.local_addr().unwrap()).await;
        let (mut far, _) = listener.accept().await.unwrap();
        let sent: Vec<u8> = (0..8 * TURN_BYTES).map(|number| number as u8).collect();
        let sending = tokio::spawn({
            let sent = sent.clone();
            async move { far.write_all(&sent).await.unwrap() }
        });
        let mut turns = Turns::new(near.unwrap());
        let mut read = Vec::new();
        let mut pauses = 0;
        while read.len() < sent.len() {
            match once(&mut turns).await {
                Poll::Ready(part) => read.extend(part),
                // A pause is over when it is asked again; a want of bytes most often is not.
                Poll::Pending => match once(&mut turns).await {
                    Poll::Ready(part) => {
                        pauses += 1;
                        read.extend(part);
                    }
                    Poll::Pending => tokio::task::yield_now().await,
                },
            }
        }
        sending.await.unwrap();
        assert_eq!(read, sent);
        assert!(pauses > 0);
    }

    /// Reads what is there, once.
    async fn once(turns: &mut Turns<TcpStream>) -> Poll<Vec<u8>> {
        let mut bytes = vec![0; TURN_BYTES];
        let mut buffer = ReadBuf::new(&mut bytes);
        let polled = std::future::poll_fn(|context| {
            Poll::Ready(Pin::new(&mut *turns).poll_read(context, &mut buffer))
        });
        polled.await.map(|outcome| {
            outcome.unwrap();
            buffer.filled().to_vec()
        })
    }
}
