//! When requests are sent, and when a phase of the run is over.
//!
//! In a closed loop every connection sends again as soon as it was answered. In an open loop
//! requests are planned at a constant rate whatever the server does, and each one's latency counts
//! from its planned time: a request that waits for a free connection is a slow request, as it
//! would be for whoever sent it.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use tokio::sync::Semaphore;
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

/// The shortest sleep of the planner: shorter ones cost more than they give.
const SLEEP_MIN: Duration = Duration::from_micros(100);
/// The longest, so that an end by request is noticed.
const SLEEP_MAX: Duration = Duration::from_millis(50);

/// When a phase is over.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum End {
    /// After this time.
    After(Duration),
    /// After so many requests.
    Count(u64),
}

/// One phase of a run.
pub(super) struct Pace {
    begun: Instant,
    end: End,
    taken: AtomicU64,
    stop: CancellationToken,
    plan: Option<Plan>,
}

/// Arrivals at a constant rate.
struct Plan {
    per_second: f64,
    arrivals: u64,
    due: Arc<Semaphore>,
}

impl Pace {
    /// As fast as the connections are answered.
    pub(super) fn closed(end: End, stop: CancellationToken) -> Self {
        Self {
            begun: Instant::now(),
            end,
            taken: AtomicU64::new(0),
            stop,
            plan: None,
        }
    }

    /// At this rate, with so many connections waiting for their turn.
    pub(super) fn open(
        end: End,
        per_second: f64,
        connections: usize,
        stop: CancellationToken,
    ) -> anyhow::Result<Self> {
        let arrivals = match end {
            End::Count(count) => count,
            End::After(time) => arrivals_before(time, per_second),
        };
        let due = Arc::new(Semaphore::new(0));
        let pace = Self {
            plan: Some(Plan {
                per_second,
                arrivals,
                due: Arc::clone(&due),
            }),
            ..Self::closed(End::Count(arrivals), stop.clone())
        };
        let begun = pace.begun;
        // A thread, because the timers of the runtime are only as fine as a millisecond, and that
        // error would be part of every latency.
        std::thread::Builder::new()
            .name("bench-plan".to_owned())
            .spawn(move || announce(begun, arrivals, per_second, connections, &due, &stop))?;
        Ok(pace)
    }

    /// Waits for the next request's turn and gives the time from which it counts; `None` when the
    /// phase is over.
    pub(super) async fn next(&self) -> Option<Instant> {
        if let Some(plan) = &self.plan {
            tokio::select! {
                permit = plan.due.acquire() => permit.ok()?.forget(),
                () = self.stop.cancelled() => return None,
            }
        }
        if self.stop.is_cancelled() {
            return None;
        }
        match self.end {
            End::After(time) => {
                let now = Instant::now();
                (now.duration_since(self.begun) < time).then_some(now)
            }
            End::Count(count) => {
                let number = self.taken.fetch_add(1, Ordering::Relaxed);
                let at = match &self.plan {
                    Some(plan) => self.begun + planned(number, plan.per_second),
                    None => Instant::now(),
                };
                (number < count).then_some(at)
            }
        }
    }

    /// Whether requests are sent at a constant rate.
    pub(super) fn is_open(&self) -> bool {
        self.plan.is_some()
    }

    /// When it began.
    pub(super) fn begun(&self) -> Instant {
        self.begun
    }

    /// How much of it is over, from 0 to 1.
    pub(super) fn share(&self, answered: u64) -> f64 {
        let share = match self.end {
            End::After(time) => self.begun.elapsed().as_secs_f64() / time.as_secs_f64(),
            End::Count(count) => answered as f64 / count as f64,
        };
        share.min(1.0)
    }

    /// How long it should take, where that is known beforehand.
    pub(super) fn expected(&self) -> Option<Duration> {
        match (&self.plan, self.end) {
            (Some(plan), _) => Some(planned(plan.arrivals, plan.per_second)),
            (None, End::After(time)) => Some(time),
            (None, End::Count(_)) => None,
        }
    }

    /// Planned requests that never had their turn.
    pub(super) fn not_sent(&self) -> u64 {
        let plan = self.plan.as_ref().map(|plan| plan.arrivals);
        plan.map_or(0, |arrivals| {
            arrivals.saturating_sub(self.taken.load(Ordering::Relaxed))
        })
    }
}

/// When the arrival of this number is planned.
fn planned(number: u64, per_second: f64) -> Duration {
    Duration::from_secs_f64(number as f64 / per_second)
}

/// Arrivals planned before this time; the first one is at once.
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "bounded by the options: a day at a million per second"
)]
fn arrivals_before(time: Duration, per_second: f64) -> u64 {
    ((time.as_secs_f64() * per_second).ceil() as u64).max(1)
}

/// Lets requests go when their time has come.
fn announce(
    begun: Instant,
    arrivals: u64,
    per_second: f64,
    connections: usize,
    due: &Semaphore,
    stop: &CancellationToken,
) {
    let mut announced = 0;
    while announced < arrivals && !stop.is_cancelled() {
        let now = arrivals_before(begun.elapsed(), per_second).min(arrivals);
        if now > announced {
            due.add_permits(usize::try_from(now - announced).unwrap_or(usize::MAX));
            announced = now;
        }
        let next = begun + planned(announced, per_second);
        let wait = next.saturating_duration_since(Instant::now());
        std::thread::sleep(wait.clamp(SLEEP_MIN, SLEEP_MAX));
    }
    // One more turn for each connection, in which it finds that it was the last.
    due.add_permits(connections);
}

#[cfg(test)]
mod tests {
    use super::*;

    async fn all(pace: &Pace) -> Vec<Duration> {
        let mut times = Vec::new();
        while let Some(at) = pace.next().await {
            times.push(at.duration_since(pace.begun()));
        }
        times
    }

    #[tokio::test]
    async fn a_count_is_kept_exactly() {
        let pace = Pace::closed(End::Count(3), CancellationToken::new());
        assert_eq!(all(&pace).await.len(), 3);
        assert!((pace.share(3) - 1.0).abs() < f64::EPSILON);
    }

    #[tokio::test]
    async fn planned_times_do_not_depend_on_who_is_late() {
        let end = End::After(Duration::from_millis(50));
        let pace = Pace::open(end, 200.0, 1, CancellationToken::new()).unwrap();
        std::thread::sleep(Duration::from_millis(80));
        let times = all(&pace).await;
        let expected: Vec<_> = (0..10).map(|n| Duration::from_millis(n * 5)).collect();
        assert_eq!(times, expected);
        assert_eq!(pace.not_sent(), 0);
    }

    #[tokio::test]
    async fn nothing_goes_before_its_time() {
        let pace = Pace::open(End::Count(20), 1_000.0, 1, CancellationToken::new()).unwrap();
        while let Some(at) = pace.next().await {
            assert!(at <= Instant::now());
        }
    }

    #[tokio::test]
    async fn a_stop_ends_a_wait() {
        let stop = CancellationToken::new();
        let pace = Pace::open(End::Count(100), 0.1, 1, stop.clone()).unwrap();
        assert!(pace.next().await.is_some(), "the first goes at once");
        stop.cancel();
        assert!(pace.next().await.is_none());
        assert_eq!(pace.not_sent(), 99);
    }
}
