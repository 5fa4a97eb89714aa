//! A connection to a target, plain or behind TLS.

use hyper_util::client::legacy::connect::{Connected, Connection};
use tokio::net::TcpStream;
use tokio_rustls::client::TlsStream;
use tokio_util::either::Either;

use super::leftover::Answered;
use super::tether::Tethered;
use crate::turns::Turns;

/// What HTTP/2 is called when TLS agrees on it.
pub(super) const ALPN_H2: &[u8] = b"h2";

/// A connection to a target.
pub(super) type Wire = Turns<Either<Plain, Box<TlsStream<Plain>>>>;

/// What carries it.
type Plain = Tethered<TcpStream>;

impl Connection for Wire {
    fn connected(&self) -> Connected {
        let agreed = match self.get_ref() {
            Either::Left(_) => None,
            Either::Right(stream) => stream.get_ref().1.alpn_protocol(),
        };
        let connected = Connected::new().extra(Answered::default());
        match agreed {
            Some(ALPN_H2) => connected.negotiated_h2(),
            _ => connected,
        }
    }
}
