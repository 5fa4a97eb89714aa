//! What people asked for and what they were told. A crash takes the process, not their memory.

use std::collections::BTreeMap;

use refire_core::id::{DlqId, ExecutionId, TriggerId};

use crate::plan::Wish;

/// What somebody was told.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Answer {
    /// It is done, and this execution is what came of it.
    Done(ExecutionId),
    /// Nothing was changed.
    Refused,
    /// Nobody knows.
    Unknown,
}

/// A request and its answer; none yet, or none ever if the process died.
#[derive(Debug, Clone)]
pub(crate) struct Asked<T> {
    pub(crate) what: T,
    pub(crate) life: u32,
    /// When, in milliseconds that the world had lived.
    pub(crate) at_ms: u64,
    pub(crate) answer: Option<Answer>,
    /// Whoever asked waits for the end as well, and may go on waiting when the process stops.
    pub(crate) is_patient: bool,
}

/// A retry of a dead letter.
#[derive(Debug, Clone)]
pub(crate) struct Retry {
    pub(crate) letter: DlqId,
    pub(crate) by: String,
}

/// A pause, a resume or a cancellation.
#[derive(Debug, Clone)]
pub(crate) struct Steering {
    pub(crate) execution: ExecutionId,
    pub(crate) by: String,
}

/// A request to a webhook.
#[derive(Debug, Clone)]
pub(crate) struct Sent {
    pub(crate) trigger: TriggerId,
    pub(crate) number: u32,
    pub(crate) key: Option<u64>,
}

/// A trigger that somebody ran.
#[derive(Debug, Clone)]
pub(crate) struct Run {
    pub(crate) by: String,
}

/// See the module.
#[derive(Default)]
pub(crate) struct Ledger {
    pub(crate) wishes: Vec<Asked<Wish>>,
    pub(crate) retries: Vec<Asked<Retry>>,
    pub(crate) steerings: Vec<Asked<Steering>>,
    pub(crate) requests: Vec<Asked<Sent>>,
    pub(crate) runs: Vec<Asked<Run>>,
    /// How many bulk jobs were asked for.
    pub(crate) jobs: u32,
    /// How many backfills were asked for.
    pub(crate) backfills: u32,
    /// The life through which each version of a workflow was saved last.
    pub(crate) saved: BTreeMap<(String, u32), u32>,
    /// Executions that somebody was told of, in that order.
    pub(crate) told: Vec<ExecutionId>,
    /// Versions of workflows that somebody began to save and does not know to be saved.
    pub(crate) unsaved: Vec<(usize, usize)>,
}

impl Ledger {
    pub(crate) fn wish(&mut self, wish: &Wish, life: u32, at_ms: u64) -> usize {
        self.wishes.push(Asked {
            what: wish.clone(),
            life,
            at_ms,
            answer: None,
            is_patient: false,
        });
        self.wishes.len() - 1
    }

    pub(crate) fn retry(&mut self, letter: DlqId, life: u32) -> (usize, String) {
        let by = format!("retrier {}", self.retries.len());
        let what = Retry {
            letter,
            by: by.clone(),
        };
        self.retries.push(Asked {
            what,
            life,
            at_ms: 0,
            answer: None,
            is_patient: false,
        });
        (self.retries.len() - 1, by)
    }

    pub(crate) fn steering(&mut self, execution: ExecutionId, life: u32) -> (usize, String) {
        let by = format!("person {}", self.steerings.len());
        let what = Steering {
            execution,
            by: by.clone(),
        };
        self.steerings.push(Asked {
            what,
            life,
            at_ms: 0,
            answer: None,
            is_patient: false,
        });
        (self.steerings.len() - 1, by)
    }

    pub(crate) fn request(&mut self, what: Sent, life: u32, at_ms: u64) -> usize {
        self.requests.push(Asked {
            what,
            life,
            at_ms,
            answer: None,
            is_patient: false,
        });
        self.requests.len() - 1
    }

    pub(crate) fn run(&mut self, life: u32) -> (usize, String) {
        let by = format!("runner {}", self.runs.len());
        let what = Run { by: by.clone() };
        self.runs.push(Asked {
            what,
            life,
            at_ms: 0,
            answer: None,
            is_patient: false,
        });
        (self.runs.len() - 1, by)
    }

    /// Somebody whom this life has not answered.
    pub(crate) fn unanswered(&self, life: u32, patient_too: bool) -> Option<String> {
        fn first<T>(all: &[Asked<T>], life: u32, patient_too: bool) -> Option<&T> {
            let open = |asked: &&Asked<T>| {
                let counts = patient_too || !asked.is_patient;
                asked.life == life && asked.answer.is_none() && counts
            };
            all.iter().find(open).map(|asked| &asked.what)
        }
        let wish = first(&self.wishes, life, patient_too);
        let retry = first(&self.retries, life, patient_too);
        let steering = first(&self.steerings, life, patient_too);
        let request = first(&self.requests, life, patient_too);
        let run = first(&self.runs, life, patient_too);
        let who = (wish.map(|wish| format!("wish {}", wish.number)))
            .or_else(|| retry.map(|retry| retry.by.clone()))
            .or_else(|| steering.map(|steering| steering.by.clone()))
            .or_else(|| request.map(|request| format!("request {}", request.number)))
            .or_else(|| run.map(|run| run.by.clone()))?;
        Some(format!("{who} in life {life}"))
    }

    /// The newest version of a workflow that somebody was told of.
    pub(crate) fn newest(&self, workflow: &str) -> u32 {
        let of = self.saved.keys().filter(|(name, _)| name == workflow);
        of.map(|(_, version)| *version).max().unwrap_or(0)
    }

    pub(crate) fn tell(&mut self, execution: ExecutionId) {
        if !self.told.contains(&execution) {
            self.told.push(execution);
        }
    }

    /// What a key was answered with before.
    pub(crate) fn of_key(&self, flow: usize, key: u64) -> impl Iterator<Item = &Asked<Wish>> {
        self.wishes
            .iter()
            .filter(move |asked| asked.what.flow == flow && asked.what.key == Some(key))
    }
}
