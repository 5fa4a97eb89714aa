//! A wire between a store and its server that breaks where a test wants it to.
//!
//! It understands just enough of the protocol to know where a commit begins and ends.

use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::sync::{Arc, Mutex};

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::tcp::{OwnedReadHalf, OwnedWriteHalf};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::Notify;

/// Where a commit is cut off.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Cut {
    /// Everything arrives except COMMIT.
    BeforeCommit,
    /// Everything arrives, but no answer to COMMIT comes back.
    AfterCommit,
    /// So many messages arrive.
    Middle(u32),
    /// Nothing arrives until it is let go, long after the sender has given up on the connection.
    Late,
    /// The transaction begins, and nothing more arrives.
    Hanging,
}

/// What is kept for later: the way to the server, and what was to be sent on it.
type Held = (OwnedWriteHalf, Vec<u8>);

#[derive(Default)]
struct Plan {
    next: Mutex<Option<Cut>>,
    /// The next statement with these words arrives, but its answer does not come back.
    words: Mutex<Option<&'static str>>,
    /// The next commit that has these words arrives, but no answer to it comes back.
    within: Mutex<Option<&'static str>>,
    cuts: AtomicU32,
    /// Whether there is no server any more once something was cut.
    is_last: AtomicBool,
    /// Statements that were sent, and sent again.
    asked: AtomicU32,
    /// Whether nothing is carried any more, on wires that stay open.
    is_silent: AtomicBool,
    held: Mutex<Vec<Held>>,
    is_refusing: AtomicBool,
    refused: Notify,
    /// What the server said on wires that were cut.
    said: Mutex<Vec<u8>>,
    heard: Notify,
}

impl Plan {
    /// Never returns once nobody is to hear anything.
    async fn hold_if_silent(&self) {
        if self.is_silent.load(Ordering::SeqCst) {
            std::future::pending::<()>().await;
        }
    }

    /// Whether this is the statement whose answer is to be cut.
    fn is_next(&self, statement: &str) -> bool {
        let mut words = self.words.lock().unwrap();
        words.take_if(|words| statement.contains(*words)).is_some()
    }

    /// Whether this is a statement of the commit whose answer is to be cut.
    fn is_within(&self, statement: &str) -> bool {
        let mut words = self.within.lock().unwrap();
        words.take_if(|words| statement.contains(*words)).is_some()
    }
}

/// See the module.
pub(crate) struct Proxy {
    plan: Arc<Plan>,
    url: String,
}

impl Proxy {
    /// A wire to the database of this URL.
    pub(crate) async fn to(url: &str) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let port = listener.local_addr().unwrap().port();
        let (scheme, rest) = url.split_once("://").unwrap();
        let (authority, path) = rest.split_once('/').unwrap();
        let (user, server) = authority.rsplit_once('@').unwrap();
        let (server, plan) = (server.to_owned(), Arc::new(Plan::default()));
        let name = path.split('?').next().unwrap();
        let url = format!("{scheme}://{user}@127.0.0.1:{port}/{name}?sslmode=disable");
        tokio::spawn({
            let plan = Arc::clone(&plan);
            async move {
                while let Ok((client, _)) = listener.accept().await {
                    if plan.is_refusing.load(Ordering::SeqCst) {
                        continue;
                    }
                    let server = TcpStream::connect(&server).await.unwrap();
                    carry(client, server, &plan);
                }
            }
        });
        Self { plan, url }
    }

    pub(crate) fn url(&self) -> &str {
        &self.url
    }

    /// Cuts the next commit.
    pub(crate) fn cut(&self, cut: Cut) {
        *self.plan.next.lock().unwrap() = Some(cut);
    }

    /// Cuts the answer to the next commit that has a statement with these words.
    pub(crate) fn cut_commit_with(&self, words: &'static str) {
        *self.plan.within.lock().unwrap() = Some(words);
    }

    /// Cuts the answer to the next statement with these words.
    pub(crate) fn cut_answer_to(&self, words: &'static str) {
        *self.plan.words.lock().unwrap() = Some(words);
    }

    /// Whoever finds his next commit cut finds no server either, until there is one again.
    pub(crate) fn refuse_after_cut(&self) {
        self.plan.is_last.store(true, Ordering::SeqCst);
    }

    /// How many statements were sent.
    pub(crate) fn asked(&self) -> u32 {
        self.plan.asked.load(Ordering::SeqCst)
    }

    /// From now on nobody hears anything, and nothing is closed.
    pub(crate) fn fall_silent(&self) {
        self.plan.is_silent.store(true, Ordering::SeqCst);
    }

    /// From now on there is no server, or there is one again.
    pub(crate) fn refuse(&self, is_refusing: bool) {
        self.plan.is_last.store(false, Ordering::SeqCst);
        self.plan.is_refusing.store(is_refusing, Ordering::SeqCst);
        self.plan.refused.notify_waiters();
    }

    /// How many commits were cut.
    pub(crate) fn cuts(&self) -> u32 {
        self.plan.cuts.load(Ordering::SeqCst)
    }

    /// Sends what was held back.
    pub(crate) async fn let_go(&self) -> usize {
        let held = std::mem::take(&mut *self.plan.held.lock().unwrap());
        let count = held.len();
        for (mut server, bytes) in held {
            server.write_all(&bytes).await.unwrap();
            // The wire stays open: the server's answer is awaited.
            self.plan.held.lock().unwrap().push((server, Vec::new()));
        }
        count
    }

    /// Waits until the server has said this on a wire that was cut.
    pub(crate) async fn heard(&self, words: &str) {
        loop {
            let heard = self.plan.heard.notified();
            let words = words.as_bytes();
            let is_said = |said: &[u8]| said.windows(words.len()).any(|some| some == words);
            if is_said(&self.plan.said.lock().unwrap()) {
                return;
            }
            heard.await;
        }
    }
}

