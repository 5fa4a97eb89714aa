//! One task in a worker's hands: its function, the heartbeats beside it, and the report at its end.

use std::sync::Arc;
use std::time::Duration;

use tokio::task::{JoinError, JoinHandle};
use tokio::time::{Instant, sleep, sleep_until, timeout};

use super::failure::Failure;
use super::lock::Lock;
use super::notice::Notice;
use super::route::Outcome;
use super::stop::{Stage, Stop};
use super::task::Link;
use super::{Settings, Task, pause};
use crate::error::Error;
use crate::model::{self, Heartbeat};

/// The shortest time between two heartbeats that tell of progress.
const PROGRESS_EVERY: Duration = Duration::from_millis(250);
/// How long a heartbeat may take at least and at most.
const BEAT_TIMEOUT: (Duration, Duration) = (Duration::from_secs(1), Duration::from_secs(10));
/// How long a report goes on when the worker gives back what it has.
const LAST_WORD: Duration = Duration::from_secs(5);
/// How long a function that is dropped may take to notice: one that blocks its thread never does.
const ABORT_TIMEOUT: Duration = Duration::from_secs(1);
/// How long giving a task back may take.
const UNLOCK_TIMEOUT: Duration = Duration::from_secs(5);

/// How it ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum End {
    Completed,
    Failed,
    Lost,
    GivenBack,
}

/// See the module.
pub(super) struct Hold {
    settings: Arc<Settings>,
    stop: Stop,
    task: model::Task,
    lock: Lock,
    link: Arc<Link>,
}

/// Why a worker does not have a task any more.
enum Lost {
    /// The server says so.
    Refused(String),
    /// Nothing was accepted for as long as the lock lasts.
    RunOut,
}

impl Hold {
    pub(super) fn new(
        settings: Arc<Settings>,
        stop: Stop,
        task: model::Task,
        arrived: Instant,
    ) -> Self {
        let lock = Lock::new(&task, arrived);
        Self {
            settings,
            stop,
            task,
            lock,
            link: Link::new(),
        }
    }

    /// Does the task and reports it.
    pub(super) async fn run(self) -> End {
        let Some(function) = self.settings.routes.of(&self.task.task_type) else {
            return self.give_back().await;
        };
        let began = Instant::now();
        let task = Task::new(&self.task, Arc::clone(&self.link));
        let mut doing = Doing(tokio::spawn(function(task)));
        let mut beats = std::pin::pin!(self.beats());
        let outcome = tokio::select! {
            biased;
            ended = &mut doing.0 => outcome(ended),
            lost = &mut beats => {
                self.tell_lost(lost);
                self.end_function(doing).await;
                return End::Lost;
            }
            () = self.stop.reaches(Stage::GivingBack) => {
                // The lock is kept until the function has ended: nobody else shall begin before.
                let ended = tokio::select! {
                    biased;
                    ended = self.end_function(doing) => ended,
                    lost = &mut beats => {
                        self.tell_lost(lost);
                        return End::Lost;
                    }
                };
                match ended {
                    Some(Ok(output)) => Ok(output),
                    // It failed because it was told to end, or it did not end.
                    _ => return self.give_back().await,
                }
            }
        };
        let took = began.elapsed();
        let end = self.report(&outcome, beats).await;
        self.tell_end(end, outcome, took);
        end
    }

    /// Gives the task back; that is no attempt.
    pub(super) async fn give_back(&self) -> End {
        let unlocking = async {
            let mut failures = 0;
            while let Err(error) = self.client().unlock_task(&self.task.id, self.token()).await {
                if is_gone(&error) {
                    return false;
                }
                failures += 1;
                sleep(pause::after(failures)).await;
            }
            true
        };
        match timeout(UNLOCK_TIMEOUT, unlocking).await {
            Ok(true) => {
                self.tell(|task| Notice::GivenBack { task });
                End::GivenBack
            }
            Ok(false) => End::Lost,
            Err(_) => {
                let why =
                    "the server cannot be told that it is given back; its lock runs out by itself";
                self.tell(|task| Notice::Lost {
                    task,
                    why: why.to_owned(),
                });
                End::Lost
            }
        }
    }

    /// Sends heartbeats until the lock is lost. One that fails means nothing by itself.
    async fn beats(&self) -> Lost {
        let mut progress = self.link.progress();
        let mut sent = Instant::now();
        let mut wait = self.lock.every;
        let mut failures = 0;
        loop {
            let soon = match failures {
                0 => PROGRESS_EVERY.min(wait),
                _ => wait,
            };
            tokio::select! {
                biased;
                () = self.lock.over() => return Lost::RunOut,
                () = sleep_until(sent + wait) => {}
                Ok(()) = progress.changed() => sleep_until(sent + soon).await,
            }
            let beat = progress.borrow_and_update().clone();
            sent = Instant::now();
            let (least, most) = BEAT_TIMEOUT;
            let patience = self.lock.every.clamp(least, most);
            let answer = tokio::select! {
                biased;
                () = self.lock.over() => return Lost::RunOut,
                answer = timeout(patience, self.beat(&beat)) => answer,
            };
            match answer {
                Ok(Ok(())) => {
                    self.lock.renew(sent);
                    (wait, failures) = (self.lock.every, 0);
                }
                Ok(Err(error)) if is_gone(&error) => return Lost::Refused(words(&error)),
                _ => {
                    failures += 1;
                    wait = pause::after(failures).min(self.lock.every);
                }
            }
        }
    }

