//! Targets that take their time, send without end, or close at the worst moment.

use std::io::Write as _;
use std::sync::Arc;
use std::time::Duration;

use flate2::Compression;
use flate2::write::GzEncoder;
use tokio::net::{TcpSocket, TcpStream};

use crate::stub::{Calls, End, SHORT, Seen, Stub};

/// Between two bytes of a slow target.
const DRIP: Duration = Duration::from_secs(1);
const OK: &str = "HTTP/1.1 200 OK\r\n";
const OK_TEXT: &str = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok";

/// All of them.
pub(crate) async fn stubs() -> Vec<Stub> {
    let mut stubs = late().await;
    stubs.extend(cut().await);
    stubs.extend(endless().await);
    stubs
}

/// Never, or not in time.
async fn late() -> Vec<Stub> {
    let too_late = End::Failed("read_timeout");
    let slowly = |name, at_once: &'static str, slowly: &'static str| {
        Stub::scripted(name, too_late, move |mut asked| async move {
            asked.request().await;
            asked.peer.send(at_once).await;
            asked.peer.drip(slowly.repeat(100), DRIP).await;
        })
    };
    let silent = Stub::scripted("silence", too_late, |mut asked| async move {
        asked.request().await;
        asked.peer.silence().await;
    });
    let late = Stub::scripted("late-answer", too_late, |mut asked| async move {
        asked.request().await;
        tokio::time::sleep(SHORT + SHORT / 2).await;
        asked.peer.send(OK_TEXT).await;
    });
    vec![
        silent.await.in_a_second(),
        late.await.in_a_second(),
        slowly("slow-headers", OK, "X-Slow: 1\r\n")
            .await
            .in_a_second(),
        slowly(
            "slow-body",
            "HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\n",
            "a",
        )
        .await
        .in_a_second(),
        black_hole().await.in_a_second(),
    ]
}

/// A listener whose queue is full: the system drops whoever wants to connect.
async fn black_hole() -> Stub {
    const FILL_WITHIN: Duration = Duration::from_millis(200);
    let socket = TcpSocket::new_v4().unwrap();
    socket.bind(([127, 0, 0, 1], 0).into()).unwrap();
    let listener = socket.listen(1).unwrap();
    let address = listener.local_addr().unwrap();
    let mut filling = Vec::new();
    for _ in 0..4 {
        let connecting = TcpStream::connect(address);
        filling.push(tokio::time::timeout(FILL_WITHIN, connecting).await);
    }
    let end = End::Failed("connect_timeout");
    let url = format!("http://{address}/");
    let seen = Seen::default();
    Stub::new("black-hole", url, end, (listener, filling), seen).calls(Calls::Unread)
}

/// Closed or reset in the middle.
async fn cut() -> Vec<Stub> {
    let reset = End::Failed("connection_reset");
    let after = |name, sent: &'static str| {
        Stub::scripted(name, reset, move |mut asked| async move {
            asked.request().await;
            asked.peer.send(sent).await;
            // So that the client has read what was sent.
            tokio::time::sleep(Duration::from_millis(20)).await;
            asked.peer.reset();
        })
    };
    let stale = |name, reads: bool| {
        let end = End::Either("connection_reset");
        Stub::scripted(name, end, move |mut asked| async move {
            if asked.request().await {
                asked.peer.send(OK_TEXT).await;
            }
            // The second request on the same connection is read, and then nothing comes back.
            if reads {
                asked.request().await;
            }
        })
    };
    vec![
        after(
            "reset-after-headers",
            "HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\n",
        )
        .await,
        after(
            "reset-in-body",
            "HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nhalf",
        )
        .await,
        reset_at_once().await,
        stale("stale-when-reused", true).await.together(4),
        stale("closes-after-answer", false)
            .await
            .together(4)
            .calls(Calls::AtMost),
    ]
}

/// Resets before it has read anything: each attempt is one connection and no more.
async fn reset_at_once() -> Stub {
    let server = crate::hostile::Hostile::start(|peer| async move { peer.reset() }).await;
    let server = Arc::new(server);
    let counted = Arc::clone(&server);
    let end = End::Failed("connection_reset");
    let url = server.url();
    Stub::new("reset-at-once", url, end, server, Seen::default())
        .calls(Calls::Exactly(Box::new(move || counted.connections())))
}

/// More than anybody wants.
async fn endless() -> Vec<Stub> {
    let too_large = End::Failed("response_too_large");
    let endless = |name, head: &'static str, part: String| {
        let part: Arc<str> = part.into();
        Stub::scripted(name, too_large, move |mut asked| {
            let part = Arc::clone(&part);
            async move {
                asked.request().await;
                asked.peer.send(format!("{OK}{head}\r\n\r\n")).await;
                asked.peer.send_for_ever(&*part).await;
            }
        })
    };
    let plain = "y".repeat(0x4000);
    let chunk = format!("4000\r\n{}\r\n", "x".repeat(0x4000));
    let chunked = "Transfer-Encoding: chunked";
    let invalid = End::Failed("invalid_response");
    let hints = Stub::scripted("endless-hints", invalid, |mut asked| async move {
        asked.request().await;
        let hint = "HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\n";
        asked.peer.send_for_ever(hint.repeat(100)).await;
    });
    vec![
        hints.await,
        endless(
            "five-gigabytes",
            "Content-Length: 5368709120",
            plain.clone(),
        )
        .await,
        endless("until-closed", "Connection: close", plain).await,
        endless("endless-chunks", chunked, chunk).await,
        // Each of its bytes costs as much as a chunk of any size, so it gets to send fewer.
        endless("endless-small-chunks", chunked, "1\r\nx\r\n".repeat(2_000))
            .await
            .keeping(2 * 1024),
        bomb("gzip-bomb", 1_000, too_large).await,
        bomb("small-gzip-bomb", 90, invalid).await,
    ]
}

/// A compressed body of about ten kilobytes for each part, which unpacks to ten megabytes.
async fn bomb(name: &'static str, parts: usize, end: End) -> Stub {
    const PART_UNPACKED_BYTES: usize = 10 * 1024 * 1024;
    let mut packing = GzEncoder::new(Vec::new(), Compression::best());
    packing.write_all(&vec![0; PART_UNPACKED_BYTES]).unwrap();
    // Parts that follow each other are one file.
    let body = packing.finish().unwrap().repeat(parts);
    let length = body.len();
    let mut answer =
        format!("{OK}Content-Encoding: gzip\r\nContent-Length: {length}\r\n\r\n").into_bytes();
    answer.extend(body);
    Stub::answering(name, end, answer).await
}
