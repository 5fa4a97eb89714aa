//! `refire worker`: programs that do tasks of a real server.

use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::refire::own_settings;
use crate::server::Server;

const PATIENCE: Duration = Duration::from_secs(20);

/// A worker that runs; it ends with the test.
struct Worker {
    process: Child,
    log: PathBuf,
}

impl Worker {
    /// With these options and this program, in the server's directory.
    fn start(server: &Server, arguments: &[&str]) -> Self {
        let log = server.place.path().join("worker.log");
        let mut command = Command::new(assert_cmd::cargo::cargo_bin!("refire"));
        for name in own_settings() {
            command.env_remove(name);
        }
        let process = command
            .arg("worker")
            .args(arguments)
            .env("REFIRE_URL", &server.url)
            .current_dir(server.place.path())
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(File::create(&log).unwrap())
            .spawn()
            .unwrap();
        Self { process, log }
    }

    fn signal(&self, name: &str) {
        signal(name, self.process.id());
    }

    fn log(&self) -> String {
        fs::read_to_string(&self.log).unwrap()
    }

    fn ended(&mut self) -> ExitStatus {
        let mut status = None;
        until("the worker ends", || {
            status = self.process.try_wait().unwrap();
            status.is_some()
        });
        status.unwrap()
    }

    /// Stops it, and says what it said last.
    fn stops(mut self) -> String {
        self.signal("TERM");
        assert!(self.ended().success(), "{}", self.log());
        self.log().lines().last().unwrap().to_owned()
    }
}

impl Drop for Worker {
    fn drop(&mut self) {
        if std::thread::panicking() {
            eprintln!("--- the worker's log ---\n{}", self.log());
        }
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

fn signal(name: &str, process: u32) -> bool {
    let kill = format!("kill -s {name} {process} 2>&-");
    Command::new("sh")
        .args(["-c", &kill])
        .status()
        .unwrap()
        .success()
}

/// Whether a process has ended; where nobody asks how, its row may stay.
fn is_gone(process: u32) -> bool {
    let stat = fs::read_to_string(format!("/proc/{process}/stat")).unwrap_or_default();
    !signal("0", process) || stat.contains(") Z ")
}

#[track_caller]
fn until(what: &str, mut holds: impl FnMut() -> bool) {
    let end = Instant::now() + PATIENCE;
    while !holds() {
        assert!(Instant::now() < end, "never: {what}");
        std::thread::sleep(Duration::from_millis(20));
    }
}

/// A server with a workflow of one task, and a script that does it.
fn server(config: &str, script: &str) -> Server {
    let server = Server::start();
    let workflow = format!(
        "id: w\nretry: {{initialDelay: 100ms, jitter: none}}\nsteps:\n\
         \x20 - {{id: a, type: external_task, config: {{taskType: shell-x, {config}}}}}\n"
    );
    server.place.write("w.yaml", &workflow);
    server.place.write("do.sh", script);
    server.run(&["workflow", "apply", "-f", "w.yaml"]).code(0);
    server
}

/// Starts an execution and waits for its end.
fn execute(server: &Server, input: &str) -> Value {
    let args = ["execute", "w", "--input", input, "--wait", "30s"];
    let run = server.run(&args);
    let id = run.err.lines().chain(run.out.lines());
    let id = id.flat_map(str::split_whitespace);
    let id = id.clone().find(|word| word.starts_with("exec_")).unwrap();
    server.json(&["executions", "show", id])
}

/// What is in a file that a program writes, once it is there.
fn number_in(path: &Path) -> u32 {
    let mut number = None;
    until("the program writes its number", || {
        let text = fs::read_to_string(path).unwrap_or_default();
        number = text.trim().parse().ok();
        number.is_some()
    });
    number.unwrap()
}

#[test]
fn a_program_gets_the_input_and_gives_the_output() {
    let script = r#"
input=$(cat)
case $input in
  '"text"') echo 'OPS-42' ;;
  '"nothing"') ;;
  '"json"') printf '{"type": "%s", "attempt": %s, "digits": 1.00}\n' "$REFIRE_TASK_TYPE" "$REFIRE_TASK_ATTEMPT" ;;
  '"ids"') echo "$REFIRE_TASK_ID $REFIRE_TASK_EXECUTION_ID $REFIRE_TASK_WORKFLOW_ID $REFIRE_TASK_STEP_ID $REFIRE_TASK_MAX_ATTEMPTS" ;;
  '"again"') if [ "$REFIRE_TASK_ATTEMPT" = 1 ]; then echo 'busy' >&2; exit 7; fi; echo 2 ;;
  '"never"') echo 'looking' >&2; echo 'no such project' >&2; exit 65 ;;
  '"killed"') kill -9 $$ ;;
  '"much"') head -c 9000000 /dev/zero | tr '\0' x ;;