    async fn beat(&self, beat: &Heartbeat) -> Result<(), Error> {
        let id = &self.task.id;
        self.client().beat_task(id, self.token(), beat).await
    }

    /// Tells the function to end, and drops it if it does not; gives what it came to in time.
    async fn end_function(&self, mut doing: Doing) -> Option<Outcome> {
        self.link.lose();
        let ended = timeout(self.settings.lost_grace, &mut doing.0).await;
        if ended.is_err() {
            doing.0.abort();
            let _ = timeout(ABORT_TIMEOUT, &mut doing.0).await;
        }
        ended.ok().map(outcome)
    }

    /// Reports until it is taken, refused, or the lock is over.
    async fn report(
        &self,
        outcome: &Outcome,
        mut beats: std::pin::Pin<&mut impl Future<Output = Lost>>,
    ) -> End {
        let mut sending = std::pin::pin!(self.send(outcome));
        let mut last_word = std::pin::pin!(async {
            self.stop.reaches(Stage::GivingBack).await;
            sleep(LAST_WORD).await;
        });
        let mut is_beating = true;
        let why = loop {
            tokio::select! {
                biased;
                end = &mut sending => return end,
                lost = &mut beats, if is_beating => match lost {
                    Lost::RunOut => break "its lock ran out before the server could be told",
                    // A heartbeat that follows the report is refused because the report was taken: its own answer
                    // says what became of it.
                    Lost::Refused(_) => is_beating = false,
                },
                () = self.lock.over(), if !is_beating => {
                    break "its lock ran out before the server could be told";
                }
                () = &mut last_word => break "the worker ends, and the server cannot be told",
            }
        };
        self.tell(|task| Notice::Dropped {
            task,
            why: why.to_owned(),
        });
        End::Lost
    }

    /// Sends the report, again and again.
    async fn send(&self, outcome: &Outcome) -> End {
        let mut refused = None;
        let mut failures = 0;
        loop {
            let (id, token) = (&self.task.id, self.token());
            let failure = refused.as_ref().or_else(|| outcome.as_ref().err());
            let answer = match (failure, outcome) {
                (None, Ok(output)) => self.client().complete_task(id, token, output).await,
                (failure, _) => {
                    let failed = failure.map(Failure::report).unwrap_or_default();
                    self.client().fail_task(id, token, &failed).await
                }
            };
            match answer {
                Ok(()) if failure.is_none() => return End::Completed,
                Ok(()) => {
                    if let Some(failure) = &refused {
                        self.tell_failed(failure);
                    }
                    return End::Failed;
                }
                Err(error) if is_gone(&error) => {
                    self.tell(|task| Notice::Dropped {
                        task,
                        why: words(&error),
                    });
                    return End::Lost;
                }
                Err(error) if is_refused(&error) && refused.is_none() => {
                    let why = format!("the server does not take the result: {}", words(&error));
                    refused = Some(Failure::permanent(why));
                }
                Err(error) => {
                    failures += 1;
                    let error = words(&error);
                    self.tell(|task| Notice::Repeating { task, error });
                    sleep(pause::after(failures).min(self.lock.every)).await;
                }
            }
        }
    }

    fn client(&self) -> &crate::Client {
        &self.settings.client
    }

    fn token(&self) -> Option<&str> {
        self.task.lock_token.as_deref()
    }

    fn tell(&self, notice: impl FnOnce(String) -> Notice) {
        self.settings.tell(&notice(self.task.id.clone()));
    }

    fn tell_lost(&self, lost: Lost) {
        let why = match lost {
            Lost::Refused(why) => why,
            Lost::RunOut => "no heartbeat was accepted for as long as the lock lasts".to_owned(),
        };
        self.tell(|task| Notice::Lost { task, why });
    }

    fn tell_failed(&self, failure: &Failure) {
        let (message, retryable) = (failure.to_string(), failure.is_retryable());
        self.tell(|task| Notice::Failed {
            task,
            message,
            retryable,
        });
    }

    fn tell_end(&self, end: End, outcome: Outcome, took: Duration) {
        match (end, outcome) {
            (End::Completed, _) => self.tell(|task| Notice::Completed { task, took }),
            (End::Failed, Err(failure)) => self.tell_failed(&failure),
            // Said where it was noticed.
            _ => {}
        }
    }
}

/// A function that runs. It does not outlive whoever waits for it.
struct Doing(JoinHandle<Outcome>);

impl Drop for Doing {
    fn drop(&mut self) {
        self.0.abort();
    }
}

/// What a function came to; a panic is a failure like any other.
fn outcome(ended: Result<Outcome, JoinError>) -> Outcome {
    ended.unwrap_or_else(|error| {
        let message = match error.try_into_panic() {
            Ok(panic) => {
                let text = panic.downcast_ref::<&str>().map(|text| (*text).to_owned());
                let text = text.or_else(|| panic.downcast_ref::<String>().cloned());
                format!("the function panicked: {}", text.unwrap_or_default())
            }
            Err(_) => "the function was cancelled".to_owned(),
        };
        Err(Failure::new(message))
    })
}

/// Whether the server says that the worker does not have the task.
fn is_gone(error: &Error) -> bool {
    matches!(error.status(), Some(404 | 409))
}

/// Whether the server will never take this report, as it is.
fn is_refused(error: &Error) -> bool {
    matches!(error.status(), Some(400 | 413 | 415 | 422))
}

/// An error in words, with what the system said if nobody answered.
pub(super) fn words(error: &Error) -> String {
    match error {
        Error::Unreachable { .. } => format!("{error}: {}", error.cause()),
        _ => error.to_string(),
    }
}
