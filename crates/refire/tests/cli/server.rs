//! A real server from the same binary, and a target that can be healthy or not.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{self, Receiver};

use crate::refire::{Place, Run, own_settings};

/// A server with its data in the place's directory; ends with the test.
pub(crate) struct Server {
    pub(crate) place: Place,
    pub(crate) url: String,
    process: Child,
    /// What it says after its first line.
    said: Receiver<String>,
}

impl Server {
    pub(crate) fn start() -> Self {
        let args = [
            "serve",
            "--listen",
            "127.0.0.1:0",
            "--data-dir",
            "refire-data",
            "--dev",
        ];
        Self::start_with(Place::new(), &args)
    }

    /// A server started in this place with these arguments.
    pub(crate) fn start_with(place: Place, args: &[&str]) -> Self {
        let (process, url, said) = launch(&place, args);
        Self {
            place,
            url,
            process,
            said,
        }
    }

    /// Starts it on its data once more, after a stop.
    pub(crate) fn start_again(&mut self) {
        let args = ["serve", "--listen", "127.0.0.1:0", "--dev"];
        (self.process, self.url, self.said) = launch(&self.place, &args);
    }

    /// What it says before the line that begins so.
    pub(crate) fn said_before(&self, end: &str) -> Vec<String> {
        let lines = self.said.iter();
        lines.take_while(|line| !line.starts_with(end)).collect()
    }

    /// The commands that it suggests, up to the blank line behind them.
    pub(crate) fn suggested(&self) -> Vec<String> {
        let lines = self.said.iter();
        let lines = lines.skip_while(|line| !line.starts_with("Next, "));
        lines.skip(1).take_while(|line| !line.is_empty()).collect()
    }

    /// Runs a command against this server, from its own directory.
    pub(crate) fn run(&self, args: &[&str]) -> Run {
        Run::of(self.place.command().args(args).env("REFIRE_URL", &self.url))
    }

    pub(crate) fn json(&self, args: &[&str]) -> serde_json::Value {
        self.run(&[args, &["--format", "json"]].concat()).json()
    }

    /// Ends the server and leaves its data.
    pub(crate) fn stop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

/// The process, its address, and what it says after its first line.
fn launch(place: &Place, args: &[&str]) -> (Child, String, Receiver<String>) {
    let mut command = Command::new(assert_cmd::cargo::cargo_bin!("refire"));
    for name in own_settings() {
        command.env_remove(name);
    }
    let mut process = command
        .args(args)
        .current_dir(place.path())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let mut lines = BufReader::new(process.stdout.take().unwrap()).lines();
    let first = lines.next().expect("the server says where it is").unwrap();
    let url = first.rsplit(' ').next().unwrap().to_owned();
    // The rest of what it says is read too, so that it never waits for a reader.
    let (sender, said) = mpsc::channel();
    std::thread::spawn(move || {
        for line in lines.map_while(Result::ok) {
            let _ = sender.send(line);
        }
    });
    (process, url, said)
}

impl Drop for Server {
    fn drop(&mut self) {
        self.stop();
    }
}

/// Answers 503 until it is healthy, then gives back what it was sent.
pub(crate) struct Target {
    pub(crate) url: String,
    healthy: Arc<AtomicBool>,
}

impl Target {
    pub(crate) fn start() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        let healthy = Arc::new(AtomicBool::new(false));
        let state = Arc::clone(&healthy);
        std::thread::spawn(move || {
            for stream in listener.incoming() {
                let Ok(stream) = stream else { return };
                answer(stream, state.load(Ordering::SeqCst));
            }
        });
        Self { url, healthy }
    }

    pub(crate) fn heal(&self) {
        self.healthy.store(true, Ordering::SeqCst);
    }

    /// A definition that calls it.
    pub(crate) fn definition(&self, retries: u32) -> String {
        format!(
            "id: hello\nretry: {{ maxRetries: {retries}, initialDelay: 100ms }}\nsteps:\n  \
             - id: call\n    type: http\n    config:\n      method: POST\n      \
             url: \"{}/x\"\n      body: \"${{input}}\"\noutput: \"${{steps.call.output.body}}\"\n",
            self.url
        )
    }
}

fn answer(stream: TcpStream, healthy: bool) {
    let mut reader = BufReader::new(stream);
    let mut length = 0;
    let mut line = String::new();
    while reader.read_line(&mut line).unwrap_or(0) > 2 {
        if let Some(value) = line.to_lowercase().strip_prefix("content-length:") {
            length = value.trim().parse().unwrap();
        }
        line.clear();
    }
    let mut body = vec![0; length];
    let _ = reader.read_exact(&mut body);
    let status = if healthy {
        "200 OK"
    } else {
        "503 Service Unavailable"
    };
    let head = format!(
        "HTTP/1.1 {status}\r\nContent-Type: application/json\r\nContent-Length: {length}\r\n\
         Connection: close\r\n\r\n"
    );
    let mut stream = reader.into_inner();
    let _ = stream.write_all(&[head.as_bytes(), &body].concat());
}