esac
"#;
    let server = server("retries: 2", script);
    let options = ["--type", "shell-*", "--concurrency", "2", "--id", "me"];
    let worker = Worker::start(&server, &[&options[..], &["--", "sh", "do.sh"]].concat());
    for (input, expected) in [
        (r#""text""#, json!("OPS-42")),
        (r#""nothing""#, json!(null)),
        (
            r#""json""#,
            json!({ "type": "shell-x", "attempt": 1, "digits": 1.00 }),
        ),
        (r#""again""#, json!(2)),
    ] {
        let ended = execute(&server, input);
        assert_eq!(ended["status"], "completed", "{input}: {ended:#}");
        assert_eq!(ended["output"], expected, "{input}");
    }
    let ended = execute(&server, r#""ids""#);
    let ids = ended["output"].as_str().unwrap().to_owned();
    let ids: Vec<&str> = ids.split(' ').collect();
    assert!(ids[0].starts_with("xt_"), "{ids:?}");
    assert_eq!(
        ids[1..],
        [ended["execution_id"].as_str().unwrap(), "w", "a", "2"]
    );
    for (input, message, attempts) in [
        (r#""never""#, "exit code 65: no such project", 1),
        (r#""killed""#, "ended by signal 9", 2),
        (r#""much""#, "wrote more than 8 MiB", 1),
    ] {
        let ended = execute(&server, input);
        assert_eq!(ended["status"], "dlq", "{input}: {ended:#}");
        let text = ended.to_string();
        assert!(text.contains(message), "{input}: {text}");
        assert_eq!(ended["steps"][0]["attempts"], attempts, "{input}: {text}");
    }
    let log = worker.log();
    for line in [
        "me asks ",
        "| looking",
        "failed: exit code 7: busy",
        "failed for good: exit code 65",
    ] {
        assert!(log.contains(line), "{line}: {log}");
    }
    let last = worker.stops();
    assert!(
        last.ends_with("stopped: 5 completed, 5 failed, 0 lost, 0 given back"),
        "{last}"
    );
}

#[test]
fn progress_comes_over_the_third_descriptor() {
    let script = "echo 'nonsense' >&3; echo '50 half done' >&3; while [ ! -e go ]; do sleep 0.05; done; echo 1";
    let server = server("", script);
    let worker = Worker::start(&server, &["--type", "shell-x", "--", "sh", "do.sh"]);
    let id = server.run(&["execute", "w"]).code(0).out;
    let http = |path: &str| get(&server, path);
    let path = format!("/api/external-tasks?executionId={}", id.trim());
    until("the server knows", || {
        http(&path)["items"][0]["progress"] == 50
    });
    assert_eq!(http(&path)["items"][0]["progressMessage"], "half done");
    server.place.write("go", "");
    until("it is done", || {
        http(&path)["items"][0]["status"] == "COMPLETED"
    });
    assert!(worker.log().contains("not progress"), "{}", worker.log());
}

/// Asks the server.
fn get(server: &Server, path: &str) -> Value {
    let key = fs::read_to_string(server.place.path().join("refire-data/admin.key")).unwrap();
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .unwrap();
    runtime.block_on(async {
        let http = reqwest::Client::builder().no_proxy().build().unwrap();
        let request = http
            .get(format!("{}{path}", server.url))
            .bearer_auth(key.trim());
        let text = request.send().await.unwrap().text().await.unwrap();
        serde_json::from_str(&text).unwrap()
    })
}

/// A lost lock ends the program, also one that does not listen, and everything that it has started.
#[test]
fn a_lost_lock_ends_the_whole_group() {
    let script = "trap 'echo told >&2; touch told' TERM\nsleep 300 & echo $! > child\necho $$ > own\n\
                  while :; do sleep 0.1; done";
    let server = server("lockDuration: 2s", script);
    let worker = Worker::start(&server, &["--type", "shell-x", "--", "sh", "do.sh"]);
    let id = server.run(&["execute", "w"]).code(0).out;
    let place = server.place.path();
    let (own, child) = (
        number_in(&place.join("own")),
        number_in(&place.join("child")),
    );
    server.run(&["executions", "cancel", id.trim()]).code(0);
    until("both are gone", || is_gone(own) && is_gone(child));
    assert!(place.join("told").exists(), "SIGTERM comes first");
    until("it is said", || {
        worker
            .log()
            .contains("is lost: the task is over (CANCELLED)")
    });
    let last = worker.stops();
    assert!(
        last.ends_with("0 completed, 0 failed, 1 lost, 0 given back"),
        "{last}"
    );
}

/// What a program leaves running goes with it, and the output is not waited for.
#[test]
fn what_a_program_leaves_running_is_ended() {
    let server = server("", "sleep 300 & echo $! > child; echo done");
    let worker = Worker::start(&server, &["--type", "shell-x", "--", "sh", "do.sh"]);
    let ended = execute(&server, "{}");
    assert_eq!(ended["output"], "done", "{ended:#}");
    let child = number_in(&server.place.path().join("child"));
    until("it is gone", || is_gone(child));
    drop(worker);
}

#[test]
fn a_stop_lets_programs_finish_or_gives_their_tasks_back() {
    let script = "input=$(cat); echo $$ > own-$input; while [ ! -e go-$input ]; do sleep 0.05; done; echo $input";
    let server = server("", script);
    let options = ["--type", "shell-x", "--concurrency", "2", "--grace", "3s"];
    let mut worker = Worker::start(&server, &[&options[..], &["--", "sh", "do.sh"]].concat());
    let quick = server.run(&["execute", "w", "--input", "1"]).code(0).out;
    let slow = server.run(&["execute", "w", "--input", "2"]).code(0).out;
    let place = server.place.path();
    number_in(&place.join("own-1"));
    let running = number_in(&place.join("own-2"));
    worker.signal("INT");
    until("it says so", || {
        worker
            .log()
            .contains("stopping: 2 running may finish within 3.0 s")
    });
    server.place.write("go-1", "");
    assert!(worker.ended().success(), "{}", worker.log());
    let log = worker.log();
    assert!(
        log.contains("stopped: 1 completed, 0 failed, 0 lost, 1 given back"),
        "{log}"
    );
    assert!(is_gone(running), "its program is ended");
    let shown = server.json(&["executions", "show", quick.trim()]);
    assert_eq!(shown["output"], 1);
    let task = get(
        &server,
        &format!("/api/external-tasks?executionId={}", slow.trim()),
    );
    let task = &task["items"][0];
    assert_eq!(
        (&task["status"], &task["retryCount"]),
        (&json!("PENDING"), &json!(0))
    );
    // Two signals do not wait for the grace time.
    fs::remove_file(place.join("own-2")).unwrap();
    let mut worker = Worker::start(
        &server,
        &["--type", "shell-x", "--grace", "10m", "--", "sh", "do.sh"],
    );
    number_in(&place.join("own-2"));
    worker.signal("TERM");
    until("it is heard", || worker.log().contains("stopping"));
    worker.signal("TERM");
    assert!(worker.ended().success());
    assert!(worker.log().contains("1 given back"), "{}", worker.log());
}

#[test]
fn what_cannot_work_is_said_at_once() {
    let server = server("", "");
    server.place.write("plain.txt", "");
    for (program, expected) in [
        (
            &["--type", "t", "--", "no-such-program"][..],
            "there is no program no-such-program",
        ),
        (&["--type", "t", "--", "./plain.txt"], "cannot be executed"),
        (&["--type", "t"], "PROGRAM"),
        (&["--", "cat"], "--type"),
        (
            &["--type", "t", "--concurrency", "0", "--", "cat"],
            "--concurrency",
        ),
        (&["--type", "a*b", "--", "cat"], "taskType"),
    ] {
        let run = server.run(&[&["worker"], program].concat()).code(2);
        assert!(run.err.contains(expected), "{program:?}: {run:?}");
    }
    let args = [
        "worker",
        "--type",
        "t",
        "--api-key",
        "rf_wrong",
        "--",
        "cat",
    ];
    let run = server.run(&args).code(1);
    assert!(run.err.contains("does not accept the key"), "{run:?}");
}

/// The example does what its first lines say.
#[test]
fn the_shell_example_counts_words() {
    let server = Server::start();
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let text = fs::read_to_string(root.join("examples/shell-worker/workflow.yaml")).unwrap();
    let commands = text
        .lines()
        .filter_map(|line| line.strip_prefix("#   refire "));
    let in_root = |word: &str| match word.starts_with("examples/") {
        true => root.join(word).display().to_string(),
        false => word.to_owned(),
    };
    let mut worker = None;
    let mut outputs = Vec::new();
    for command in commands {
        let (plain, input) = command.split_once(" --input '").unwrap_or((command, ""));
        let mut words: Vec<String> = plain.split(' ').map(in_root).collect();
        if let Some((input, rest)) = input.split_once('\'') {
            words.extend(["--input".to_owned(), input.to_owned()]);
            words.extend(rest.split_whitespace().map(str::to_owned));
        }
        let words: Vec<&str> = words.iter().map(String::as_str).collect();
        match words[0] {
            "worker" => worker = Some(Worker::start(&server, &words[1..])),
            "execute" => outputs.push(server.run(&words).code(0).json()),
            _ => drop(server.run(&words).code(0)),
        }
    }
    assert_eq!(outputs, [json!({ "words": 6 })]);
    let empty = [
        "execute",
        "report",
        "--input",
        r#"{"text": ""}"#,
        "--wait",
        "30s",
    ];
    let run = server.run(&empty).code(3);
    assert!(
        run.err.contains("exit code 65: there is no text"),
        "{run:?}"
    );
    worker.unwrap().stops();
}
