//! News between nodes: one connection that listens and tells.
//!
//! Telling never waits. What is told within a moment goes out together, once: at once when it was
//! quiet before, and otherwise when the moment is over. Hints only: whoever was away is told that
//! something may have been missed.

use std::collections::{HashSet, VecDeque};
use std::future::poll_fn;
use std::pin::pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use futures_util::future::{Either, select};
use refire_core::definition::WorkflowId;
use tokio::sync::{Notify, oneshot};
use tokio::task::JoinHandle;
use tokio::time::{Instant, sleep, sleep_until, timeout};
use tokio_postgres::{AsyncMessage, Client, Statement};
use uuid::Uuid;

use super::backoff::Backoff;
use super::connect::{self, ConnectError, Driver};
use super::options::Options;
use crate::News;

/// The channel that all nodes of a database listen to.
const CHANNEL: &str = "refire";
/// Between two rounds of telling.
const MOMENT: Duration = Duration::from_millis(50);
/// For the server to take a round.
const TOLD_WITHIN: Duration = Duration::from_secs(5);
/// News that wait to be told or heard, at most; beyond that they become one: something was missed.
const WAITING_MAX: usize = 1_024;
/// Between two attempts to connect, at first.
const RECONNECT_FIRST: Duration = Duration::from_millis(100);
/// Between two attempts to connect, at most.
const RECONNECT_MAX: Duration = Duration::from_secs(2);

/// See the module.
pub(super) struct Wire {
    shared: Arc<Shared>,
    listening: Mutex<Option<JoinHandle<()>>>,
}

/// What callers and the connection's task share.
#[derive(Default)]
struct Shared {
    /// To be told.
    outbox: Mutex<HashSet<News>>,
    has_outgoing: Notify,
    /// Heard, not yet taken.
    inbox: Mutex<VecDeque<News>>,
    has_incoming: Notify,
}

impl Wire {
    /// Listens before it returns.
    pub(super) async fn open(options: &Options) -> Result<Self, ConnectError> {
        let shared = Arc::new(Shared::default());
        let line = Line::open(options, &shared).await?;
        let task = Task {
            options: options.clone(),
            shared: Arc::clone(&shared),
        };
        Ok(Self {
            shared,
            listening: Mutex::new(Some(tokio::spawn(task.run(line)))),
        })
    }

    /// Soon, without waiting.
    pub(super) fn tell(&self, news: News) {
        let mut outbox = lock(&self.shared.outbox);
        if outbox.len() >= WAITING_MAX {
            outbox.clear();
            outbox.insert(News::Missed);
        } else if !outbox.contains(&News::Missed) {
            outbox.insert(news);
        }
        drop(outbox);
        self.shared.has_outgoing.notify_one();
    }

    /// The next news.
    pub(super) async fn next(&self) -> News {
        loop {
            if let Some(news) = lock(&self.shared.inbox).pop_front() {
                return news;
            }
            self.shared.has_incoming.notified().await;
        }
    }

    pub(super) fn close(&self) {
        if let Some(listening) = lock(&self.listening).take() {
            listening.abort();
        }
    }
}

impl Drop for Wire {
    fn drop(&mut self) {
        self.close();
    }
}

impl Shared {
    /// Not before the next round.
    async fn something_to_tell(&self, next_round: Instant) {
        while lock(&self.outbox).is_empty() {
            self.has_outgoing.notified().await;
        }
        sleep_until(next_round).await;
    }

