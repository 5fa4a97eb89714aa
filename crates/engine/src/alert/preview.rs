//! What a rule would say now, and what it would have said within the last day.

use std::time::Duration;

use refire_core::alert::preview::{Episode, episodes};
use refire_core::alert::{Finding, Rule, findings, window_start};
use refire_core::time::Timestamp;
use refire_store::{MINUTES_READ_MAX, MinuteFilter};

use super::{AlertError, Alerts, facts};
use crate::tally::flush;

/// How far back it looks.
const PAST: Duration = Duration::from_secs(24 * 60 * 60);

/// What a rule would say.
#[derive(Debug, Clone, PartialEq)]
pub struct Previewed {
    /// The rule as it would be kept.
    pub rule: Rule,
    /// What it finds now; whether that holds for long enough is not asked.
    pub now: Vec<Finding>,
    /// When it would have fired; none if the past of what it watches is not known.
    pub past: Option<Vec<Episode>>,
    /// From when on the past is told.
    pub from: Timestamp,
}

impl Alerts {
    /// What a rule would say if there were such a rule.
    pub async fn preview(&self, text: &str) -> Result<Previewed, AlertError> {
        let rule = Rule::read(text)?;
        let context = &self.context;
        if context.is_open().is_ok() {
            flush(context).await;
        }
        let now = context.now();
        let facts = facts::read(context, &[&rule], now).await?;
        let from = now.minus(PAST);
        let past = match rule.condition.window() {
            Some(window) => {
                let filter = MinuteFilter {
                    workflow: rule.workflow.clone(),
                    from: window_start(window, from),
                    to: now,
                };
                let minutes = context.store.minutes(&filter, MINUTES_READ_MAX).await?;
                Some(episodes(&rule, &minutes, (from, now)))
            }
            None => None,
        };
        Ok(Previewed {
            now: findings(&rule, &facts, now),
            rule,
            past,
            from,
        })
    }
}
