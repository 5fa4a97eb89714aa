//! Targets as people see them: who is called by whom, how that goes, what waits for it, and their word on it.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::Arc;
use std::time::Duration;

use refire_core::breaker::{self, Breaker, Figures, Forced, Move, Phase, TROUBLE_BEFORE};
use refire_core::definition::WorkflowId;
use refire_core::time::Timestamp;
use refire_store::{COUNTED_MAX, LIMIT_MAX, News, ReadError};

use super::breaker_loop;
use crate::commit::CommitFailure;
use crate::context::{Context, Listener};
use crate::lock::Mutex;
use crate::step;
use crate::vital::Vital;

/// How old what is known of definitions may be.
const CALLERS_KNOWN_FOR: Duration = Duration::from_secs(5);

/// Targets, and the breakers before them.
pub struct Targets {
    context: Arc<Context>,
    /// Who calls whom by the newest definitions, until one changes.
    callers: Mutex<Option<(Timestamp, Arc<Callers>)>>,
}

/// Who calls whom.
#[derive(Debug, Default)]
struct Callers {
    /// The steps of each workflow that call a host.
    by_host: BTreeMap<String, BTreeMap<WorkflowId, Vec<String>>>,
    /// Whether some host comes from a template, so that any may be called.
    any_host: bool,
}

/// A target.
#[derive(Debug, Clone)]
pub struct Target {
    /// Its breaker.
    pub breaker: Breaker,
    /// Calls of the last half minute, by this node.
    pub figures: Figures,
    /// Calls in flight on this node.
    pub in_flight: u32,
    /// How many calls this node may make at once while they come back.
    pub ramp: Option<u32>,
    /// Work that waits until the target is called again.
    pub parked: Counted,
    /// Dead letters that wait for a person, whose last call was to it.
    pub letters: Counted,
    /// Those of them since shortly before it was left alone; none if it never was.
    pub letters_since_opening: Option<Counted>,
    /// Workflows that call it, unless its name comes from a template.
    pub workflows: Vec<WorkflowId>,
}

/// A count that ends somewhere.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Counted {
    /// So many, at least.
    pub count: u64,
    /// Whether there are more.
    pub is_more: bool,
}

impl Counted {
    fn up_to_max(count: u64) -> Self {
        let most = u64::from(COUNTED_MAX);
        Self {
            count: count.min(most),
            is_more: count >= most,
        }
    }
}

/// Which targets are listed.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct TargetFilter {
    /// Where their breakers stand; empty = anywhere.
    pub phases: Vec<Phase>,
    /// Whose host contains this text.
    pub text: Option<String>,
}

/// What a person may do with a breaker.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TargetAct {
    /// No calls from now on.
    Open,
    /// Calls from now on, whatever fails.
    Close,
    /// As the calls go, and as if nothing had been.
    Reset,
    /// The next call tries whether the target is back.
    Probe,
}

