//! What a rule would have said, from the minutes of the past. What is not counted by the minute has no past
//! here.

use std::collections::BTreeMap;
use std::time::Duration;

use super::condition::{Window, is_within};
use super::rule::Rule;
use super::state::{Alert, Next, Say, Terms, step};
use crate::definition::WorkflowId;
use crate::id::AlertId;
use crate::minute::{MINUTE, OfWorkflow, floor};
use crate::time::Timestamp;

/// Episodes that are told, the newest.
pub const EPISODES_MAX: usize = 100;

/// A time during which a rule would have fired.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Episode {
    /// What about.
    pub subject: WorkflowId,
    /// From when on.
    pub from: Timestamp,
    /// Until when; none if it still would.
    pub to: Option<Timestamp>,
    /// The worst value, in thousandths.
    pub worst: i64,
}

/// The times at which a rule would have fired, looked at once a minute, the newest first.
#[must_use]
pub fn episodes(
    rule: &Rule,
    minutes: &[OfWorkflow],
    (from, to): (Timestamp, Timestamp),
) -> Vec<Episode> {
    let Some(window) = rule.condition.window() else {
        return Vec::new();
    };
    let mut by_workflow: BTreeMap<&WorkflowId, Vec<&OfWorkflow>> = BTreeMap::new();
    let asked = |one: &&OfWorkflow| rule.workflow.iter().all(|asked| *asked == one.workflow);
    for one in minutes.iter().filter(asked) {
        by_workflow.entry(&one.workflow).or_default().push(one);
    }
    let mut found = Vec::new();
    for (workflow, mut minutes) in by_workflow {
        minutes.sort_by_key(|one| one.at);
        found.extend(of_workflow(rule, (workflow, window), &minutes, (from, to)));
    }
    found.sort_by(|a, b| (b.from, &a.subject).cmp(&(a.from, &b.subject)));
    found.truncate(EPISODES_MAX);
    found
}

fn of_workflow(
    rule: &Rule,
    (workflow, window): (&WorkflowId, Duration),
    minutes: &[&OfWorkflow],
    (from, to): (Timestamp, Timestamp),
) -> Vec<Episode> {
    let terms = Terms {
        hold: rule.hold,
        repeat: rule.repeat,
    };
    let (mut episodes, mut alert): (Vec<Episode>, Option<Alert>) = (Vec::new(), None);
    // Both ends of the window only move on.
    let (mut first, mut behind, mut sum) = (0, 0, Window::default());
    let mut now = floor(from, MINUTE);
    while now <= to {
        while let Some(one) = minutes.get(behind).filter(|one| one.at <= now) {
            sum.add(one);
            behind += 1;
        }
        while first < behind && !is_within(minutes[first].at, window, now) {
            sum.leave(minutes[first]);
            first += 1;
        }
        let value = sum.value(workflow, &rule.condition);
        let fresh = AlertId::from_bytes([0; 16]);
        match step(alert.as_ref(), value, terms, false, fresh, now) {
            Next::Same => {}
            Next::Remove => alert = None,
            Next::Put(after, say) => {
                match (say, episodes.last_mut()) {
                    (Some(Say::Firing), _) => episodes.push(Episode {
                        subject: workflow.clone(),
                        from: now,
                        to: None,
                        worst: after.value,
                    }),
                    (Some(Say::Resolved), Some(last)) => last.to = Some(now),
                    _ => {}
                }
                alert = Some(after);
            }
        }
        if let (Some(value), Some(last)) = (value, episodes.last_mut())
            && last.to.is_none()
        {
            last.worst = last.worst.max(value);
        }
        now = now.plus(MINUTE);
    }
    episodes
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::minute::Minute;

    fn at(minute: i64) -> Timestamp {
        Timestamp::from_millis(minute * 60_000)
    }

    fn ended(workflow: &str, minute: i64, completed: u64, failed: u64) -> OfWorkflow {
        OfWorkflow {
            workflow: WorkflowId::new(workflow).unwrap(),
            at: at(minute),
            minute: Minute {
                completed,
                failed,
                dead_lettered: failed,
                ..Minute::default()
            },
        }
    }

    #[test]
    fn a_storm_is_one_episode_and_a_quiet_workflow_none() {
        let rule = "{name: r, kind: failure_rate, window: 5m, above: 50, min_count: 4}";
        let rule = Rule::read(rule).unwrap();
        let mut minutes: Vec<OfWorkflow> = (0..60).map(|it| ended("quiet", it, 9, 1)).collect();
        minutes.extend((20..30).map(|it| ended("storm", it, 0, 2)));
        let found = episodes(&rule, &minutes, (at(0), at(60)));
        assert_eq!(found.len(), 1, "{found:?}");
        assert_eq!(found[0].subject.as_str(), "storm");
        assert_eq!((found[0].from, found[0].worst), (at(21), 100_000));
        assert_eq!(found[0].to, Some(at(34)));
        let held = "{name: r, kind: failure_rate, window: 5m, above: 50, min_count: 4, for: 30m}";
        let held = episodes(&Rule::read(held).unwrap(), &minutes, (at(0), at(60)));
        assert_eq!(held, []);
        let other = "{name: r, kind: dlq_growth, window: 5m, above: 1, workflow: quiet}";
        let other = episodes(&Rule::read(other).unwrap(), &minutes, (at(0), at(60)));
        assert_eq!((other.len(), other[0].to), (1, None));
    }
}
