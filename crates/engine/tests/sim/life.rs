//! One life of the process: from its start to a crash, a stop, or the end of the run.
//!
//! A life is a runtime of one thread with virtual time. A crash drops that runtime with every task
//! at whatever it waits for. Between the crash and the drop nothing may happen any more, so whoever
//! acts on the world asks first whether the process is alive.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use refire_core::time::Timestamp;
use refire_engine::clock::Clock;
use refire_engine::entropy::Entropy;
use tokio::sync::Notify;
use tokio::time::Instant;

use crate::mark::Mark;
use crate::world::{Inside, Violation, World};

/// See the module.
pub(crate) struct Life {
    pub(crate) world: Arc<World>,
    pub(crate) number: u32,
    pub(crate) clock: Arc<WallClock>,
    /// How long earlier processes had lived when this one began, in milliseconds.
    lived_before_ms: u64,
    /// The wall clock's time at its beginning.
    pub(crate) began: Timestamp,
    dead: AtomicBool,
    over: Notify,
    /// How much patience a stop was asked with, in milliseconds.
    stop: std::sync::Mutex<Option<u64>>,
    stop_asked: Notify,
    pub(crate) stopping: AtomicBool,
    /// Rings when somebody is about to meddle.
    pub(crate) meddle: Notify,
}

impl Life {
    /// Must be called on the life's own runtime.
    pub(crate) fn begin(world: &Arc<World>, number: u32, wall_us: i64) -> Arc<Self> {
        let inside = &mut *world.inside();
        let clock = WallClock::roll(inside, world, wall_us);
        let lived_before_ms = inside.lived_ms;
        inside.trace.say(format!("life {number} begins"));
        Arc::new(Self {
            world: Arc::clone(world),
            number,
            clock: Arc::new(clock),
            lived_before_ms,
            began: Timestamp::from_micros(wall_us),
            dead: AtomicBool::new(false),
            over: Notify::new(),
            stop: std::sync::Mutex::new(None),
            stop_asked: Notify::new(),
            stopping: AtomicBool::new(false),
            meddle: Notify::new(),
        })
    }

    pub(crate) fn is_dead(&self) -> bool {
        self.dead.load(Ordering::Relaxed)
    }

    /// Returns at once in a living process and never in a dead one.
    pub(crate) async fn alive(&self) {
        if self.is_dead() {
            std::future::pending::<()>().await;
        }
    }

    /// Sleeps, and wakes up only in a living process.
    pub(crate) async fn sleep_ms(&self, ms: u64) {
        if ms > 0 {
            tokio::time::sleep(Duration::from_millis(ms)).await;
        }
        self.alive().await;
    }

    /// The process dies here.
    pub(crate) async fn crash(&self, why: &str, mark: Option<Mark>) {
        self.alive().await;
        self.with(|inside| {
            inside.crashes += 1;
            mark.iter().for_each(|mark| inside.marks.reach(*mark));
            if self.stopping.load(Ordering::Relaxed) {
                inside.marks.reach(Mark::CrashWhileStopping);
            }
        });
        self.say(&format!("crash {why}"));
        self.end();
        std::future::pending::<()>().await;
    }

    /// Nothing happens in this life any more.
    fn end(&self) {
        self.dead.store(true, Ordering::Relaxed);
        self.over.notify_one();
    }

    /// Returns when the process has died.
    pub(crate) async fn died(&self) {
        self.over.notified().await;
    }

    pub(crate) fn ask_to_stop(&self, patience_ms: u64) {
        let mut stop = self.stop.lock().unwrap();
        stop.get_or_insert(patience_ms);
        self.stop_asked.notify_one();
    }

    pub(crate) async fn asked_to_stop(&self) -> u64 {
        self.stop_asked.notified().await;
        self.stopping.store(true, Ordering::Relaxed);
        self.stop.lock().unwrap().unwrap_or(0)
    }

    /// Changes the world. A broken promise ends the life.
    pub(crate) fn with<T>(&self, act: impl FnOnce(&mut Inside) -> T) -> T {
        let inside = &mut *self.world.inside();
        inside.lived_ms = self.lived_ms();
        let done = act(inside);
        if inside.violation.is_some() {
            self.end();
        }
        done
    }

    /// As [`Life::with`], for a check.
    pub(crate) fn check(&self, check: impl FnOnce(&mut Inside) -> Result<(), Violation>) {
        self.with(|inside| {
            if let Err(violation) = check(inside) {
                inside.violate(violation);
            }
        });
    }

    /// In the middle of something: a moment for somebody to meddle.
    pub(crate) fn tempt(&self) {
        let rate = self.world.plan.rates.meddling;
        if self.with(|inside| !inside.healed && inside.people_dice.chance(rate)) {
            self.meddle.notify_one();
        }
    }

    pub(crate) fn reach(&self, mark: Mark) {
        self.with(|inside| inside.marks.reach(mark));
    }

    pub(crate) fn say(&self, text: &str) {
        let at = self.lived_ms();
        let number = self.number;
        self.with(|inside| inside.trace.say(format!("{number}:{at:>6}  {text}")));
    }

    /// How long all processes have lived together.
    pub(crate) fn lived_ms(&self) -> u64 {
        let own = self.clock.started.elapsed().as_millis();
        self.lived_before_ms + u64::try_from(own).unwrap_or(u64::MAX)
    }
}

/// The machine's clock as the process sees it: usually right, sometimes set while it runs.
pub(crate) struct WallClock {
    pub(crate) started: Instant,
    wall_us: i64,
    /// From then on (microseconds of this life) it is so much further: somebody set it forward.
    leap: Option<(i64, i64)>,
    /// From then on it stands still for so long: somebody set it back, and it never goes back.
    still: Option<(i64, i64)>,
}

impl WallClock {
    fn roll(inside: &mut Inside, world: &World, wall_us: i64) -> Self {
        let rate = if inside.healed {
            0
        } else {
            world.plan.rates.clock_jumps
        };
        let dice = &mut inside.process_dice;
        let mut moment = |longest_ms: u64| {
            let when = i64::try_from(dice.below(20_000)).unwrap_or(0) * 1_000;
            let how_far = i64::try_from(dice.below(longest_ms)).unwrap_or(0) * 1_000;
            dice.chance(rate / 2).then_some((when, how_far))
        };
        let leap = moment(600_000);
        let still = moment(60_000);
        if leap.is_some() {
            inside.marks.reach(Mark::ClockForward);
        }
        if still.is_some() {
            inside.marks.reach(Mark::ClockBack);
        }
        Self {
            started: Instant::now(),
            wall_us,
            leap,
            still,
        }
    }
}

impl Clock for WallClock {
    fn now(&self) -> Timestamp {
        let lived = i64::try_from(self.started.elapsed().as_micros()).unwrap_or(i64::MAX);
        let mut now = self.wall_us + lived;
        if let Some((when, how_far)) = self.still {
            now -= (lived - when).clamp(0, how_far);
        }
        if let Some((when, how_far)) = self.leap
            && lived >= when
        {
            now += how_far;
        }
        Timestamp::from_micros(now)
    }
}

/// The process's dice are the world's: ids and seeds are the same in every run of a seed.
pub(crate) struct WorldEntropy(pub(crate) Arc<World>);

impl Entropy for WorldEntropy {
    fn fill(&self, bytes: &mut [u8]) {
        self.0.inside().entropy.fill(bytes);
    }
}
