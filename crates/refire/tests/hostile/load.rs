//! Honest requests at a steady rate, whatever the others do, and how long they took.

use std::fmt;
use std::time::{Duration, Instant};

use tokio::task::{JoinHandle, JoinSet};
use tokio_util::sync::CancellationToken;

/// Requests on their way at once; a machine that cannot keep up is not buried.
const AT_ONCE_MAX: usize = 128;

/// A load that runs until it is stopped.
pub(crate) struct Load {
    stop: CancellationToken,
    task: JoinHandle<Vec<Duration>>,
}

impl Load {
    /// Makes one request every so often; it does not wait for the one before.
    pub(crate) fn start<F, R>(every: Duration, request: F) -> Self
    where
        F: Fn() -> R + Send + 'static,
        R: Future<Output = ()> + Send + 'static,
    {
        let stop = CancellationToken::new();
        let stopped = stop.clone();
        let task = tokio::spawn(async move {
            let mut times = tokio::time::interval(every);
            let mut running = JoinSet::new();
            let mut times_taken = Vec::new();
            while stopped.run_until_cancelled(times.tick()).await.is_some() {
                if running.len() >= AT_ONCE_MAX {
                    times_taken.extend(running.join_next().await.map(Result::unwrap));
                }
                let request = request();
                running.spawn(async move {
                    let began = Instant::now();
                    request.await;
                    began.elapsed()
                });
            }
            times_taken.extend(running.join_all().await);
            times_taken
        });
        Self { stop, task }
    }

    /// Makes no more requests and waits for those that are on their way.
    pub(crate) async fn stop(self) -> Latencies {
        self.stop.cancel();
        let mut sorted = self.task.await.unwrap();
        sorted.sort();
        assert!(!sorted.is_empty(), "the load made no request");
        Latencies { sorted }
    }

    /// Runs for so long.
    pub(crate) async fn run_for(self, time: Duration) -> Latencies {
        tokio::time::sleep(time).await;
        self.stop().await
    }
}

/// How long requests took.
pub(crate) struct Latencies {
    sorted: Vec<Duration>,
}

impl Latencies {
    /// So many of a hundred were not slower.
    pub(crate) fn percentile(&self, percent: usize) -> Duration {
        let rank = (self.sorted.len() * percent).div_ceil(100);
        self.sorted[rank.saturating_sub(1)]
    }

    pub(crate) fn p50(&self) -> Duration {
        self.percentile(50)
    }

    pub(crate) fn p99(&self) -> Duration {
        self.percentile(99)
    }
}

impl fmt::Display for Latencies {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "n={} p50_ms={:.1} p99_ms={:.1} max_ms={:.1}",
            self.sorted.len(),
            self.p50().as_secs_f64() * 1e3,
            self.p99().as_secs_f64() * 1e3,
            self.percentile(100).as_secs_f64() * 1e3,
        )
    }
}

/// Compares requests to a server under attack with those to one that nobody attacks, made on the
/// same machine at the same time. It only catches who really has to wait for the attackers, because
/// machines that run tests are noisy; the line that is printed has the figures.
#[track_caller]
pub(crate) fn must_be_unharmed(beside: &Latencies, elsewhere: &Latencies) {
    const FACTOR: u32 = 5;
    const P50_FLOOR: Duration = Duration::from_secs(2);
    const P99_FLOOR: Duration = Duration::from_secs(3);
    for (found, other, floor) in [
        (beside.p50(), elsewhere.p50(), P50_FLOOR),
        (beside.p99(), elsewhere.p99(), P99_FLOOR),
    ] {
        assert!(
            found <= (other * FACTOR).max(floor),
            "others noticed the attack: {beside}, elsewhere {elsewhere}"
        );
    }
}