/// What both directions of one connection know.
#[derive(Default)]
struct Wire {
    /// Nothing more goes back to the client.
    is_cut: AtomicBool,
    changed: Notify,
}

impl Wire {
    fn cut(&self) {
        self.is_cut.store(true, Ordering::SeqCst);
        self.changed.notify_one();
    }
}

fn carry(client: TcpStream, server: TcpStream, plan: &Arc<Plan>) {
    for socket in [&client, &server] {
        socket.set_nodelay(true).unwrap();
    }
    let (from_client, to_client) = client.into_split();
    let (from_server, to_server) = server.into_split();
    let wire = Arc::new(Wire::default());
    let back = back(from_server, to_client, Arc::clone(&wire), Arc::clone(plan));
    let forth = forth(from_client, to_server, wire, Arc::clone(plan));
    tokio::spawn(until_refused(Arc::clone(plan), back));
    tokio::spawn(until_refused(Arc::clone(plan), forth));
}

/// Carries until there is no server any more.
async fn until_refused(plan: Arc<Plan>, carrying: impl Future<Output = ()>) {
    tokio::select! {
        () = plan.refused.notified() => {}
        () = carrying => {}
    }
}

/// Server to client, until the wire is cut; then what comes is only noted.
async fn back(mut server: OwnedReadHalf, client: OwnedWriteHalf, wire: Arc<Wire>, plan: Arc<Plan>) {
    let mut client = Some(client);
    let mut bytes = [0; 16 * 1024];
    loop {
        let count = tokio::select! {
            biased;
            () = wire.changed.notified() => {
                client = None;
                continue;
            }
            read = server.read(&mut bytes) => read.unwrap_or(0),
        };
        if count == 0 {
            return;
        }
        plan.hold_if_silent().await;
        if wire.is_cut.load(Ordering::SeqCst) {
            client = None;
            plan.said.lock().unwrap().extend(&bytes[..count]);
            plan.heard.notify_waiters();
        }
        if let Some(client) = &mut client
            && client.write_all(&bytes[..count]).await.is_err()
        {
            return;
        }
    }
}

/// A message from the client: its kind (absent in the first one), and all its bytes.
async fn message(client: &mut OwnedReadHalf, is_first: bool) -> Option<(u8, Vec<u8>)> {
    let kind = if is_first {
        0
    } else {
        client.read_u8().await.ok()?
    };
    let length = client.read_u32().await.ok()?;
    let mut bytes = Vec::new();
    if !is_first {
        bytes.push(kind);
    }
    bytes.extend(length.to_be_bytes());
    let start = bytes.len();
    bytes.resize(start + length as usize - 4, 0);
    client.read_exact(&mut bytes[start..]).await.ok()?;
    Some((kind, bytes))
}

/// The `n`th text of a message that begins with texts.
fn text(message: &[u8], n: usize) -> String {
    let text = message[5..].split(|byte| *byte == 0).nth(n).unwrap();
    String::from_utf8(text.to_vec()).unwrap()
}

/// Client to server, message by message.
async fn forth(
    mut client: OwnedReadHalf,
    mut server: OwnedWriteHalf,
    wire: Arc<Wire>,
    plan: Arc<Plan>,
) {
    let mut statements = HashMap::new();
    let mut cut = None;
    // Messages since BEGIN, whether COMMIT is among them, and what is held back.
    let (mut count, mut is_end, mut held) = (0, false, Vec::new());
    let mut is_first = true;
    while let Some((kind, bytes)) = message(&mut client, is_first).await {
        is_first = false;
        plan.hold_if_silent().await;
        if kind == b'P' {
            statements.insert(text(&bytes, 0), text(&bytes, 1));
        }
        if kind == b'B' {
            plan.asked.fetch_add(1, Ordering::SeqCst);
            let statement = statements.get(&text(&bytes, 1)).map(String::as_str);
            if statement.is_some_and(|statement| plan.is_next(statement)) {
                (cut, is_end) = (Some(Cut::AfterCommit), true);
            }
            if statement.is_some_and(|statement| plan.is_within(statement)) {
                cut = Some(Cut::AfterCommit);
            }
            match statement {
                Some("BEGIN") => {
                    cut = plan.next.lock().unwrap().take();
                    (count, is_end) = (0, false);
                }
                Some("COMMIT") => is_end = true,
                _ => {}
            }
        }
        count += 1;
        let is_sync = kind == b'S';
        let is_cut = match cut {
            None => false,
            Some(Cut::BeforeCommit) => is_end,
            Some(Cut::Middle(many)) => count > many,
            Some(Cut::AfterCommit | Cut::Late | Cut::Hanging) => {
                // From here on nothing comes back.
                if is_end {
                    wire.is_cut.store(true, Ordering::SeqCst);
                }
                is_end && is_sync
            }
        };
        let is_held = match cut {
            Some(Cut::Late) => true,
            // Two statements, of three messages each.
            Some(Cut::Hanging) => count > 6,
            _ => false,
        };
        if is_held {
            held.extend(bytes);
        } else if (!is_cut || cut == Some(Cut::AfterCommit))
            && server.write_all(&bytes).await.is_err()
        {
            return;
        }
        if is_cut {
            // Before anybody can notice and connect anew.
            if plan.is_last.load(Ordering::SeqCst) {
                plan.is_refusing.store(true, Ordering::SeqCst);
            }
            plan.cuts.fetch_add(1, Ordering::SeqCst);
            wire.cut();
            if !matches!(cut, Some(Cut::BeforeCommit | Cut::Middle(_))) {
                plan.held.lock().unwrap().push((server, held));
            }
            return;
        }
    }
}
