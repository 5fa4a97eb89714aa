//! The compiled workflow: what the state machine decides by.
//!
//! Everything in it has been checked; steps name each other by index. The order of `steps` is that
//! of the definition. It is built by `Workflow::parse` and never changed.

use std::time::Duration;

use super::callback::Callback;
use super::name::{StepId, WorkflowId};
use super::retry::{RetryRules, RetrySettings};
use super::step_type::StepKind;
use crate::jsonpath::JsonPath;
use crate::template::{Reference, Template, Tree};

/// A workflow.
#[derive(Debug, Clone, PartialEq)]
pub struct Workflow {
    /// Its name in URLs and references.
    pub id: WorkflowId,
    /// Its name for people; the id if none is written.
    pub name: String,
    /// What it is for.
    pub description: Option<String>,
    /// Retry settings for all its steps.
    pub retry: RetrySettings,
    /// The steps in the order of the definition, compensation steps included.
    pub steps: Vec<Step>,
    /// What the execution's output is, if it is not simply that of the last steps.
    pub output: Option<Tree>,
    /// Which failures become dead letters.
    pub dead_letter: DeadLetterMode,
    /// How many executions run at once.
    pub concurrency: Concurrency,
    /// How many executions begin in a span of time.
    pub rate_limit: Option<RateLimit>,
}

/// Which failed executions are kept as dead letters.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum DeadLetterMode {
    /// Every one.
    #[default]
    All,
    /// Not those that failed with an error that is not retried.
    Exhausted,
}

/// How many executions of a workflow run at once; `None` = no limit here.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Concurrency {
    /// In all.
    pub max: Option<u32>,
    /// What `max_per_key` counts by.
    pub key: Option<Template>,
    /// For each value of the key.
    pub max_per_key: Option<u32>,
}

/// How many executions of a workflow begin in a span of time.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RateLimit {
    /// This many…
    pub max: u32,
    /// …in this time…
    pub per: Duration,
    /// …for each value of the key, if there is one.
    pub key: Option<Template>,
}

/// A unit of work.
#[derive(Debug, Clone, PartialEq)]
pub struct Step {
    /// Its name.
    pub id: StepId,
    /// What it does.
    pub kind: StepKind,
    /// The steps that must be done before, by index.
    pub needs: Vec<usize>,
    /// Whether it runs at all; must give true or false.
    pub when: Option<Template>,
    /// Retry settings that go over all others.
    pub retry: Option<RetrySettings>,
    /// Whether its target says later how it went, and until when.
    pub callback: Option<Callback>,
    /// The step that undoes this one, by index.
    pub compensate: Option<usize>,
    /// Whether it runs only to undo another.
    pub is_compensation: bool,
    /// What its output adds to the context, key by key.
    pub output_mapping: Vec<(String, JsonPath)>,
}

impl Workflow {
    /// The step of that name.
    #[must_use]
    pub fn step(&self, id: &str) -> Option<(usize, &Step)> {
        self.steps
            .iter()
            .enumerate()
            .find(|(_, step)| step.id.as_str() == id)
    }

    /// The steps that nothing has to precede.
    pub fn roots(&self) -> impl Iterator<Item = usize> {
        self.normal()
            .filter(|(_, step)| step.needs.is_empty())
            .map(|(at, _)| at)
    }

    /// The steps that need step `of` directly.
    pub fn dependants(&self, of: usize) -> impl Iterator<Item = usize> {
        self.normal()
            .filter(move |(_, step)| step.needs.contains(&of))
            .map(|(at, _)| at)
    }

    /// The steps nobody needs; their outputs make the execution's.
    #[must_use]
    pub fn last_steps(&self) -> Vec<usize> {
        let mut needed = vec![false; self.steps.len()];
        for at in self.steps.iter().flat_map(|step| &step.needs) {
            needed[*at] = true;
        }
        self.normal()
            .map(|(at, _)| at)
            .filter(|at| !needed[*at])
            .collect()
    }

    /// Every step that must be done before step `of`, directly or not, in ascending order.
    #[must_use]
    pub fn ancestors(&self, of: usize) -> Vec<usize> {
        let mut seen = vec![false; self.steps.len()];
        let mut open = self
            .steps
            .get(of)
            .map(|step| step.needs.clone())
            .unwrap_or_default();
        while let Some(at) = open.pop() {
            if !std::mem::replace(&mut seen[at], true) {
                open.extend(&self.steps[at].needs);
            }
        }
        seen.iter()
            .enumerate()
            .filter(|(_, seen)| **seen)
            .map(|(at, _)| at)
            .collect()
    }

    /// Whether neither of two steps waits for the other. Compensation steps run one by one and are
    /// never parallel to anything.
    #[must_use]
    pub fn may_run_in_parallel(&self, a: usize, b: usize) -> bool {
        a != b
            && !self.steps[a].is_compensation
            && !self.steps[b].is_compensation
            && !self.ancestors(a).contains(&b)
            && !self.ancestors(b).contains(&a)
    }

    /// The retry rules of a step: its own settings over the trigger's (`over`), over the
    /// workflow's, over the defaults, field by field.
    #[must_use]
    pub fn retry_for(&self, step: usize, over: Option<&RetrySettings>) -> RetryRules {
        let settings = match over {
            Some(over) => over.over(&self.retry),
            None => self.retry.clone(),
        };
        match self.steps.get(step).and_then(|step| step.retry.as_ref()) {
            Some(own) => own.over(&settings).rules(),
            None => settings.rules(),
        }
    }

    /// What is allowed but probably not meant, one sentence each.
    #[must_use]
    pub fn notes(&self) -> Vec<String> {
        let odd = |step: &Step| {
            let note = step.kind.settings().note()?;
            Some(format!("step \"{}\": {note}", step.id))
        };
        let mut notes: Vec<String> = self.steps.iter().filter_map(odd).collect();
        let is_task = |step: &Step| step.kind.external_task().is_some();
        let limits = &self.concurrency;
        if (limits.max.is_some() || limits.max_per_key.is_some()) && self.steps.iter().any(is_task)
        {
            notes.push(
                "concurrency: does not count external_task steps; what their workers do at once is \
                 limited by how many workers there are"
                    .to_owned(),
            );
        }
        notes
    }

    /// The secrets that must be set, each once, with the first step that uses it. Those with a
    /// default may be absent.
    #[must_use]
    pub fn secrets(&self) -> Vec<(&StepId, &str)> {
        let mut found: Vec<(&StepId, &str)> = Vec::new();
        for step in &self.steps {
            let required = step.kind.settings().required();
            for name in required.into_iter().filter_map(Reference::secret) {
                if !found.iter().any(|(_, known)| *known == name) {
                    found.push((&step.id, name));
                }
            }
        }
        found
    }

    /// The steps whose targets call back.
    pub fn with_callbacks(&self) -> impl Iterator<Item = &Step> {
        self.steps.iter().filter(|step| step.callback.is_some())
    }

    fn normal(&self) -> impl Iterator<Item = (usize, &Step)> {
        self.steps
            .iter()
            .enumerate()
            .filter(|(_, step)| !step.is_compensation)
    }
}
