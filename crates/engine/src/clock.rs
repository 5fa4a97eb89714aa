//! The one place that asks what time it is.
//!
//! Stored times come from here and from nowhere else: a monotonic clock anchored to the wall
//! clock, so that a jump of the wall clock never moves a timer or turns a log's times around.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicI64, Ordering};
use std::time::Duration;

use futures_util::FutureExt as _;
use futures_util::future::BoxFuture;
use refire_core::time::Timestamp;
use tokio::time::Instant;

use crate::context::Context;

/// Says what time it is.
pub trait Clock: Send + Sync + 'static {
    /// Now; never earlier than what it said before.
    fn now(&self) -> Timestamp;

    /// Called every few seconds: a moment to follow a clock that was set.
    fn tick(&self) {}

    /// The store's clock says that it is now `at`, give or take so much: nodes that share a store
    /// go by its clock and not by their own.
    fn follow(&self, at: Timestamp, uncertainty: Duration) {
        let _ = (at, uncertainty);
    }

    /// Sleeps until this much has passed, or a little less: who waits for a moment asks for the
    /// time again.
    fn doze(&self, duration: Duration) -> BoxFuture<'static, ()> {
        tokio::time::sleep(duration).boxed()
    }
}

/// The runtime's timers are this coarse: a sleep lasts up to two milliseconds too long.
const COARSE: Duration = Duration::from_millis(2);

/// How often a clock is told to look at the machine's.
const TICK_EVERY: Duration = Duration::from_secs(5);

/// The machine's clock.
pub struct SystemClock {
    /// What the wall clock shows, in microseconds since 1970.
    wall_us: Box<dyn Fn() -> i64 + Send + Sync>,
    started: Instant,
    /// Microseconds since 1970 at `started`, by the wall clock as last asked.
    anchor_us: AtomicI64,
    /// The latest time given out.
    latest_us: AtomicI64,
    /// Whether it goes by a store's clock instead of the wall clock.
    follows: AtomicBool,
    /// Whether a thread sleeps for somebody.
    is_dozing: Arc<AtomicBool>,
}

impl SystemClock {
    /// A clock anchored to the wall clock of this moment.
    #[must_use]
    pub fn new() -> Self {
        Self::by(wall_us)
    }

    /// The same on a machine whose wall clock shows this, in microseconds since 1970.
    #[must_use]
    pub fn by(wall_us: impl Fn() -> i64 + Send + Sync + 'static) -> Self {
        let wall = wall_us();
        Self {
            wall_us: Box::new(wall_us),
            started: Instant::now(),
            anchor_us: AtomicI64::new(wall),
            latest_us: AtomicI64::new(wall),
            follows: AtomicBool::new(false),
            is_dozing: Arc::default(),
        }
    }

    fn elapsed_us(&self) -> i64 {
        i64::try_from(self.started.elapsed().as_micros()).unwrap_or(i64::MAX)
    }
}

impl std::fmt::Debug for SystemClock {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("SystemClock").finish_non_exhaustive()
    }
}

impl Default for SystemClock {
    fn default() -> Self {
        Self::new()
    }
}

impl Clock for SystemClock {
    fn now(&self) -> Timestamp {
        let now = self
            .anchor_us
            .load(Ordering::Relaxed)
            .saturating_add(self.elapsed_us());
        let latest = self.latest_us.fetch_max(now, Ordering::Relaxed);
        Timestamp::from_micros(now.max(latest))
    }

    /// Follows the wall clock again. Forward at once; backward by standing still until it has
    /// caught up, since a log's times never go back.
    fn tick(&self) {
        if self.follows.load(Ordering::Relaxed) {
            return;
        }
        self.anchor_us
            .store((self.wall_us)() - self.elapsed_us(), Ordering::Relaxed);
    }

    /// Forward at once, backward by standing still, as [`Clock::tick`]; only the first time it may
    /// go back, since nothing has been stored yet. It moves only as far as the measure proves it to
    /// be wrong: it does not tremble, and a slow answer does not mislead it.
    fn follow(&self, at: Timestamp, uncertainty: Duration) {
        let elapsed = self.elapsed_us();
        let off = at.as_micros() - (self.anchor_us.load(Ordering::Relaxed) + elapsed);
        let is_first = !self.follows.swap(true, Ordering::Relaxed);
        let uncertainty = i64::try_from(uncertainty.as_micros()).unwrap_or(i64::MAX);
        let wrong = match is_first {
            true => off,
            false => off - off.clamp(-uncertainty, uncertainty),
        };
        self.anchor_us.fetch_add(wrong, Ordering::Relaxed);
        if is_first {
            self.latest_us.store(at.as_micros(), Ordering::Relaxed);
        }
    }

    /// The last bit of a wait is slept by a thread, which the kernel wakes to the microsecond; by
    /// one at a time, and where there is none, by the runtime.
    fn doze(&self, duration: Duration) -> BoxFuture<'static, ()> {
        let coarse = match duration.checked_sub(COARSE) {
            Some(most) if !most.is_zero() => return tokio::time::sleep(most).boxed(),
            _ => tokio::time::sleep(duration),
        };
        if self.is_dozing.swap(true, Ordering::AcqRel) {
            return coarse.boxed();
        }
        let is_dozing = Arc::clone(&self.is_dozing);
        let fine = tokio::task::spawn_blocking(move || {
            std::thread::sleep(duration);
            is_dozing.store(false, Ordering::Release);
        });
        async move {
            tokio::select! {
                _ = fine => {}
                () = coarse => {}
            }
        }
        .boxed()
    }
}

#[expect(
    clippy::disallowed_methods,
    reason = "this is the one door for the wall clock"
)]
fn wall_us() -> i64 {
    std::time::SystemTime::now()
        .duration_since(std::time::UNIX_EPOCH)
        .map_or(0, |since| {
            i64::try_from(since.as_micros()).unwrap_or(i64::MAX)
        })
}

/// Keeps the engine's clock with the machine's: a suspended machine or a clock that was set late must not
/// shift every time that is stored.
pub(crate) async fn clock_loop(context: Arc<Context>) {
    loop {
        tokio::time::sleep(TICK_EVERY).await;
        context.clock.tick();
    }
}

/// How long from now until `at`; zero if it is past.
#[must_use]
pub fn until(clock: &dyn Clock, at: Timestamp) -> Duration {
    at.since(clock.now())
}