/// Why a person's word was not heeded.
#[derive(Debug, thiserror::Error)]
pub enum ActError {
    /// Breakers are turned off.
    #[error("circuit breakers are turned off on this server")]
    Off,
    /// There is nothing to try.
    #[error("the breaker is {0}, so that there is nothing to try")]
    NotOpen(&'static str),
    /// A person has opened it.
    #[error("a person has opened the breaker: close or reset it first")]
    KeptOpen,
    /// It could not be read.
    #[error(transparent)]
    Read(#[from] ReadError),
    /// It could not be written.
    #[error(transparent)]
    Failed(#[from] CommitFailure),
}

impl Listener for Targets {
    fn hear(&self, news: &News) {
        match news {
            News::Breaker(_) => self.context.breakers.hear(&self.context.slots),
            News::Definition(_) => *self.callers.lock() = None,
            News::Missed => {
                *self.callers.lock() = None;
                self.context.breakers.hear(&self.context.slots);
            }
            News::Work
            | News::Withdrawn(_)
            | News::Trigger(_)
            | News::Task(_)
            | News::Due
            | News::Channel
            | News::Notice => {}
        }
    }
}

impl Targets {
    pub(crate) fn open(context: &Arc<Context>, vital: &Vital) -> Arc<Self> {
        let targets = Arc::new(Self {
            context: Arc::clone(context),
            callers: Mutex::default(),
        });
        context.listen(&targets);
        if context.slots.has_breakers() {
            vital.spawn_until(&context.stopping, breaker_loop(Arc::clone(context)));
        }
        targets
    }

    pub(super) fn context(&self) -> &Context {
        &self.context
    }

    /// Whether breakers are used.
    #[must_use]
    pub fn are_breakers_on(&self) -> bool {
        self.context.slots.has_breakers()
    }

    /// The target that a person means, if there is one; what is wrong with its name, if it can be none.
    pub async fn find(&self, text: &str) -> Result<Result<Option<String>, String>, ReadError> {
        let names = match breaker::names(text) {
            Ok(names) => names,
            Err(wrong) => return Ok(Err(wrong)),
        };
        let callers = self.callers().await?;
        let figures = self.context.slots.figures(self.context.now());
        for name in &names {
            let is_known = callers.by_host.contains_key(name) || figures.contains_key(name);
            if is_known || self.context.store.breaker(name).await?.is_some() {
                return Ok(Ok(Some(name.clone())));
            }
        }
        let any = names.into_iter().next().filter(|_| callers.any_host);
        Ok(Ok(any))
    }

    /// One target.
    pub async fn target(&self, host: &str) -> Result<Target, ReadError> {
        let row = self.context.store.breaker(host).await?;
        let breaker = row.unwrap_or_else(|| Breaker::closed(host));
        let figures = self.context.slots.figures(self.context.now());
        self.shown(breaker, &*self.callers().await?, &figures).await
    }

    /// Targets after this host, in the order of their names.
    pub async fn list(
        &self,
        filter: &TargetFilter,
        after: Option<&str>,
        limit: u32,
    ) -> Result<Vec<Target>, ReadError> {
        let callers = self.callers().await?;
        let figures = self.context.slots.figures(self.context.now());
        let mut known: BTreeMap<String, Breaker> = BTreeMap::new();
        let mut last: Option<String> = None;
        loop {
            let page = (self.context.store.breakers(last.as_deref(), LIMIT_MAX)).await?;
            let is_last = page.len() < LIMIT_MAX as usize;
            last = page.last().map(|row| row.host.clone());
            known.extend(page.into_iter().map(|row| (row.host.clone(), row)));
            if is_last {
                break;
            }
        }
        let hosts: BTreeSet<&String> = (callers.by_host.keys())
            .chain(figures.keys())
            .chain(known.keys())
            .collect();
        let text = filter.text.as_ref().map(|text| text.to_lowercase());
        let mut found = Vec::new();
        for host in hosts {
            if found.len() >= limit as usize {
                break;
            }
            let row = known.get(host).cloned();
            let breaker = row.unwrap_or_else(|| Breaker::closed(host));
            let is_asked = after.is_none_or(|after| host.as_str() > after)
                && (filter.phases.is_empty() || filter.phases.contains(&breaker.phase))
                && text.as_ref().is_none_or(|text| host.contains(text));
            if is_asked {
                found.push(self.shown(breaker, &callers, &figures).await?);
            }
        }
        Ok(found)
    }

    /// Does what a person wants of a breaker. Where it is so already, nothing happens.
    pub async fn act(&self, host: &str, act: TargetAct, by: &str) -> Result<Target, ActError> {
        self.context.is_open()?;
        if !self.are_breakers_on() {
            return Err(ActError::Off);
        }
        let by = by.to_owned();
        let step = match act {
            TargetAct::Open => Move::Force {
                to: Forced::Open,
                by,
            },
            TargetAct::Close => Move::Force {
                to: Forced::Closed,
                by,
            },
            TargetAct::Reset => Move::Reset { by },
            TargetAct::Probe => {
                let row = self.context.store.breaker(host).await?;
                let breaker = row.unwrap_or_else(|| Breaker::closed(host));
                match (breaker.forced, breaker.phase) {
                    (Some(Forced::Open), _) => return Err(ActError::KeptOpen),
                    (_, phase @ (Phase::Closed | Phase::Closing)) => {
                        return Err(ActError::NotOpen(phase.name()));
                    }
                    (_, Phase::Open | Phase::Probing) => Move::ProbeNow { by },
                }
            }
        };
        self.context.move_breaker(host, &step).await?;
        Ok(self.target(host).await?)
    }

    async fn shown(
        &self,
        breaker: Breaker,
        callers: &Callers,
        figures: &HashMap<String, Figures>,
    ) -> Result<Target, ReadError> {
        let host = breaker.host.as_str();
        let (in_flight, ramp) = self.context.slots.calls_of(host);
        let of = callers.by_host.get(host);
        let mut parked = 0;
        if !breaker.is_plain() {
            for (workflow, steps) in of.into_iter().flatten() {
                parked += self.waiting(workflow, steps).await?;
            }
        }
        let since = |at: Timestamp| at.minus(TROUBLE_BEFORE);
        let letters_since_opening = match breaker.opened_at.map(since) {
            Some(from) => Some(self.letters(host, Some(from)).await?),
            None => None,
        };
        Ok(Target {
            figures: figures.get(host).copied().unwrap_or_default(),
            in_flight,
            ramp,
            parked: Counted::up_to_max(parked),
            letters: self.letters(host, None).await?,
            letters_since_opening,
            workflows: of.map_or_else(Vec::new, |of| of.keys().cloned().collect()),
            breaker,
        })
    }

    async fn waiting(&self, workflow: &WorkflowId, steps: &[String]) -> Result<u64, ReadError> {
        let steps: Vec<&str> = steps.iter().map(String::as_str).collect();
        let (store, now) = (&self.context.store, self.context.now());
        store.waiting_work(workflow, &steps, now, COUNTED_MAX).await
    }

    async fn letters(&self, host: &str, from: Option<Timestamp>) -> Result<Counted, ReadError> {
        let store = &self.context.store;
        let count = store.letters_of_target(host, from, COUNTED_MAX).await?;
        Ok(Counted::up_to_max(count))
    }

    /// Who calls whom by the newest definitions.
    async fn callers(&self) -> Result<Arc<Callers>, ReadError> {
        let now = self.context.now();
        if let Some((at, known)) = self.callers.lock().clone()
            && now.since(at) < CALLERS_KNOWN_FOR
        {
            return Ok(known);
        }
        let mut callers = Callers::default();
        let mut last: Option<WorkflowId> = None;
        loop {
            let page = self
                .context
                .store
                .workflows(last.as_ref(), LIMIT_MAX)
                .await?;
            let is_last = page.len() < LIMIT_MAX as usize;
            for row in &page {
                // One that cannot be read calls nobody.
                if let Ok(Some(newest)) = self.context.catalog.newest(&row.id).await {
                    callers.add(&row.id, &newest.workflow);
                }
            }
            last = page.last().map(|row| row.id.clone());
            if is_last {
                break;
            }
        }
        let callers = Arc::new(callers);
        *self.callers.lock() = Some((now, Arc::clone(&callers)));
        Ok(callers)
    }
}

impl Callers {
    fn add(&mut self, id: &WorkflowId, workflow: &refire_core::definition::Workflow) {
        for called in &workflow.steps {
            let Some(callable) = step::of(&called.kind).filter(|step| step.has_host()) else {
                continue;
            };
            match callable.host() {
                Some(host) => {
                    let of = self.by_host.entry(host.to_owned()).or_default();
                    let steps = of.entry(id.clone()).or_default();
                    steps.push(called.id.as_str().to_owned());
                }
                None => self.any_host = true,
            }
        }
    }
}
