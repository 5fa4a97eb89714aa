//! Circuit breakers of targets: what nodes see of calls is written, what others wrote is heard, and people are
//! shown and obeyed.
//!
//! Each change is decided by core on the row as it is known, and written only if the row is still that one. So
//! it does not matter who sees a thing first, or how many do. One change at a time on this node; a look each
//! second, as long as anything is not simply closed, is the net below the news.

mod parked;
mod target;

use std::error::Error;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use refire_core::breaker::{Breaker, Move, Phase};
use refire_core::id::NoticeId;
use refire_core::notify::{FactName, Facts, NoticeKind};
#[cfg(feature = "planted")]
use refire_core::planted::{self, Defect};
use refire_core::time::Timestamp;
use refire_store::{ChangeBreaker, NewNotice, News, Part, PartOutcome, ReadError, Store};

use crate::commit::CommitFailure;
use crate::context::Context;
use crate::entropy::fresh;
use crate::limit::{Slots, Told};

pub use parked::Parked;
pub use target::{ActError, Counted, Target, TargetAct, TargetFilter, Targets};

/// How often what others wrote is looked at, while a breaker is not simply closed.
const LOOK_EVERY: Duration = Duration::from_secs(1);
/// How often a change is decided again because somebody else was faster.
const TRIES_MAX: u32 = 5;

/// What the changes of this node share.
#[derive(Default)]
pub(crate) struct Desk {
    /// One change at a time.
    turn: tokio::sync::Mutex<()>,
    /// Others have changed something.
    heard: AtomicBool,
}

impl Desk {
    fn hear(&self, slots: &Slots) {
        self.heard.store(true, Ordering::Release);
        slots.ring_told();
    }
}

/// Who asks whether it may try a target; whoever gives up asking may ask again.
struct Asking<'a> {
    slots: &'a Slots,
    host: &'a str,
    now: Timestamp,
}

impl Drop for Asking<'_> {
    fn drop(&mut self) {
        self.slots.probe_asked(self.host, None, self.now);
    }
}

impl Context {
    /// Whether an attempt of this node may try a target, with a call that takes so long at most. The next
    /// permit for it is that one's.
    pub(crate) async fn claim_probe(&self, host: &str, timeout: Duration) -> bool {
        let slots = self.slots.as_ref();
        if !slots.ask_probe(host) {
            return false;
        }
        let now = self.now();
        let asking = Asking { slots, host, now };
        let node = self.membership.id();
        let claimed = self
            .move_breaker(host, &Move::Claim { node, timeout })
            .await;
        let may = matches!(claimed, Ok(Some(_)));
        #[cfg(feature = "planted")]
        let may = may || planted::is(Defect::ProbeTwice);
        slots.probe_asked(host, may.then_some(timeout), now);
        drop(asking);
        may
    }

    /// Moves a breaker; none if that changes nothing.
    pub(crate) async fn move_breaker(
        &self,
        host: &str,
        step: &Move,
    ) -> Result<Option<Breaker>, CommitFailure> {
        let _turn = self.breakers.turn.lock().await;
        let mut known = self.slots.breaker(host);
        for _ in 0..TRIES_MAX {
            let breaker = match known.take() {
                Some(known) => known,
                None => (self.read_breaker(host).await).map_err(|e| CommitFailure::read(&e))?,
            };
            let Some(next) = breaker.after(step, self.now()) else {
                return Ok(None);
            };
            let notices: Vec<NewNotice> = self
                .breaker_notice(breaker.phase, &next)
                .into_iter()
                .collect();
            let is_told = !notices.is_empty();
            let change = Box::new(ChangeBreaker {
                breaker: next.clone(),
                notices,
            });
            match self.queue.part(Part::ChangeBreaker(change)).await? {
                PartOutcome::Touched(true) => {
                    self.slots.apply(&next);
                    log(breaker.phase, &next);
                    self.announce(News::Breaker(host.to_owned()));
                    if is_told {
                        self.notice_raised();
                    }
                    return Ok(Some(next));
                }
                // Somebody else was faster.
                PartOutcome::Touched(false) => {}
                other => return Err(CommitFailure::unexpected("outcome", &other)),
            }
        }
        Err(CommitFailure::Contended)
    }

    /// The breaker as the store has it, which this node knows then.
    async fn read_breaker(&self, host: &str) -> Result<Breaker, ReadError> {
        let row = self.store.breaker(host).await?;
        let breaker = row.unwrap_or_else(|| Breaker::closed(host));
        self.slots.apply(&breaker);
        Ok(breaker)
    }

    /// Reads where breakers stand.
    pub(crate) async fn look_at_breakers(&self) -> Result<(), ReadError> {
        if !self.slots.has_breakers() {
            return Ok(());
        }
        let turn = self.breakers.turn.lock().await;
        let before = self.slots.standing();
        let rows = self.store.standing_breakers().await?;
        for host in before {
            if !rows.iter().any(|row| row.host == host) {
                self.read_breaker(&host).await?;
            }
        }
        if rows.is_empty() {
            return Ok(());
        }
        self.slots.share_targets(self.store.nodes().await?.len());
        rows.iter().for_each(|row| self.slots.apply(row));
        drop(turn);
        for row in &rows {
            self.take_back(row).await;
        }
        Ok(())
    }

