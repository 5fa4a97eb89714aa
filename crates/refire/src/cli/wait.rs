//! Waiting for an execution to end, with something to look at meanwhile.

use std::time::Duration;

use indicatif::ProgressBar;
use refire_client::Client;
use refire_client::model::Execution;
use tokio::time::Instant;

use super::moment::relative;
use super::output::is_watched;
use super::session::Session;

/// The first look comes soon, since most executions are short; then ever later.
const POLL_FIRST: Duration = Duration::from_millis(20);
const POLL_MAX: Duration = Duration::from_millis(500);
const SPIN: Duration = Duration::from_millis(100);

/// The execution as it stands at its end, or at the end of the wait.
pub(crate) async fn until_over(
    session: &Session,
    client: &Client,
    id: &str,
    wait: Duration,
) -> anyhow::Result<Execution> {
    let deadline = Instant::now() + wait;
    let waiting = Waiting::new("");
    let mut pause = POLL_FIRST;
    loop {
        let execution = client.execution(id).await?;
        let left = deadline.saturating_duration_since(Instant::now());
        if execution.status.is_over() || left.is_zero() {
            return Ok(execution);
        }
        waiting.say(progress(session, &execution));
        tokio::time::sleep(pause.min(left)).await;
        pause = (pause * 2).min(POLL_MAX);
    }
}

/// Turns on the standard error as long as it is there, if that is a terminal.
pub(crate) struct Waiting(ProgressBar);

impl Waiting {
    /// Turning, with what is waited for.
    pub(crate) fn new(text: impl Into<String>) -> Self {
        if !is_watched() {
            return Self(ProgressBar::hidden());
        }
        let spinner = ProgressBar::new_spinner().with_message(text.into());
        spinner.enable_steady_tick(SPIN);
        Self(spinner)
    }

    /// Says how it stands.
    pub(crate) fn say(&self, text: String) {
        self.0.set_message(text);
    }
}

impl Drop for Waiting {
    fn drop(&mut self) {
        self.0.finish_and_clear();
    }
}

fn progress(session: &Session, execution: &Execution) -> String {
    let status = execution.status;
    match &execution.next_retry_at {
        Some(at) => format!(
            "{status}: retry {} of {} {}",
            execution.retry_count,
            execution.max_retries,
            relative(at, session.now())
        ),
        None => status.to_string(),
    }
}
