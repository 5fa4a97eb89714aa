//! Targets whose answers break the rules, or keep them in a way that few expect.

use std::sync::atomic::{AtomicUsize, Ordering};

use crate::stub::{End, Stub};

/// All of them.
pub(crate) async fn stubs() -> Vec<Stub> {
    let mut stubs = headers().await;
    stubs.extend(bodies().await);
    stubs.extend(lengths().await);
    stubs.extend(elsewhere().await);
    stubs
}

fn ok(headers: &str, body: &str) -> String {
    let length = body.len();
    format!("HTTP/1.1 200 OK\r\n{headers}Content-Length: {length}\r\n\r\n{body}")
}

async fn headers() -> Vec<Stub> {
    let invalid = End::Failed("invalid_response");
    let many: String = (0..10_000)
        .map(|number| format!("X-{number}: 1\r\n"))
        .collect();
    let large = format!("X-Large: {}\r\n", "a".repeat(1024 * 1024));
    let odd = b"HTTP/1.1 200 OK\r\nX-Odd: a\xff\xfeb\r\nContent-Length: 2\r\n\r\nok";
    vec![
        Stub::answering("many-headers", invalid, ok(&many, "")).await,
        Stub::answering("large-header", invalid, ok(&large, "")).await,
        Stub::answering("nul-in-header", invalid, ok("X-Nul: a\0b\r\n", "")).await,
        Stub::answering("odd-header", End::Completed("a\u{fffd}\u{fffd}b"), odd).await,
    ]
}

async fn bodies() -> Vec<Stub> {
    let not_text = b"HTTP/1.1 200 OK\r\nContent-Length: 6\r\n\r\nab\xff\xfecd";
    // Read as text, because nothing may look into it level by level.
    let deep = "[".repeat(200_000);
    let json = "Content-Type: application/json\r\n";
    let text = "Content-Type: text/plain\r\n";
    vec![
        Stub::answering("not-utf8", End::Failed("invalid_response"), not_text).await,
        Stub::answering("nul-in-body", End::Completed("a\0b"), ok(text, "a\0b")).await,
        Stub::answering("deep-json", End::Completed("[[[[[[["), ok(json, &deep)).await,
    ]
}

async fn lengths() -> Vec<Stub> {
    let too_big = Stub::scripted(
        "length-too-big",
        End::Failed("connection_reset"),
        |mut asked| async move {
            asked.request().await;
            asked
                .peer
                .send("HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nfour")
                .await;
        },
    );
    let small = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nfour";
    let two = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\nContent-Length: 3\r\n\r\nabc";
    vec![
        too_big.await,
        Stub::answering("length-too-small", End::Completed("fo"), small).await,
        Stub::answering("two-lengths", End::Failed("invalid_response"), two).await,
    ]
}

/// Answers that point to other places, or mean another protocol.
async fn elsewhere() -> Vec<Stub> {
    let redirected = End::Failed("redirect");
    let metadata = "HTTP/1.1 302 Found\r\nLocation: http://169.254.169.254/latest/meta-data/\r\n\
                    Content-Length: 0\r\n\r\n";
    let next = AtomicUsize::new(1);
    let chain = Stub::scripted("redirect-chain", redirected, move |mut asked| {
        // Each answer leads to the next one on the same host, a hundred and more.
        let next = next.fetch_add(1, Ordering::Relaxed);
        async move {
            let answer = format!(
                "HTTP/1.1 307 Temporary Redirect\r\nLocation: /{next}\r\nContent-Length: 0\r\n\r\n"
            );
            while asked.request().await && asked.peer.send(&answer).await {}
        }
    });
    let hints = format!(
        "HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\n{}",
        ok("", "\"hinted\"")
    );
    let upgrade =
        "HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: upgrade\r\n\r\nxx";
    vec![
        chain.await,
        Stub::answering("redirect-to-metadata", redirected, metadata).await,
        Stub::answering("early-hints", End::Completed("hinted"), hints).await,
        Stub::answering("upgrade", End::Failed("http_status"), upgrade).await,
    ]
}
