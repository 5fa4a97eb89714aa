//! The load client for machines without `wrk`: one thread, raw sockets, the same bytes each time.

use std::cell::Cell;
use std::fmt::Write as _;
use std::net::SocketAddr;
use std::rc::Rc;
use std::time::{Duration, Instant};

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::task::LocalSet;

use super::{Loaded, Shot, UNIQUE_DIGITS};
use crate::sample::Waits;
use crate::wire;

/// What an answer may take before the connection counts as broken.
const ANSWER_WITHIN: Duration = Duration::from_secs(30);
/// An answer of a server under test is shorter.
const ANSWER_BYTES_MAX: usize = 64 * 1_024;

/// The bytes of a request.
#[derive(Clone)]
struct Request {
    bytes: Vec<u8>,
    /// Where the digits are that change.
    unique: Option<usize>,
}

impl Request {
    fn new(shot: &Shot) -> Self {
        let mut head = format!("POST {} HTTP/1.1\r\nhost: {}\r\n", shot.path, shot.to);
        for (name, value) in &shot.headers {
            let _ = write!(head, "{name}: {value}\r\n");
        }
        let unique = shot.unique.map(|name| {
            let _ = write!(head, "{name}: ");
            let at = head.len();
            let _ = write!(head, "{:0width$}\r\n", 0, width = UNIQUE_DIGITS);
            at
        });
        let _ = write!(head, "content-length: {}\r\n\r\n", shot.body.len());
        let mut bytes = head.into_bytes();
        bytes.extend_from_slice(&shot.body);
        Self { bytes, unique }
    }

    /// The bytes with this number in them.
    fn numbered(&mut self, number: u64) -> &[u8] {
        if let Some(at) = self.unique {
            let digits = format!("{number:0width$}", width = UNIQUE_DIGITS);
            self.bytes[at..at + UNIQUE_DIGITS].copy_from_slice(digits.as_bytes());
        }
        &self.bytes
    }
}

#[derive(Default)]
struct Tally {
    waits: Waits,
    errors: u64,
}

/// Sends until the time is over.
pub(super) fn load(shot: &Shot, connections: usize, wanted: Duration) -> anyhow::Result<Loaded> {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()?;
    let local = LocalSet::new();
    let request = Request::new(shot);
    let numbers = Rc::new(Cell::new(0));
    local.block_on(&runtime, async {
        let began = Instant::now();
        let mut tasks = Vec::with_capacity(connections);
        for _ in 0..connections {
            let to = shot.to;
            let (mut request, numbers) = (request.clone(), Rc::clone(&numbers));
            tasks.push(tokio::task::spawn_local(async move {
                let mut tally = Tally::default();
                while began.elapsed() < wanted {
                    let turn = || {
                        numbers.set(numbers.get() + 1);
                        (began.elapsed() < wanted).then_some(numbers.get())
                    };
                    let sent = send_all(to, &mut request, turn, &mut tally).await;
                    tally.errors += u64::from(sent.is_err());
                }
                tally
            }));
        }
        let mut all = Tally::default();
        for task in tasks {
            let tally = task.await?;
            all.waits.extend(tally.waits);
            all.errors += tally.errors;
        }
        let answers = all.waits.len() as u64;
        Ok(Loaded {
            answers,
            req_s: answers as f64 / began.elapsed().as_secs_f64(),
            p50_ms: all.waits.percentile_ms(0.5),
            p99_ms: all.waits.percentile_ms(0.99),
            errors: all.errors,
        })
    })
}

/// One connection, as long as it holds and there is a next number.
async fn send_all(
    to: SocketAddr,
    request: &mut Request,
    turn: impl Fn() -> Option<u64>,
    tally: &mut Tally,
) -> anyhow::Result<()> {
    let mut stream = TcpStream::connect(to).await?;
    stream.set_nodelay(true)?;
    let mut buffer = Vec::with_capacity(ANSWER_BYTES_MAX);
    while let Some(number) = turn() {
        let one = Instant::now();
        stream.write_all(request.numbered(number)).await?;
        let status =
            tokio::time::timeout(ANSWER_WITHIN, answer(&mut stream, &mut buffer)).await??;
        tally.waits.add(one.elapsed());
        if !(200..300).contains(&status) {
            tally.errors += 1;
        }
    }
    Ok(())
}

async fn answer(stream: &mut TcpStream, buffer: &mut Vec<u8>) -> anyhow::Result<u16> {
    buffer.clear();
    loop {
        let read = stream.read_buf(buffer).await?;
        anyhow::ensure!(read > 0, "the server hung up");
        anyhow::ensure!(buffer.len() < ANSWER_BYTES_MAX, "the answer is too long");
        if let Some(extent) = wire::extent(buffer)
            && buffer.len() >= extent.whole
        {
            return Ok(wire::status(buffer));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::target::{Manner, Target};

    fn shot(to: SocketAddr, unique: Option<&'static str>) -> Shot {
        Shot {
            to,
            path: "/".to_owned(),
            headers: vec![("a".to_owned(), "b".to_owned())],
            body: b"{}".to_vec(),
            unique,
        }
    }

    #[test]
    fn a_request_is_one_message_and_only_its_number_changes() {
        let shot = shot(([127, 0, 0, 1], 1).into(), Some("idempotency-key"));
        let mut request = Request::new(&shot);
        let text = String::from_utf8(request.numbered(42).to_vec()).unwrap();
        assert_eq!(wire::extent(text.as_bytes()).unwrap().whole, text.len());
        assert!(
            text.contains("\r\nidempotency-key: 00000000000000000042\r\n"),
            "{text}"
        );
        let other = request.numbered(7);
        assert_eq!(other.len(), text.len());
        assert_ne!(other, text.as_bytes());
    }

    #[tokio::test]
    async fn answers_are_counted_once_each() {
        let target = Target::start(Manner::AtOnce).await.unwrap();
        let shot = shot(target.address, None);
        let wanted = Duration::from_millis(200);
        let loaded = tokio::task::spawn_blocking(move || load(&shot, 4, wanted));
        let loaded = loaded.await.unwrap().unwrap();
        assert!(loaded.answers > 0);
        assert_eq!((loaded.answers, loaded.errors), (target.calls(), 0));
    }
}
