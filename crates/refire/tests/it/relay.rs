//! A way to a server that stays when the server moves, and that can lose answers.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};

/// Passes connections on.
pub(crate) struct Relay {
    pub(crate) url: String,
    way: Arc<Way>,
}

struct Way {
    server: Mutex<String>,
    /// Answers to be lost: of requests whose first line has this text, so many.
    losses: Mutex<String>,
    left: AtomicUsize,
}

impl Relay {
    /// To the server at this address.
    pub(crate) async fn to(url: &str) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let own = format!("http://{}", listener.local_addr().unwrap());
        let way = Arc::new(Way {
            server: Mutex::new(address(url)),
            losses: Mutex::new(String::new()),
            left: AtomicUsize::new(0),
        });
        let shared = Arc::clone(&way);
        tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                tokio::spawn(pass(stream, Arc::clone(&shared)));
            }
        });
        Self { url: own, way }
    }

    /// From now on to another address.
    pub(crate) fn moves_to(&self, url: &str) {
        *self.way.server.lock().unwrap() = address(url);
    }

    /// The server gets the next requests with this text in their first line, but their answers are lost.
    pub(crate) fn loses_answers(&self, text: &str, count: usize) {
        text.clone_into(&mut self.way.losses.lock().unwrap());
        self.way.left.store(count, Ordering::SeqCst);
    }

    /// Answers that are still to be lost.
    pub(crate) fn to_lose(&self) -> usize {
        self.way.left.load(Ordering::SeqCst)
    }
}

fn address(url: &str) -> String {
    url.trim_start_matches("http://").to_owned()
}

/// Passes a connection on until one side ends it, or an answer is lost.
async fn pass(mut client: TcpStream, way: Arc<Way>) {
    let server = way.server.lock().unwrap().clone();
    let Ok(mut server) = TcpStream::connect(server).await else {
        return;
    };
    let (mut asked, mut answered) = (vec![0; 64 * 1024], vec![0; 64 * 1024]);
    let mut is_lost = false;
    loop {
        tokio::select! {
            read = client.read(&mut asked) => {
                let Ok(length @ 1..) = read else { return };
                let text = String::from_utf8_lossy(&asked[..length]);
                let first = text.lines().next().unwrap_or_default();
                let wanted = way.losses.lock().unwrap().clone();
                if !wanted.is_empty() && first.contains(&wanted) && way.lose_one() {
                    is_lost = true;
                }
                if server.write_all(&asked[..length]).await.is_err() {
                    return;
                }
            }
            read = server.read(&mut answered) => {
                let Ok(length @ 1..) = read else { return };
                if is_lost || client.write_all(&answered[..length]).await.is_err() {
                    return;
                }
            }
        }
    }
}

impl Way {
    fn lose_one(&self) -> bool {
        let fewer = |left: usize| left.checked_sub(1);
        let order = Ordering::SeqCst;
        self.left.fetch_update(order, order, fewer).is_ok()
    }
}
