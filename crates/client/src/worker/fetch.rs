//! The loop that asks for tasks: as many as there are free slots, and never more.

use std::sync::Arc;
use std::time::Duration;

use tokio::task::JoinSet;
use tokio::time::{Instant, sleep, timeout};

use super::hold::{End, Hold};
use super::notice::{Notice, Tally};
use super::pause;
use super::stop::{Stage, Stop};
use super::{Settings, hold};
use crate::error::Error;
use crate::model::Task;
use crate::query::PollQuery;

/// Tasks that one poll takes at most.
const TASKS_MAX: usize = 100;
/// How long a stop waits for a poll that is under way: what it was about to bring would be locked for nobody.
const POLL_LINGER: Duration = Duration::from_secs(1);

/// Works until it is stopped, or refused for good.
pub(super) async fn run(settings: Arc<Settings>, stop: Stop) -> Result<Tally, Error> {
    settings.tell(&Notice::Started {
        worker: settings.id.clone(),
        url: settings.client.url().to_owned(),
        types: settings.routes.types(),
        concurrency: settings.concurrency,
    });
    let mut fetcher = Fetcher {
        settings,
        stop,
        running: JoinSet::new(),
        tally: Tally::default(),
        failures: 0,
        is_troubled: false,
    };
    let refused = fetcher.fetch().await;
    fetcher.finish().await;
    match refused {
        Some(error) => Err(error),
        None => Ok(fetcher.tally),
    }
}

struct Fetcher {
    settings: Arc<Settings>,
    stop: Stop,
    running: JoinSet<End>,
    tally: Tally,
    /// Polls in a row that brought nothing and did not wait either.
    failures: u32,
    /// Whether trouble was told of, and not yet its end.
    is_troubled: bool,
}

impl Fetcher {
    /// Fetches until it is stopped; gives the reason if it is refused for good.
    async fn fetch(&mut self) -> Option<Error> {
        let stop = self.stop.clone();
        let mut stopped = std::pin::pin!(stop.reaches(Stage::Finishing));
        loop {
            while let Some(ended) = self.running.try_join_next() {
                self.count(ended.ok());
            }
            let free = self.settings.concurrency - self.running.len();
            if free == 0 {
                tokio::select! {
                    biased;
                    () = &mut stopped => return None,
                    ended = self.running.join_next() => self.count(ended.and_then(Result::ok)),
                }
                continue;
            }
            let asked = Instant::now();
            let settings = Arc::clone(&self.settings);
            let mut poll = std::pin::pin!(settings.poll(free.min(TASKS_MAX)));
            let answer = tokio::select! {
                biased;
                () = &mut stopped => {
                    if let Ok(Ok(tasks)) = timeout(POLL_LINGER, poll).await {
                        self.give_back(tasks);
                    }
                    return None;
                }
                answer = &mut poll => answer,
            };
            let wait = match answer {
                Ok(tasks) => self.take(tasks, asked),
                Err(error) if is_final(&error) => return Some(error),
                Err(error) => Some(self.trouble(&error)),
            };
            if let Some(wait) = wait {
                tokio::select! {
                    biased;
                    () = &mut stopped => return None,
                    () = sleep(wait) => {}
                }
            }
        }
    }

    /// Begins what has arrived. A server that has nothing and does not wait either is not asked at once again.
    fn take(&mut self, tasks: Vec<Task>, asked: Instant) -> Option<Duration> {
        let is_hasty = tasks.is_empty() && asked.elapsed() < self.settings.wait / 2;
        if is_hasty {
            self.failures += 1;
            return Some(pause::after(self.failures));
        }
        self.failures = 0;
        if std::mem::take(&mut self.is_troubled) {
            self.settings.tell(&Notice::Recovered);
        }
        let arrived = Instant::now();
        for task in tasks {
            self.settings.tell(&Notice::Fetched {
                task: task.id.clone(),
                task_type: task.task_type.clone(),
                attempt: task.retry_count + 1,
            });
            let hold = Hold::new(Arc::clone(&self.settings), self.stop.clone(), task, arrived);
            self.running.spawn(hold.run());
        }
        None
    }

    fn trouble(&mut self, error: &Error) -> Duration {
        self.failures += 1;
        self.is_troubled = true;
        let wait = pause::after(self.failures);
        self.settings.tell(&Notice::Trouble {
            error: hold::words(error),
            wait,
        });
        wait
    }

    /// Gives back what came too late to be begun.
    fn give_back(&mut self, tasks: Vec<Task>) {
        let arrived = Instant::now();
        for task in tasks {
            let hold = Hold::new(Arc::clone(&self.settings), self.stop.clone(), task, arrived);
            self.running.spawn(async move { hold.give_back().await });
        }
    }

    /// Lets what runs finish within the grace time; then it is given back.
    async fn finish(&mut self) {
        let (running, grace) = (self.running.len(), self.settings.grace);
        self.settings.tell(&Notice::Stopping { running, grace });
        let stop = self.stop.clone();
        let over = async {
            tokio::select! {
                () = sleep(grace) => stop.stop_now(),
                () = stop.reaches(Stage::GivingBack) => {}
            }
        };
        let mut over = std::pin::pin!(over);
        let mut is_over = false;
        loop {
            tokio::select! {
                biased;
                ended = self.running.join_next() => match ended {
                    Some(ended) => self.count(ended.ok()),
                    None => return,
                },
                () = &mut over, if !is_over => {
                    is_over = true;
                    let running = self.running.len();
                    self.settings.tell(&Notice::GivingBack { running });
                }
            }
        }
    }

    fn count(&mut self, end: Option<End>) {
        let tally = &mut self.tally;
        match end {
            Some(End::Completed) => tally.completed += 1,
            Some(End::Failed) => tally.failed += 1,
            Some(End::GivenBack) => tally.given_back += 1,
            Some(End::Lost) | None => tally.lost += 1,
        }
    }
}

impl Settings {
    async fn poll(&self, max: usize) -> Result<Vec<Task>, Error> {
        let query = PollQuery {
            task_type: self.routes.types(),
            worker_id: Some(self.id.clone()),
            worker_type: self.worker_type.clone(),
            max_tasks: u32::try_from(max).ok(),
            wait_seconds: u32::try_from(self.wait.as_secs()).ok(),
        };
        self.client.poll_tasks(&query).await
    }
}

/// Whether asking again cannot help: the key is not taken, or what is asked for is wrong.
fn is_final(error: &Error) -> bool {
    let is_problem = matches!(error, Error::Problem(_));
    matches!(error.status(), Some(401 | 403)) || (is_problem && error.status() == Some(400))
}
