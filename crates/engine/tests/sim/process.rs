//! A process: how it starts, and the ways in which it ends.

use std::sync::Arc;
use std::time::Duration;

use refire_core::planted::{self, Defect};
use refire_engine::vault::{MasterKey, Vault};
use refire_engine::{Engine, NodeSettings, Retention, StartError};
use refire_store::Store;
use refire_store::model::Image;

use crate::clients::Clients;
use crate::life::{Life, WorldEntropy};
use crate::mark::Mark;
use crate::store_faults::StoreFaults;
use crate::target::Targets;
use crate::world::Violation;

/// How long requests may take to be answered once the store is not to be trusted: what the server
/// gives them before it exits.
const ANSWERS_WITHIN: Duration = Duration::from_secs(2);
/// Lives of one run; more would be a process that cannot stay alive.
pub(crate) const LIVES_MAX: u32 = 60;

/// How a life ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum End {
    /// By a crash: what was not durable is gone.
    Crashed,
    /// By itself, because the store was not to be trusted.
    Broken,
    /// In order.
    Stopped,
    /// Everything has come to its end.
    Done,
}

/// Starts one. It may find that it cannot join.
pub(crate) async fn start(life: &Arc<Life>) -> Result<Arc<Engine>, StartError> {
    let world = &life.world;
    let store: Arc<dyn Store> = Arc::new(world.disk.open(Arc::new(StoreFaults(Arc::clone(life)))));
    let targets = Targets(Arc::clone(life));
    let mut builder = Engine::builder(store)
        .clock(life.clock.clone())
        .entropy(Arc::new(WorldEntropy(Arc::clone(world))))
        .caller(Arc::new(targets.clone()))
        .limits(world.plan.limits.clone())
        .retention(Retention::default())
        .vault(Vault::new(MasterKey::new([7; 32]), None))
        .address("https://refire.example".to_owned())
        .node(NodeSettings {
            name: format!("life {}", life.number),
            lease: world.plan.nodes.lease,
            ..NodeSettings::default()
        })
        // Some lives have the next batch on its way at once, some hardly ever.
        .overlap_from(if life.number.is_multiple_of(2) { 1 } else { 24 })
        // Some decide whatever reads a value beside the committer, some what reads much, some nothing.
        .search_bytes_max([0, 16, 64 * 1024][life.number as usize % 3])
        .commit_on_runtime();
    for flow in &world.plan.flows {
        let (targets, id) = (targets.clone(), flow.id.clone());
        builder = builder.task(flow.id.clone(), move |context, _input| {
            let (targets, id) = (targets.clone(), id.clone());
            targets.task(id, context, Duration::from_secs(5))
        });
    }
    let engine = builder.start().await?;
    life.alive().await;
    let _ = life.engine.set(Arc::downgrade(&engine));
    Ok(engine)
}

/// Whether it knew of all that it owned. The net below its memory would hide that it did not.
pub(crate) fn remembered(life: &Life, engine: &Engine) {
    let found = engine.found_again();
    let is_planted = [Defect::ClaimForgotten, Defect::AttemptForgotten]
        .into_iter()
        .any(planted::is);
    life.check(|inside| {
        inside.found_again.insert(life.number, found);
        match found > 0 && !is_planted {
            true => Err(Violation::new(
                "nothing is forgotten",
                format!("{found} rows in life {}", life.number),
            )),
            false => Ok(()),
        }
    });
}

/// The store is not to be trusted: whoever waits is answered, then the process is gone.
pub(crate) async fn leave(life: &Life, people: &Clients) -> End {
    let began_ms = life.lived_ms();
    people.doing.close();
    tokio::select! {
        biased;
        () = life.died() => return End::Crashed,
        _ = tokio::time::timeout(ANSWERS_WITHIN, people.doing.wait()) => {}
    }
    life.check(|inside| match inside.ledger.unanswered(life.number, true) {
        Some(who) if !life.was_held_up_since(began_ms) => {
            Err(Violation::new("trouble answers everybody", who))
        }
        _ => Ok(()),
    });
    life.say("the store is not to be trusted");
    End::Broken
}

/// It is told to stop.
pub(crate) async fn stop(life: &Life, people: &Clients, patience_ms: u64) -> End {
    life.say(&format!("it is told to stop within {patience_ms} ms"));
    let patience = Duration::from_millis(patience_ms);
    let began_ms = life.lived_ms();
    let stopped =
        tokio::time::timeout(Duration::from_secs(25), people.engine.stop_within(patience));
    tokio::select! {
        biased;
        () = life.died() => return End::Crashed,
        () = people.engine.broken() => return leave(life, people).await,
        stopped = stopped => life.check(|_| match stopped {
            Err(_) if !life.was_held_up_since(began_ms) => {
                Err(Violation::new("a stop takes 25 seconds at most", ""))
            }
            _ => Ok(()),
        }),
    }
    if life.world.is_shared() {
        life.reach(Mark::StoppedAmongOthers);
    }
    // Whoever was at the door hears that it is closed.
    people.doing.close();
    let heard = tokio::select! {
        biased;
        () = life.died() => return End::Crashed,
        heard = tokio::time::timeout(ANSWERS_WITHIN, people.doing.wait()) => heard,
    };
    life.check(|inside| {
        let plan = &life.world.plan;
        let held_up = life.was_held_up_since(began_ms);
        let calm = plan.rates.is_calm() && plan.nodes.is_calm() && !held_up;
        if heard.is_err() && calm {
            // Somebody may be asleep between two tries; nobody may be left without an answer.
            if let Some(who) = inside.ledger.unanswered(life.number, false) {
                return Err(Violation::new("a stop answers everybody", who));
            }
        }
        let node = people.engine.node();
        let kept = life.world.disk.look(|image| {
            let mut rows = image.work.values();
            rows.find(|row| row.owner == Some(node) && row.begun)
                .cloned()
        });
        if let Some(row) = kept.filter(|_| calm) {
            let what = format!("{row:?}");
            return Err(Violation::new("a stop gives everything back", what));
        }
        if let Some(who) = inside.judge.unanswered_poll(life.number).filter(|_| calm) {
            return Err(Violation::new("a stop answers everybody", who));
        }
        let kept = life
            .world
            .disk
            .look(|image| inside.judge.kept_from(image, life.number));
        if let Some(row) = kept.filter(|_| calm) {
            let what = format!("{row:#?}");
            return Err(Violation::new("what reaches nobody goes back", what));
        }
        let is_there = |image: &Image| image.nodes.contains_key(&node);
        match calm && life.world.is_shared() && life.world.disk.look(is_there) {
            true => Err(Violation::new(
                "a node that stops signs off",
                node.to_string(),
            )),
            false => Ok(()),
        }
    });
    End::Stopped
}

/// Some processes die out of the blue.
pub(crate) async fn die_some_time(life: Arc<Life>) {
    let after = life.with(|inside| {
        let plan = &life.world.plan;
        let mean = plan
            .rates
            .crash_every_ms
            .filter(|_| inside.may_crash(plan))?;
        Some(inside.process_dice.below(2 * mean))
    });
    if let Some(after) = after {
        life.sleep_ms(after).await;
        if !life.with(|inside| inside.healed) {
            life.crash("out of the blue", None).await;
        }
    }
}
