//! What befalls a node on its way to the database that it shares, and back: it is paused or cut off,
//! answers are lost or late, batches arrive when nobody waits for them any more, news are missed.
//!
//! What has been sent does not depend on its sender: the database goes on with it, whether the
//! process is paused, cut off or dead.

use std::sync::Arc;
use std::time::Duration;

use refire_store::model::{Finding, Moment, Verdict};
use refire_store::{Batch, News, NotWritten, Part, ReadError};
use tokio::time::sleep;

use super::{Fault, StoreFaults, is_unstorable};
use crate::life::Life;
use crate::mark::Mark;

/// How long a process tries to find out what became of a commit, in milliseconds.
const FINDS_OUT_MS: u64 = 10_000;
/// What a node asks about leases.
const OF_LEASES: [&str; 4] = ["join", "renew", "reap", "leave"];
/// How long a question waits for a database that cannot be reached.
const READ_WITHIN: Duration = Duration::from_secs(5);
/// So much more often the answer is lost of what a trigger starts: there is less of it.
const OF_TRIGGERS: u32 = 4;
/// And so many times more often they arrive when nobody waits any more.
const LATER_OF_TRIGGERS: u32 = 3;

impl StoreFaults {
    /// A commit on a disk that others use too.
    pub(super) async fn shared_commit(&self, moment: Moment, batch: &Batch) -> Verdict {
        match moment {
            Moment::Arrived => self.sent(batch).await,
            Moment::Applied => self.under_way(batch).await,
            Moment::Durable => self.answered(batch).await,
        }
    }

    async fn sent(&self, batch: &Batch) -> Verdict {
        let life = &self.0;
        life.alive().await;
        self.arrived(batch);
        life.tempt();
        let wait = life.with(|inside| self.takes(inside));
        life.sleep_ms(wait).await;
        if let Some(left) = life.cut_for() {
            let waits = life.with(|inside| *inside.store_dice.pick(&[0, 5_000]));
            life.say("a commit finds nobody");
            life.reach(Mark::CommitWhileCutOff);
            sleep(left.min(Duration::from_millis(waits))).await;
            life.alive().await;
            return Verdict::Refuse(NotWritten::Unavailable);
        }
        if is_unstorable(batch) {
            if batch.parts.len() > 1 {
                life.reach(Mark::BatchSplit);
            }
            life.say("the store chokes on it");
            return Verdict::Refuse(NotWritten::Statement);
        }
        if let Some(verdict) = self.loses(batch, false) {
            return verdict;
        }
        self.strikes(Moment::Arrived, batch).await
    }

    /// The database is at it.
    async fn under_way(&self, batch: &Batch) -> Verdict {
        let life = &self.0;
        let wait = life.with(|inside| self.takes(inside));
        sleep(Duration::from_millis(wait)).await;
        if life.is_dead() {
            return Verdict::Go;
        }
        match life.with(|inside| self.fault(inside, Moment::Applied, batch)) {
            Fault::Crash(mark) => {
                // With its connection the database drops what was not finished.
                life.fall("of a commit: Applied", Some(mark));
                Verdict::Refuse(NotWritten::Unavailable)
            }
            Fault::Verdict(verdict) => verdict,
            Fault::None | Fault::Panic => Verdict::Go,
        }
    }

    async fn answered(&self, batch: &Batch) -> Verdict {
        let life = &self.0;
        let from = life.lived_ms();
        self.look(batch);
        let wait = life.with(|inside| self.takes(inside));
        sleep(Duration::from_millis(wait)).await;
        life.alive().await;
        if life.cut_for().is_some() {
            life.say("an answer does not come through");
            life.reach(Mark::AnswerLostButWritten);
            return Verdict::Unknown { durable: true };
        }
        if let Some(verdict) = self.loses(batch, true) {
            return verdict;
        }
        let verdict = self.strikes(Moment::Durable, batch).await;
        life.was_deaf(from);
        verdict
    }

    /// The process dies or panics here, or the database refuses.
    async fn strikes(&self, moment: Moment, batch: &Batch) -> Verdict {
        let life = &self.0;
        match life.with(|inside| self.fault(inside, moment, batch)) {
            Fault::None => Verdict::Go,
            Fault::Verdict(verdict) => {
                life.say(&format!("{moment:?}: {verdict:?}"));
                verdict
            }
            Fault::Panic => self.panic(),
            Fault::Crash(mark) => {
                let why = format!("of a commit: {moment:?}");
                life.crash(&why, Some(mark)).await;
                Verdict::Go
            }
        }
    }

    /// Rolls whether the answer of a commit is lost.
    fn loses(&self, batch: &Batch, is_written: bool) -> Option<Verdict> {
        let life = &self.0;
        let nodes = &life.world.plan.nodes;
        let (rate, late) = match batch.parts.iter().any(is_of_trigger) {
            true => (nodes.lost * OF_TRIGGERS, nodes.late * LATER_OF_TRIGGERS),
            false => (nodes.lost, nodes.late),
        };
        let is_late = life.with(|inside| {
            if inside.healed || !inside.store_dice.chance(rate) {
                return None;
            }
            Some(!is_written && inside.store_dice.chance(late))
        })?;
        let line = match (is_written, is_late) {
            (true, _) => "its answer is lost",
            (false, true) => "it is lost for a while",
            (false, false) => "it is lost",
        };
        life.say(line);
        if is_written {
            life.reach(Mark::AnswerLostButWritten);
        }
        if is_late {
            tokio::spawn(arrive(Arc::clone(life)));
        }
        let durable = is_written || is_late;
        Some(Verdict::Unknown { durable })
    }

