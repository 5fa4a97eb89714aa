//! The rules that there are from the start. They are looked at like any other, can be changed and removed, and
//! tell nobody anything until there is a channel.

use super::rule::Rule;
use crate::id::AlertRuleId;

/// A rule that nobody has written.
#[derive(Debug, Clone, PartialEq)]
pub struct BuiltIn {
    /// Always the same, so that a change or a removal of it is known for what it is.
    pub id: AlertRuleId,
    /// What it says.
    pub rule: Rule,
}

/// Their numbers never change: a new one gets the next.
const DEFAULTS: &[(u8, &str)] = &[
    (
        1,
        r#"{"name": "Executions fail", "kind": "failure_rate", "window": "10m", "above": 20, "min_count": 10}"#,
    ),
    (
        2,
        r#"{"name": "Many dead letters", "kind": "dlq_growth", "window": "10m", "above": 20}"#,
    ),
    (
        3,
        r#"{"name": "A worker is gone", "kind": "dead_workers", "for": "1m"}"#,
    ),
    (
        4,
        r#"{"name": "Planned times were missed", "kind": "missed_slots", "window": "30m"}"#,
    ),
    (
        5,
        r#"{"name": "An expected success is missing", "kind": "dead_man"}"#,
    ),
    (
        6,
        r#"{"name": "A scheduled task failed", "kind": "scheduled_task_failed", "window": "6h"}"#,
    ),
    (
        7,
        r#"{"name": "Tasks take long", "kind": "long_processing", "after": "24h"}"#,
    ),
    (
        8,
        r#"{"name": "Calls to a host are held back", "kind": "breaker_open", "for": "1m"}"#,
    ),
];

/// All of them.
#[must_use]
pub fn built_in() -> Vec<BuiltIn> {
    let rule = |(number, text): &(u8, &str)| {
        let mut bytes = [0; 16];
        bytes[15] = *number;
        let id = AlertRuleId::from_bytes(bytes);
        Rule::read(text).ok().map(|rule| BuiltIn { id, rule })
    };
    DEFAULTS.iter().filter_map(rule).collect()
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;
    use crate::alert::RuleKind;

    #[test]
    fn every_kind_has_one_and_no_two_have_one_name() {
        let defaults = built_in();
        let kinds: BTreeSet<RuleKind> = defaults.iter().map(|it| it.rule.kind()).collect();
        assert_eq!(kinds, RuleKind::ALL.into_iter().collect());
        let names: BTreeSet<&str> = defaults.iter().map(|it| it.rule.name.as_str()).collect();
        assert_eq!(names.len(), DEFAULTS.len());
    }
}
