//! A target with one bad habit, what must become of steps that call it, and how often it was asked.

use std::any::Any;
use std::collections::HashMap;
use std::future::Future;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use crate::hostile::{Hostile, Peer};

/// The deadline of steps that are meant to reach it.
pub(crate) const SHORT: Duration = Duration::from_secs(1);
/// The deadline of all others: long enough for a busy machine.
const LONG: Duration = Duration::from_secs(60);
/// The longest answer that steps take unless they say otherwise.
const ANSWER_BYTES_MAX: usize = 1024 * 1024;

/// How a step ends that calls such a target.
#[derive(Debug, Clone, Copy)]
pub(crate) enum End {
    /// With an output that has this in it.
    Completed(&'static str),
    /// With this class of error in every attempt.
    Failed(&'static str),
    /// As it comes; attempts that fail have this class.
    Either(&'static str),
}

/// How often a target is asked.
pub(crate) enum Calls {
    /// As often as there are attempts in the log, for each execution.
    Each,
    /// The same, but a request that is cut off may not have been read.
    AtMost,
    /// So often all in all, or less.
    Total(Box<dyn Fn() -> usize + Send>),
    /// So often all in all, exactly.
    Exactly(Box<dyn Fn() -> usize + Send>),
    /// Nobody looks: no request gets as far as that, or it cannot be read.
    Unread,
}

/// The target.
pub(crate) struct Stub {
    pub(crate) name: &'static str,
    pub(crate) url: String,
    pub(crate) end: End,
    pub(crate) calls: Calls,
    /// The deadline of its steps.
    pub(crate) timeout: Duration,
    /// The longest answer that they take, in bytes.
    pub(crate) answer_bytes_max: usize,
    /// Executions that are started together; `None` is all.
    pub(crate) together: Option<usize>,
    pub(crate) seen: Seen,
    /// What must live as long as the target.
    _alive: Box<dyn Any + Send>,
}

impl Stub {
    pub(crate) fn new(
        name: &'static str,
        url: String,
        end: End,
        alive: impl Any + Send,
        seen: Seen,
    ) -> Self {
        Self {
            name,
            url,
            end,
            calls: Calls::Each,
            timeout: LONG,
            answer_bytes_max: ANSWER_BYTES_MAX,
            together: None,
            seen,
            _alive: Box::new(alive),
        }
    }

    /// Runs the script for every connection.
    pub(crate) async fn scripted<F, S>(name: &'static str, end: End, script: F) -> Self
    where
        F: Fn(Asked) -> S + Send + 'static,
        S: Future<Output = ()> + Send + 'static,
    {
        let seen = Seen::default();
        let noted = seen.clone();
        let server = Hostile::start(move |peer| {
            let seen = noted.clone();
            script(Asked { peer, seen })
        })
        .await;
        Self::new(name, server.url(), end, server, seen)
    }

    /// Answers every request with these bytes.
    pub(crate) async fn answering(name: &'static str, end: End, bytes: impl Into<Vec<u8>>) -> Self {
        let bytes: Arc<[u8]> = bytes.into().into();
        Self::scripted(name, end, move |mut asked| {
            let bytes = Arc::clone(&bytes);
            async move { while asked.request().await && asked.peer.send(&bytes).await {} }
        })
        .await
    }

    /// With the short deadline, at which a request may be on its way still.
    pub(crate) fn in_a_second(mut self) -> Self {
        self.timeout = SHORT;
        if let Calls::Each = self.calls {
            self.calls = Calls::AtMost;
        }
        self
    }

    /// With answers of at most so many bytes.
    pub(crate) fn keeping(mut self, bytes: usize) -> Self {
        self.answer_bytes_max = bytes;
        self
    }

    /// With another rule for how often it is asked.
    pub(crate) fn calls(mut self, calls: Calls) -> Self {
        self.calls = calls;
        self
    }

    /// With so many executions at a time.
    pub(crate) fn together(mut self, count: usize) -> Self {
        self.together = Some(count);
        self
    }
}

/// A connection whose requests are noted.
pub(crate) struct Asked {
    pub(crate) peer: Peer,
    seen: Seen,
}

impl Asked {
    /// Reads one request; false when the client has closed.
    pub(crate) async fn request(&mut self) -> bool {
        let request = self.peer.request().await;
        request.is_some_and(|text| {
            self.seen.note(&text);
            true
        })
    }
}

/// Requests by the execution that made them.
#[derive(Clone, Default)]
pub(crate) struct Seen(Arc<Mutex<HashMap<String, usize>>>);

impl Seen {
    fn note(&self, request: &str) {
        const KEY: &str = "idempotency-key: ";
        let line = request
            .lines()
            .find(|line| line.to_ascii_lowercase().starts_with(KEY));
        // The key is the execution, the step and the generation.
        let key = &line.unwrap()[KEY.len()..];
        let execution = key.split(':').next().unwrap().to_owned();
        *self.0.lock().unwrap().entry(execution).or_default() += 1;
    }

    pub(crate) fn times(&self, execution: &str) -> usize {
        let seen = self.0.lock().unwrap();
        seen.get(execution).copied().unwrap_or_default()
    }
}
