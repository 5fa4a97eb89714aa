//! The example does what its text says, with a real server: the one that is built beside it (`cargo build -p refire`).
#![expect(clippy::unwrap_used, reason = "a test that cannot go on should panic")]

use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

/// A process that ends with the test.
struct Process(Child);

impl Drop for Process {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

const WORKER: &str = env!("CARGO_BIN_EXE_refire-example-external-worker");

fn refire() -> PathBuf {
    let path = Path::new(WORKER).with_file_name("refire");
    assert!(path.exists(), "build it first: cargo build -p refire");
    path
}

/// A server, and its address.
fn serve(place: &Path) -> (Process, String) {
    let mut server = Command::new(refire())
        .args(["serve", "--dev", "--listen", "127.0.0.1:0"])
        .current_dir(place)
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let mut lines = BufReader::new(server.stdout.take().unwrap()).lines();
    let ready = lines.next().unwrap().unwrap();
    std::thread::spawn(move || lines.for_each(drop));
    let url = ready.rsplit(' ').next().unwrap().to_owned();
    (Process(server), url)
}

#[test]
fn it_does_its_tasks_and_stops_when_it_is_told() {
    let place = tempfile::tempdir().unwrap();
    let (_server, url) = serve(place.path());
    let key = std::fs::read_to_string(place.path().join("refire-data/admin.key")).unwrap();
    let run = |args: &[&str]| {
        let mut command = Command::new(refire());
        let command = command.args(args).current_dir(place.path());
        command.env("REFIRE_URL", &url).output().unwrap()
    };
    let workflow = concat!(env!("CARGO_MANIFEST_DIR"), "/workflow.yaml");
    assert!(run(&["workflow", "apply", "-f", workflow]).status.success());
    let mut worker = Command::new(WORKER)
        .env("REFIRE_URL", &url)
        .env("REFIRE_API_KEY", key.trim())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let said = BufReader::new(worker.stdout.take().unwrap());
    let mut worker = Process(worker);
    let input = r#"{"lines": [{"amount": 2, "price": 12}, {"amount": 1, "price": 18}]}"#;
    let done = run(&["execute", "invoice", "--input", input, "--wait", "30s"]);
    assert!(done.status.success(), "{done:?}");
    let output: serde_json::Value = serde_json::from_slice(&done.stdout).unwrap();
    assert_eq!(output, serde_json::json!({ "total": 42 }));
    let failed = run(&[
        "execute",
        "invoice",
        "--input",
        r#"{"lines": []}"#,
        "--wait",
        "30s",
    ]);
    let told = String::from_utf8(failed.stderr).unwrap();
    assert_eq!(failed.status.code(), Some(3), "{told}");
    assert!(told.contains("an invoice without lines"), "{told}");
    let stop = format!("kill -s TERM {}", worker.0.id());
    assert!(
        Command::new("sh")
            .args(["-c", &stop])
            .status()
            .unwrap()
            .success()
    );
    let lines: Vec<String> = said.lines().map(Result::unwrap).collect();
    let last = "stopped: 1 completed, 1 failed, 0 lost, 0 given back";
    assert_eq!(lines.last().unwrap(), last, "{lines:#?}");
    assert!(worker.0.wait().unwrap().success());
}
