//! Looks now and then at tasks and at windows of callbacks: whether what should have happened by now has. What a promise says is
//! the judge's; here is when it may be asked for.

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use tokio::time::sleep;

use crate::judge::{LOOKS_EVERY, Patience, Sights};
use crate::life::Life;
use crate::plan::Plan;
use crate::worker::Hall;
use crate::world::World;

/// So long after everything has healed nothing is left of what went wrong, in milliseconds.
const SETTLED_MS: u64 = 25_000;
/// What a node that went had to tell is found by the others within this, in milliseconds.
const NEWS_MISSING_MS: u64 = 2_500;
/// A node that could not reach the database has found it again after this, in milliseconds.
const HANGS_MS: u64 = 7_000;
/// Looks after the healing, and where nobody waits for tasks.
const LATER_LOOKS_EVERY: Duration = Duration::from_secs(1);

/// Until the world ends, if it has tasks or callbacks.
pub(crate) async fn watch(world: Arc<World>, hall: Hall) {
    let plan = &world.plan;
    if plan.workers.is_empty() && !plan.has_callbacks() {
        return;
    }
    let is_calm = plan.rates.is_calm() && plan.nodes.is_calm();
    let (mut healed_ms, mut somebody_ms) = (None, None);
    // Who was up at the look before, and until when news of those who went may be missing.
    let (mut before, mut lossy_until_ms): (Vec<u32>, u64) = (Vec::new(), 0);
    let mut sights = Sights::default();
    loop {
        sleep(match healed_ms {
            None if !plan.workers.is_empty() => LOOKS_EVERY,
            _ => LATER_LOOKS_EVERY,
        })
        .await;
        let lives: Vec<Arc<Life>> = hall.lives().into_iter().filter(|it| is_well(it)).collect();
        let Some(life) = lives.first() else {
            (sights, somebody_ms) = (Sights::default(), None);
            continue;
        };
        let now_ms = life.lived_ms();
        let since_ms = *somebody_ms.get_or_insert(now_ms);
        let numbers: Vec<u32> = lives.iter().map(|life| life.number).collect();
        if before.iter().any(|number| !numbers.contains(number)) {
            lossy_until_ms = now_ms + NEWS_MISSING_MS;
        }
        before = numbers;
        if life.with(|inside| inside.healed) {
            healed_ms.get_or_insert(now_ms);
        }
        let is_settled = healed_ms.is_some_and(|healed| now_ms > healed + SETTLED_MS);
        if !is_calm && !is_settled {
            sights = Sights::default();
            continue;
        }
        let nodes = world.disk.look(|image| image.nodes.len() as u64);
        let mut patience = patience(plan, is_calm, nodes);
        if world.is_shared() && now_ms < lossy_until_ms {
            patience.ready_ms = NEWS_MISSING_MS;
        }
        let is_well = |number: u32, since_ms: u64| {
            let mut lives = lives.iter().filter(|life| life.number == number);
            lives.any(|life| !life.was_held_up_since(since_ms))
        };
        let now = life.now();
        life.check(|inside| {
            let looked = (now, now_ms, since_ms);
            world.disk.look(|image| {
                (inside.judge).is_in_time(image, looked, patience, &mut sights, &is_well)
            })
        });
    }
}

/// How long things may take.
fn patience(plan: &Plan, is_calm: bool, nodes: u64) -> Patience {
    let is_shared = plan.nodes.count > 1;
    let hears_all = plan.nodes.news_lost + plan.nodes.news_slow == 0;
    // The net below wake-ups and news is a look each second where others make tasks too, and each ten
    // seconds elsewhere.
    let ready_ms = match (is_calm, is_shared) {
        (true, false) => 60,
        (true, true) if hears_all => 200,
        (_, true) => NEWS_MISSING_MS,
        (false, false) => 12_000,
    };
    let slack_ms = if is_calm { 200 } else { 3_000 };
    Patience {
        ready_ms,
        gone_ms: if is_calm { 1_000 } else { 15_000 },
        // The oldest node looks first, each younger one a second later.
        clock_ms: 1_000 * (1 + if is_shared { nodes } else { 0 }) + slack_ms,
    }
}

fn is_well(life: &Life) -> bool {
    let engine = life.engine.get().and_then(std::sync::Weak::upgrade);
    let is_cut = life.cut_for().is_some() || life.lease_cut_for().is_some();
    // Questions to a database that could not be reached hang for a while.
    let since_ms = life.lived_ms().saturating_sub(HANGS_MS);
    let is_cut = is_cut || life.world.is_shared() && life.was_held_up_since(since_ms);
    let is_up = !life.is_dead() && !life.is_paused() && !life.stopping.load(Ordering::Relaxed);
    is_up && !is_cut && engine.is_some_and(|engine| engine.is_ready())
}
