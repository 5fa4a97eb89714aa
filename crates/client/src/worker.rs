//! A worker: fetches tasks, hands them to functions, keeps their locks alive meanwhile, and reports what
//! came of them.
//!
//! ```no_run
//! use refire_client::{Client, Failure, Worker};
//! use refire_client::worker::Task;
//! use serde_json::{Value, json};
//!
//! async fn create_ticket(task: Task) -> Result<Value, Failure> {
//!     let input: Value = task.input()?;
//!     if input["projectKey"].is_null() {
//!         return Err(Failure::permanent("projectKey is missing"));
//!     }
//!     task.progress(50, "half");
//!     Ok(json!({ "result": { "ticketId": "OPS-42" } }))
//! }
//!
//! # async fn example() -> Result<(), refire_client::Error> {
//! let client = Client::builder("http://127.0.0.1:7373").key("rf_…").build()?;
//! let worker = Worker::new(client).task("n8n-jira-*", create_ticket).concurrency(8);
//! worker.run().await?;
//! # Ok(())
//! # }
//! ```
//!
//! - It never asks for more tasks than it has free slots, and polls on while functions are slow.
//! - Heartbeats are sent beside the function, at a third of the lock or as often as the task wants them,
//!   whichever is sooner. One that fails means nothing: the lock is lost when the server says so (404, 409), or
//!   when it must have run out, counted from sending the last heartbeat that was accepted.
//! - The report is repeated with its token until the lock ends, so a server that restarts loses no result.
//! - A panic in a function is a failed attempt and not the worker's end.
//! - A stop finishes what runs within the grace time, and gives the rest back.
//!
//! A function may run twice for the same task: after a lost lock, or when a worker dies. Give [`Task::id`], which is
//! the same for all attempts, to services that must not do the work twice. A function must not block its thread; use
//! `tokio::task::spawn_blocking` for code that does.

mod failure;
mod fetch;
mod hold;
mod lock;
mod notice;
mod pause;
mod route;
mod stop;
mod task;

use std::sync::Arc;
use std::time::Duration;

use serde::Serialize;

use crate::client::Client;
use crate::error::Error;
use route::Routes;

pub use failure::Failure;
pub use notice::{Notice, Tally};
pub use stop::Stop;
pub use task::Task;

/// Tasks at once, if nothing is said.
const CONCURRENCY: usize = 4;
/// How long a stop lets functions go on.
const GRACE: Duration = Duration::from_secs(20);
/// How long a function may take to end when its lock is lost.
const LOST_GRACE: Duration = Duration::from_secs(10);
/// How long a poll waits at the server.
const WAIT: Duration = Duration::from_secs(30);

type Listener = Arc<dyn Fn(&Notice) + Send + Sync>;

/// See the module.
pub struct Worker {
    settings: Settings,
    stop: Stop,
}

/// What a worker is told before it runs.
struct Settings {
    client: Client,
    id: String,
    worker_type: Option<String>,
    routes: Routes,
    concurrency: usize,
    wait: Duration,
    grace: Duration,
    lost_grace: Duration,
    listener: Listener,
}

impl Worker {
    /// A worker that fetches its tasks with this client.
    #[must_use]
    pub fn new(client: Client) -> Self {
        let settings = Settings {
            client,
            id: format!("worker-{:08x}", pause::dice() >> 32),
            worker_type: None,
            routes: Routes::default(),
            concurrency: CONCURRENCY,
            wait: WAIT,
            grace: GRACE,
            lost_grace: LOST_GRACE,
            listener: Arc::new(notice::log),
        };
        Self {
            settings,
            stop: Stop::new(),
        }
    }

    /// Does tasks of this type with this function. A `*` at the end stands for any rest of the name; the exact name
    /// goes before a longer beginning, and that before a shorter one. Up to 20 types.
    #[must_use]
    pub fn task<F, R, T>(mut self, task_type: impl Into<String>, function: F) -> Self
    where
        F: Fn(Task) -> R + Send + Sync + 'static,
        R: Future<Output = Result<T, Failure>> + Send + 'static,
        T: Serialize,
    {
        self.settings.routes.add(task_type.into(), function);
        self
    }

    /// Its name, shown with the tasks that it has. Default: a random one.
    #[must_use]
    pub fn id(mut self, id: impl Into<String>) -> Self {
        self.settings.id = id.into();
        self
    }

    /// What kind of worker it is, such as `billing`.
    #[must_use]
    pub fn worker_type(mut self, worker_type: impl Into<String>) -> Self {
        self.settings.worker_type = Some(worker_type.into());
        self
    }

    /// How many tasks it does at once. Default: 4.
    #[must_use]
    pub fn concurrency(mut self, tasks: usize) -> Self {
        self.settings.concurrency = tasks;
        self
    }

    /// How long a poll waits at the server, in whole seconds from 1 to 300. Default: 30 s.
    #[must_use]
    pub fn wait(mut self, wait: Duration) -> Self {
        self.settings.wait = wait;
        self
    }

    /// How long a stop lets functions go on before their tasks are given back. Default: 20 s.
    #[must_use]
    pub fn grace(mut self, grace: Duration) -> Self {
        self.settings.grace = grace;
        self
    }

    /// How long a function may take to end by itself when its lock is lost, before it is dropped. Default: 10 s.
    #[must_use]
    pub fn lost_grace(mut self, grace: Duration) -> Self {
        self.settings.lost_grace = grace;
        self
    }

    /// Tells this function what the worker does, instead of the log (`tracing`).
    #[must_use]
    pub fn on_notice(mut self, listener: impl Fn(&Notice) + Send + Sync + 'static) -> Self {
        self.settings.listener = Arc::new(listener);
        self
    }

    /// What stops it from elsewhere.
    #[must_use]
    pub fn stopper(&self) -> Stop {
        self.stop.clone()
    }

    /// Works until it is stopped, by its [`Stop`], by Ctrl-C or by SIGTERM; a second signal gives back at once what
    /// still runs. It ends with an error only if the server refuses it for good: the key (401, 403), or what it asks
    /// for.
    pub async fn run(self) -> Result<Tally, Error> {
        let signals = tokio::spawn(stop::on_signals(self.stop.clone()));
        let ended = self.run_until_stopped().await;
        signals.abort();
        ended
    }

    /// The same, but only its [`Stop`] stops it: signals belong to the program around it.
    pub async fn run_until_stopped(self) -> Result<Tally, Error> {
        let Self { settings, stop } = self;
        settings.check()?;
        fetch::run(Arc::new(settings), stop).await
    }
}

impl Settings {
    fn check(&self) -> Result<(), Error> {
        let refuse = |why: &str| Err(Error::Setting(why.to_owned()));
        if self.concurrency == 0 {
            return refuse("a worker does at least one task at once");
        }
        if !(1..=300).contains(&self.wait.as_secs()) {
            return refuse("a poll waits 1 to 300 seconds");
        }
        match self.routes.types().len() {
            0 => refuse("a worker needs at least one type of task"),
            1..=20 => Ok(()),
            _ => refuse("a worker asks for at most 20 types of tasks"),
        }
    }

    fn tell(&self, notice: &Notice) {
        (self.listener)(notice);
    }
}