    /// A try that nobody makes goes back: this node forgot that it has it, or the process that had it is gone.
    async fn take_back(&self, row: &Breaker) {
        let Some(probe) = row.probe.filter(|_| row.phase == Phase::Probing) else {
            return;
        };
        let me = self.membership.id();
        let is_gone = !self.store.is_shared() && probe.owner != me;
        let is_forgotten = probe.owner == me && !self.slots.tries(&row.host);
        #[cfg(feature = "planted")]
        let is_forgotten = is_forgotten && !planted::is(Defect::ProbeNeverReported);
        if is_gone || is_forgotten {
            let back = Move::GivenBack { node: probe.owner };
            if let Err(failure) = self.move_breaker(&row.host, &back).await {
                tracing::debug!(%failure, host = row.host, "a try was not given back");
            }
        }
    }

    /// Writes what was seen of a target; false if that could not be done now.
    async fn settle(&self, host: &str, told: &Told) -> bool {
        let node = self.membership.id();
        let step = match told {
            Told::Tripped(cause) => Move::Trip {
                cause: cause.clone(),
            },
            Told::Probed(failed) => Move::Probed {
                node,
                failed: failed.clone(),
            },
            Told::GivenBack => Move::GivenBack { node },
        };
        let moved = match self.move_breaker(host, &step).await {
            Ok(moved) => moved,
            Err(failure) => {
                tracing::warn!(host, %failure, "a circuit breaker was not changed");
                return false;
            }
        };
        match told {
            Told::Tripped(_) if moved.is_none() => self.slots.untrip(host),
            Told::Tripped(_) => {}
            Told::Probed(_) | Told::GivenBack => self.slots.probe_over(host),
        }
        true
    }
}

impl Context {
    /// What people are told of a change, if a channel wants it: that calls stopped, and that all are made again.
    fn breaker_notice(&self, before: Phase, next: &Breaker) -> Option<NewNotice> {
        let kind = if next.opened_from(before) {
            NoticeKind::BreakerOpened
        } else if next.closed_from(before) {
            NoticeKind::BreakerClosed
        } else {
            return None;
        };
        if !self.notices.wants(kind, None) {
            return None;
        }
        let host = next.host.as_str();
        let mut facts =
            Facts::new(host, next.changed_at).page(format!("/targets/{}", escaped(host)));
        facts = facts.fact(FactName::Host, host);
        if kind == NoticeKind::BreakerOpened {
            let cause = next.cause.clone().filter(|_| next.forced.is_none());
            facts = facts.text(cause.unwrap_or_default());
            facts = facts.fact(
                FactName::Until,
                next.until.map(|at| at.to_string()).unwrap_or_default(),
            );
        } else {
            facts = facts.fact(
                FactName::Since,
                next.opened_at.map(|at| at.to_string()).unwrap_or_default(),
            );
        }
        Some(NewNotice {
            id: NoticeId::from_bytes(fresh(self.entropy.as_ref(), next.changed_at)),
            kind,
            workflow: None,
            subject: host.to_owned(),
            facts,
        })
    }
}

/// A host in a path of the console.
fn escaped(host: &str) -> String {
    url::form_urlencoded::byte_serialize(host.as_bytes()).collect()
}

/// What the server's log says of a change.
fn log(before: Phase, next: &Breaker) {
    let (host, by) = (next.host.as_str(), next.changed_by.as_deref());
    match next.phase {
        Phase::Open if before != Phase::Open => {
            let cause = next.cause.as_deref().filter(|_| next.forced.is_none());
            let until = next.until.map(|until| until.to_string());
            tracing::warn!(host, by, cause, until, "a target is left alone");
        }
        Phase::Closing => tracing::info!(host, "a target is back; calls return by and by"),
        Phase::Closed if before != Phase::Closed => {
            tracing::info!(host, by, "a target is called again");
        }
        _ => {}
    }
}

/// Where breakers stood when the last process ended.
pub(crate) async fn load(store: &dyn Store, slots: &Slots) -> Result<(), ReadError> {
    if slots.has_breakers() {
        let rows = store.standing_breakers().await?;
        rows.iter().for_each(|row| slots.apply(row));
    }
    Ok(())
}

/// Writes what is to be written, hears what others wrote, and lets calls return.
pub(crate) async fn breaker_loop(context: Arc<Context>) {
    let mut look = !context.slots.standing().is_empty();
    loop {
        let mut is_troubled = false;
        for (host, told) in context.slots.take_told() {
            if !context.settle(&host, &told).await {
                context.slots.tell_again(host, told);
                is_troubled = true;
            }
        }
        if context.breakers.heard.swap(false, Ordering::AcqRel) || look {
            let looked = context.look_at_breakers().await;
            if let Err(error) = looked {
                tracing::warn!(error = &error as &dyn Error, "reading circuit breakers");
                context.breakers.heard.store(true, Ordering::Release);
                is_troubled = true;
            }
        }
        for host in context.slots.rise(context.now()) {
            is_troubled |= context.move_breaker(&host, &Move::Risen).await.is_err();
        }
        let wait = match is_troubled || !context.slots.standing().is_empty() {
            true => LOOK_EVERY,
            false => Duration::MAX,
        };
        look = tokio::select! {
            biased;
            () = rung(&context, is_troubled) => false,
            () = tokio::time::sleep(wait) => true,
        };
    }
}

/// Something is to be written or looked at. After trouble the next try waits for its time.
async fn rung(context: &Context, is_troubled: bool) {
    if is_troubled {
        std::future::pending::<()>().await;
    }
    context.slots.told().await;
}