    /// Finding out what became of a commit takes its time.
    pub(super) async fn find_out(&self) -> Finding {
        let life = &self.0;
        let from = life.lived_ms();
        let nodes = &life.world.plan.nodes;
        let wait = life.with(|inside| {
            let dice = &mut inside.store_dice;
            match !inside.healed && dice.chance(nodes.never_known) {
                true => FINDS_OUT_MS,
                false => *dice.pick(&[5, 50, 1_000, 4_000, 9_000]),
            }
        });
        let cut_ms = life.cut_for().map_or(0, |left| left.as_millis());
        let wait = wait.max(u64::try_from(cut_ms).unwrap_or(u64::MAX));
        sleep(Duration::from_millis(wait.min(FINDS_OUT_MS))).await;
        life.alive().await;
        life.was_deaf(from);
        if wait >= FINDS_OUT_MS {
            life.say("nothing can be found out");
            life.reach(Mark::UnknownAndGoesOn);
            return Finding::Nothing;
        }
        life.say("it is found out");
        life.reach(Mark::AnswerFoundOut);
        Finding::Known
    }

    /// The judge looks who is among the nodes, whenever that may have changed.
    pub(super) fn roll_call(&self) {
        let life = &self.0;
        if life.world.is_shared() {
            life.check(|inside| {
                let (judge, marks) = (&mut inside.judge, &mut inside.marks);
                let by = (life.number, life.world.now());
                life.world
                    .disk
                    .look(|image| judge.roll_call(image, by, marks))
            });
        }
    }

    /// A question to a database that cannot be reached.
    pub(super) async fn unreachable(&self, what: &'static str) -> Result<(), ReadError> {
        let life = &self.0;
        let is_of_lease = OF_LEASES.contains(&what);
        let cut_for = || {
            let of_lease = || life.lease_cut_for().filter(|_| is_of_lease);
            life.cut_for().or_else(of_lease)
        };
        let Some(left) = cut_for() else {
            return Ok(());
        };
        sleep(left.min(READ_WITHIN)).await;
        life.alive().await;
        if cut_for().is_none() {
            return Ok(());
        }
        life.say(&format!("{what} finds nobody"));
        Err(ReadError::Unavailable("it cannot be reached".into()))
    }

    /// The answer to a question may be lost.
    pub(super) fn heard_nothing(&self, what: &'static str) -> Result<(), ReadError> {
        let life = &self.0;
        let rate = life.world.plan.nodes.unheard;
        let is_cut = life.cut_for().is_some();
        let is_lost = life.with(|inside| !inside.healed && inside.store_dice.chance(rate));
        if !is_cut && !is_lost {
            return Ok(());
        }
        life.say(&format!("the answer to {what} is lost"));
        if what == "reap" {
            life.reach(Mark::ReapUnheard);
        }
        Err(ReadError::Unavailable("the answer is lost".into()))
    }

    /// News take their time, and some never come.
    pub(super) async fn hear(&self, news: News) -> Option<News> {
        let life = &self.0;
        let nodes = &life.world.plan.nodes;
        let (is_lost, wait) = life.with(|inside| {
            let (healed, dice) = (inside.healed, &mut inside.store_dice);
            let is_lost = !healed && dice.chance(nodes.news_lost);
            let is_slow = !healed && dice.chance(nodes.news_slow);
            let wait = if is_slow {
                *dice.pick(&[50, 500, 5_000])
            } else {
                1
            };
            (is_lost, wait)
        });
        sleep(Duration::from_millis(wait)).await;
        life.alive().await;
        if let Some(left) = life.cut_for() {
            sleep(left).await;
            life.alive().await;
            return Some(News::Missed);
        }
        if is_lost {
            life.reach(Mark::NewsLost);
            return None;
        }
        Some(news)
    }
}

/// Whether a trigger starts something by it.
fn is_of_trigger(part: &Part) -> bool {
    match part {
        Part::Fire(fire) => fire.admission.is_some(),
        Part::Admit(admit) => admit.request.is_some(),
        _ => false,
    }
}

/// What was lost for a while arrives after all.
async fn arrive(life: Arc<Life>) {
    let wait = life.with(|inside| *inside.store_dice.pick(&[500, 6_000, 12_000, 25_000]));
    sleep(Duration::from_millis(wait)).await;
    while let Some(batch) = life.world.disk.arrive_next() {
        life.say("what was lost arrives");
        life.reach(Mark::ArrivedLate);
        if batch.parts.iter().any(is_of_trigger) {
            life.reach(Mark::TriggeredLate);
        }
        StoreFaults(Arc::clone(&life)).look(&batch);
    }
}
