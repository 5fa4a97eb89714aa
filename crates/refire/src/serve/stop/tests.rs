//! A process that ends because it cannot go on. It is another one than the test's own: this test,
//! started once more.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::{SocketAddr, TcpStream};
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use refire_core::time::Timestamp;
use refire_engine::clock::{Clock, SystemClock};
use refire_store::sqlite::{Options, Sqlite};

use super::*;
use crate::api::{self, AdminKey, Api, App};
use crate::config::Outside;

const NAME: &str = "serve::stop::tests::a_committer_that_panics_ends_the_process_after_its_answers";
/// Says that this is the process that ends.
const ENDING: &str = "REFIRE_TEST_ENDING";
const KEY: &str = "rf_of_the_tests";
/// Requests that wait when the committer dies.
const WAITING: usize = 8;

/// A clock that first holds the committer's thread, and then makes it panic.
struct Trap {
    clock: SystemClock,
    holds: AtomicBool,
    panics: AtomicBool,
}

impl Clock for Trap {
    fn now(&self) -> Timestamp {
        if std::thread::current().name() == Some("refire-commit") {
            while self.holds.load(Ordering::SeqCst) {
                std::thread::sleep(Duration::from_millis(1));
            }
            assert!(!self.panics.load(Ordering::SeqCst), "the committer panics");
        }
        self.clock.now()
    }
}

#[test]
fn a_committer_that_panics_ends_the_process_after_its_answers() {
    if std::env::var_os(ENDING).is_some() {
        return serve();
    }
    let mut process = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", NAME, "--nocapture"])
        .env(ENDING, "1")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let address = address(&mut process);
    let waiting: Vec<_> = (0..WAITING).map(|_| ask(address)).collect();
    process.stdin.take().unwrap().write_all(b"go\n").unwrap();
    for mut stream in waiting {
        let mut answer = String::new();
        stream.read_to_string(&mut answer).unwrap();
        // The committer died with it in its hands, or was dead when it came to the queue.
        let unknown = answer.starts_with("HTTP/1.1 500 ") && answer.contains("RF0024");
        let refused = answer.starts_with("HTTP/1.1 503 ");
        assert!(unknown || refused, "{answer:?}");
    }
    assert_eq!(process.wait().unwrap().code(), Some(EXIT_BROKEN));
}

/// Where the other process listens.
fn address(process: &mut Child) -> SocketAddr {
    let lines = BufReader::new(process.stdout.take().unwrap()).lines();
    let mut said = lines.map(Result::unwrap);
    let line = said.find(|line| line.contains("listens at "));
    let line = line.expect("the other process listens");
    line.rsplit(' ').next().unwrap().parse().unwrap()
}

/// Asks for an execution, and comes back when the server has the request in its hands.
fn ask(address: SocketAddr) -> TcpStream {
    let mut stream = TcpStream::connect(address).unwrap();
    let head = format!(
        "POST /api/workflows/w/execute HTTP/1.1\r\nHost: h\r\nX-API-Key: {KEY}\r\n\
         Content-Length: 2\r\nExpect: 100-continue\r\nConnection: close\r\n\r\n"
    );
    stream.write_all(head.as_bytes()).unwrap();
    let mut go_on = Vec::new();
    while !go_on.ends_with(b"\r\n\r\n") {
        let mut byte = [0];
        stream.read_exact(&mut byte).unwrap();
        go_on.push(byte[0]);
    }
    assert!(go_on.starts_with(b"HTTP/1.1 100 "), "{go_on:?}");
    stream.write_all(b"{}").unwrap();
    stream
}

/// The process that ends.
fn serve() {
    let _ = rustls::crypto::aws_lc_rs::default_provider().install_default();
    let runtime = tokio::runtime::Runtime::new().unwrap();
    runtime.block_on(async {
        let directory = tempfile::tempdir().unwrap();
        let options = Options::new(Timestamp::from_millis(0));
        let store = Sqlite::open_in(directory.path(), &options).unwrap();
        let trap = Arc::new(Trap {
            clock: SystemClock::new(),
            holds: AtomicBool::new(false),
            panics: AtomicBool::new(false),
        });
        let clock: Arc<dyn Clock> = trap.clone();
        let engine = Engine::builder(Arc::new(store))
            .clock(clock)
            .start()
            .await
            .unwrap();
        let source =
            "id: w\nsteps: [{ id: a, type: http, config: { url: \"https://t.example/\" } }]";
        engine
            .definitions()
            .apply(source, None, "test")
            .await
            .unwrap();
        trap.holds.store(true, Ordering::SeqCst);
        std::thread::spawn(move || {
            std::io::stdin().read_line(&mut String::new()).unwrap();
            trap.panics.store(true, Ordering::SeqCst);
            trap.holds.store(false, Ordering::SeqCst);
        });
        let app = App::new(
            Arc::clone(&engine),
            AdminKey::new(KEY),
            1_024,
            Outside::default(),
            "backups".into(),
            false,
        );
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let closed = CancellationToken::new();
        let server = Api::new(&app).unwrap();
        let serving = api::listen::serve(listener, server, 100, closed.clone());
        let serving = tokio::spawn(serving);
        println!("listens at {address}");
        let signals = Signals::new().unwrap();
        let ended = wait_and_stop(signals, &engine, &app.gate, closed, serving).await;
        panic!("the process goes on: {ended:?}");
    });
}
