//! One life of a process: from its start to a crash, a stop, or the end of the run.
//!
//! Where there is one node, a life is a runtime of one thread with virtual time, and a crash drops
//! that runtime with every task at whatever it waits for. Nodes that share a disk share a runtime:
//! the tasks of one that has crashed wait for ever. In both cases nothing of it may happen any more,
//! so whoever acts on the world asks first whether the process is alive. One that is paused is
//! alive, but not now.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, OnceLock, Weak};
use std::time::Duration;

use refire_core::id::NodeId;
use refire_core::time::Timestamp;
use refire_engine::Engine;
use refire_engine::clock::{Clock, SystemClock};
use refire_engine::entropy::Entropy;
use tokio::sync::Notify;
use tokio::time::{Instant, sleep, sleep_until};

use crate::mark::Mark;
use crate::world::{Inside, Violation, World};

/// What a process knows of the store may be this old although nothing held it up, in milliseconds:
/// what it has read grows old until it acts on it.
const OLD_MS: u64 = 1_000;

/// A process that stood still is all awake again after this, in milliseconds.
pub(crate) const WAKES_WITHIN_MS: u64 = 20;

/// See the module.
pub(crate) struct Life {
    pub(crate) world: Arc<World>,
    pub(crate) number: u32,
    /// Which of the nodes it is a life of.
    pub(crate) slot: usize,
    pub(crate) clock: Arc<dyn Clock>,
    /// From when on it has lived, and how long the world had then, in milliseconds.
    lived_from: Instant,
    lived_before_ms: u64,
    /// The time at its beginning.
    pub(crate) began: Timestamp,
    pub(crate) engine: OnceLock<Weak<Engine>>,
    dead: AtomicBool,
    over: Notify,
    /// Everything it does waits until then.
    paused_until: Mutex<Option<Instant>>,
    /// It does not reach the database until then.
    cut_until: Mutex<Option<Instant>>,
    /// It cannot do anything about its lease until then, and reaches the database otherwise.
    lease_cut_until: Mutex<Option<Instant>>,
    /// From when to when it waited for something that the store had told it, in milliseconds.
    deaf: Mutex<Vec<(u64, u64)>>,
    /// How much patience a stop was asked with, in milliseconds.
    stop: Mutex<Option<u64>>,
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
        let began = Timestamp::from_micros(wall_us);
        let lived = (Instant::now(), lived_before_ms);
        Self::new(world, (number, 0), Arc::new(clock), lived, began)
    }

    /// A life of one of several nodes.
    pub(crate) fn begin_among(world: &Arc<World>, number: u32, slot: usize) -> Arc<Self> {
        let inside = &mut *world.inside();
        let skew_us = world.plan.nodes.skews_ms[slot] * 1_000;
        let began = world.now();
        let own = WallClock::roll(inside, world, began.as_micros() + skew_us);
        inside
            .trace
            .say(format!("life {number} begins, of node {slot}"));
        let clock = NodeClock(SystemClock::by(move || own.now().as_micros()));
        let lived = (world.began(), 0);
        Self::new(world, (number, slot), Arc::new(clock), lived, began)
    }

    fn new(
        world: &Arc<World>,
        (number, slot): (u32, usize),
        clock: Arc<dyn Clock>,
        (lived_from, lived_before_ms): (Instant, u64),
        began: Timestamp,
    ) -> Arc<Self> {
        Arc::new(Self {
            world: Arc::clone(world),
            number,
            slot,
            clock,
            lived_from,
            lived_before_ms,
            began,
            engine: OnceLock::new(),
            paused_until: Mutex::new(None),
            cut_until: Mutex::new(None),
            lease_cut_until: Mutex::new(None),
            deaf: Mutex::new(Vec::new()),
            dead: AtomicBool::new(false),
            over: Notify::new(),
            stop: Mutex::new(None),
            stop_asked: Notify::new(),
            stopping: AtomicBool::new(false),
            meddle: Notify::new(),
        })
    }

    pub(crate) fn is_dead(&self) -> bool {
        self.dead.load(Ordering::Relaxed)
    }

    /// Returns at once in a living process, later in a paused one, and never in a dead one.
    pub(crate) async fn alive(&self) {
        loop {
            if self.is_dead() {
                std::future::pending::<()>().await;
            }
            let until = *self.paused_until.lock().unwrap();
            match until.filter(|until| *until > Instant::now()) {
                Some(until) => {
                    let from = self.lived_ms();
                    sleep_until(until).await;
                    // Its tasks go on in any order, and not all at the same moment.
                    let lags = [0, 0, 1, WAKES_WITHIN_MS];
                    let lag = self.with(|inside| *inside.process_dice.pick(&lags));
                    sleep(Duration::from_millis(lag)).await;
                    self.was_deaf(from);
                }
                None => return,
            }
        }
    }

    /// Everything it does waits for so long.
    pub(crate) fn pause(&self, ms: u64) {
        prolong(&self.paused_until, ms);
    }

    pub(crate) fn is_paused(&self) -> bool {
        let until = *self.paused_until.lock().unwrap();
        until.is_some_and(|until| until > Instant::now())
    }

    /// It does not reach the database for so long.
    pub(crate) fn cut(&self, ms: u64) {
        prolong(&self.cut_until, ms);
    }

    /// For how long it does not reach the database.
    pub(crate) fn cut_for(&self) -> Option<Duration> {
        self.time_left(&self.cut_until)
    }

    /// It cannot do anything about its lease for so long.
    pub(crate) fn cut_lease(&self, ms: u64) {
        prolong(&self.lease_cut_until, ms);
    }

    /// For how long it cannot do anything about its lease.
    pub(crate) fn lease_cut_for(&self) -> Option<Duration> {
        self.time_left(&self.lease_cut_until)
    }

    fn time_left(&self, until: &Mutex<Option<Instant>>) -> Option<Duration> {
        let until = (*until.lock().unwrap())?;
        let left = until.saturating_duration_since(Instant::now());
        (!left.is_zero() && !self.world.inside().healed).then_some(left)
    }

    /// Whether it was paused or cut off at any time since then (milliseconds).
    pub(crate) fn was_held_up_since(&self, ms: u64) -> bool {
        let until = |until: &Mutex<Option<Instant>>| *until.lock().unwrap();
        let since = self.lived_from + Duration::from_millis(ms - self.lived_before_ms);
        [&self.paused_until, &self.cut_until, &self.lease_cut_until]
            .into_iter()
            .filter_map(until)
            .any(|until| until > since)
    }

    /// What the store told it since then has only just come.
    pub(crate) fn was_deaf(&self, from_ms: u64) {
        let now = self.lived_ms();
        if now > from_ms && self.world.is_shared() {
            self.deaf.lock().unwrap().push((from_ms, now));
        }
    }

    /// From when on (milliseconds) it may not know what others have done.
    pub(crate) fn knows_until(&self) -> u64 {
        let now = self.lived_ms();
        if !self.world.is_shared() {
            return now;
        }
        let mut from = now.saturating_sub(OLD_MS);
        let mut deaf = self.deaf.lock().unwrap();
        // One wait may have followed another.
        for (began, ended) in deaf.iter().rev() {
            if *ended >= from {
                from = from.min(began.saturating_sub(OLD_MS));
            }
        }
        deaf.retain(|(_, ended)| *ended >= from);
        from
    }

    /// What its own clock shows, once it runs.
    pub(crate) fn own_now(&self) -> Option<Timestamp> {
        let engine = self.engine.get()?.upgrade()?;
        Some(engine.now())
    }

    /// Its id among the nodes, once it has one.
    pub(crate) fn node(&self) -> Option<NodeId> {
        let engine = self.engine.get()?.upgrade()?;
        Some(engine.node())
    }

    /// What time it really is.
    pub(crate) fn now(&self) -> Timestamp {
        match self.world.is_shared() {
            true => self.world.now(),
            false => self.clock.now(),
        }
    }

    /// Sleeps, and wakes up only in a living process.
    pub(crate) async fn sleep_ms(&self, ms: u64) {
        if ms > 0 {
            sleep(Duration::from_millis(ms)).await;
        }
        self.alive().await;
    }

    /// The process dies here.
    pub(crate) async fn crash(&self, why: &str, mark: Option<Mark>) {
        self.alive().await;
        self.fall(why, mark);
        std::future::pending::<()>().await;
    }

    /// The process dies, and whoever kills it is not in it.
    pub(crate) fn fall(&self, why: &str, mark: Option<Mark>) {
        self.with(|inside| {
            inside.crashes += 1;
            mark.iter().for_each(|mark| inside.marks.reach(*mark));
            if self.stopping.load(Ordering::Relaxed) {
                inside.marks.reach(Mark::CrashWhileStopping);
            }
        });
        self.say(&format!("crash {why}"));
        self.end();
    }

    /// Nothing happens in this life any more.
    pub(crate) fn end(&self) {
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
            self.world.over.notify_one();
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
        let own = self.lived_from.elapsed().as_millis();
        self.lived_before_ms + u64::try_from(own).unwrap_or(u64::MAX)
    }
}

/// So long from now, or longer if it was to be longer.
fn prolong(until: &Mutex<Option<Instant>>, ms: u64) {
    let new = Some(Instant::now() + Duration::from_millis(ms));
    let mut until = until.lock().unwrap();
    *until = (*until).max(new);
}

/// The clock of a node among several: the production's own, on a machine whose clock is wrong.
struct NodeClock(SystemClock);

impl Clock for NodeClock {
    fn now(&self) -> Timestamp {
        self.0.now()
    }

    fn tick(&self) {
        self.0.tick();
    }

    fn follow(&self, at: Timestamp, uncertainty: Duration) {
        self.0.follow(at, uncertainty);
    }
}

/// The machine's clock as the process sees it: usually right, sometimes set while it runs.
struct WallClock {
    started: Instant,
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