    fn hear(&self, news: News) {
        let mut inbox = lock(&self.inbox);
        if news == News::Missed || inbox.len() >= WAITING_MAX {
            inbox.clear();
            inbox.push_back(News::Missed);
        } else if !inbox.contains(&News::Missed) && !inbox.contains(&news) {
            inbox.push_back(news);
        }
        drop(inbox);
        self.has_incoming.notify_one();
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// A connection that listens.
struct Line {
    client: Client,
    notify: Statement,
    /// Tells our own news from those of others.
    own: Uuid,
    /// Ends when the connection does.
    driving: JoinHandle<()>,
}

impl Line {
    async fn open(options: &Options, shared: &Arc<Shared>) -> Result<Self, ConnectError> {
        let opening = async {
            let (client, driver) = connect::open(options, "news").await?;
            let (name, named) = oneshot::channel();
            let driving = tokio::spawn(listen(driver, named, Arc::clone(shared)));
            client.batch_execute(connect::SESSION).await?;
            let row = client.query_one("SELECT gen_random_uuid()", &[]).await?;
            let own: Uuid = row.try_get(0)?;
            let notify = client
                .prepare("SELECT pg_notify($1, news) FROM unnest($2::text[]) AS news")
                .await?;
            // Before the first news can come.
            let _ = name.send(own);
            client.batch_execute(&format!("LISTEN {CHANNEL}")).await?;
            Ok(Self {
                client,
                notify,
                own,
                driving,
            })
        };
        connect::within(options, opening).await
    }

    /// One round, in one transaction: the server hands it out when it is committed.
    async fn tell(&self, news: &HashSet<News>) -> Result<(), tokio_postgres::Error> {
        let lines: Vec<String> = news.iter().map(|news| written(self.own, news)).collect();
        self.client
            .execute(&self.notify, &[&CHANNEL, &lines])
            .await
            .map(drop)
    }
}

/// Drives a connection to its end, and hears what it brings once it has a name.
async fn listen(mut driver: Driver, mut named: oneshot::Receiver<Uuid>, shared: Arc<Shared>) {
    let mut own = None;
    while let Some(message) = poll_fn(|context| driver.poll_message(context)).await {
        match message {
            Ok(AsyncMessage::Notification(told)) => {
                own = own.or_else(|| named.try_recv().ok());
                match read(told.payload()) {
                    Some((by, _)) if Some(by) == own => {}
                    Some((_, news)) => shared.hear(news),
                    // From a newer program, or by hand.
                    None => shared.hear(News::Missed),
                }
            }
            Ok(_) => {}
            Err(error) => {
                tracing::debug!(error = ?error, "the connection for news broke");
                return;
            }
        }
    }
}

/// Keeps a line open and tells what is to be told.
struct Task {
    options: Options,
    shared: Arc<Shared>,
}

impl Task {
    async fn run(self, mut line: Line) {
        loop {
            self.tell_until_broken(line).await;
            line = self.reconnect().await;
            self.shared.hear(News::Missed);
        }
    }

    async fn tell_until_broken(&self, mut line: Line) {
        let mut next_round = Instant::now();
        loop {
            let turn = pin!(self.shared.something_to_tell(next_round));
            if let Either::Right(_) = select(turn, &mut line.driving).await {
                return;
            }
            let news = std::mem::take(&mut *lock(&self.shared.outbox));
            next_round = Instant::now() + MOMENT;
            if !matches!(timeout(TOLD_WITHIN, line.tell(&news)).await, Ok(Ok(()))) {
                // Others may not have heard it, and will not know that they did not.
                lock(&self.shared.outbox).insert(News::Missed);
                return;
            }
        }
    }

    async fn reconnect(&self) -> Line {
        let mut backoff = Backoff::new(RECONNECT_FIRST, RECONNECT_MAX);
        loop {
            sleep(backoff.next()).await;
            match Line::open(&self.options, &self.shared).await {
                Ok(line) => return line,
                Err(error) => {
                    tracing::debug!(error = ?error, "the connection for news is not back yet");
                }
            }
        }
    }
}

/// A line as it is sent: who tells, what kind of news, about what.
fn written(own: Uuid, news: &News) -> String {
    match news {
        News::Work => format!("{own} work"),
        News::Withdrawn(id) => format!("{own} withdrawn {id}"),
        News::Definition(id) => format!("{own} definition {id}"),
        News::Trigger(id) => format!("{own} trigger {id}"),
        News::Task(name) => format!("{own} task {name}"),
        News::Breaker(host) => format!("{own} breaker {host}"),
        News::Due => format!("{own} due"),
        News::Channel => format!("{own} channel"),
        News::Notice => format!("{own} notice"),
        News::Missed => format!("{own} missed"),
    }
}

fn read(line: &str) -> Option<(Uuid, News)> {
    let mut words = line.splitn(3, ' ');
    let by = words.next()?.parse().ok()?;
    let news = match (words.next()?, words.next()) {
        ("work", None) => News::Work,
        ("withdrawn", Some(id)) => News::Withdrawn(id.parse().ok()?),
        ("definition", Some(id)) => News::Definition(WorkflowId::kept(id).ok()?),
        ("trigger", Some(id)) => News::Trigger(id.parse().ok()?),
        ("task", Some(name)) => News::Task(name.to_owned()),
        ("breaker", Some(host)) => News::Breaker(host.to_owned()),
        ("due", None) => News::Due,
        ("channel", None) => News::Channel,
        ("notice", None) => News::Notice,
        ("missed", None) => News::Missed,
        _ => return None,
    };
    Some((by, news))
}
