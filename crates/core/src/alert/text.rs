//! A rule as it is stored and shown: every field, in its documented order.

use super::rule::{Condition, Rule};
use crate::duration;
use crate::json::{ArrayBuilder, Json, ObjectBuilder};

/// What a rule says, as JSON.
pub(super) fn text(rule: &Rule) -> Json {
    let mut fields = ObjectBuilder::new()
        .text("name", &rule.name)
        .text("kind", rule.kind().name());
    if let Some(workflow) = &rule.workflow {
        fields = fields.text("workflow", workflow.as_str());
    }
    if let Some(window) = rule.condition.window() {
        fields = fields.text("window", &duration::plain(window));
    }
    fields = match rule.condition {
        Condition::FailureRate {
            above, min_count, ..
        } => {
            // A number within bounds is always JSON.
            let above = Json::parse(above.to_string()).unwrap_or_else(|_| Json::null());
            fields.json("above", &above).number("min_count", min_count)
        }
        Condition::DlqGrowth { above, .. } | Condition::MissedSlots { above, .. } => {
            fields.number("above", above)
        }
        Condition::LongProcessing { after } => fields.text("after", &duration::plain(after)),
        Condition::DeadWorkers
        | Condition::DeadMan
        | Condition::ScheduledTaskFailed { .. }
        | Condition::BreakerOpen => fields,
    };
    let mut channels = ArrayBuilder::new();
    for channel in &rule.channels {
        channels.push(&Json::string(channel));
    }
    fields
        .text("for", &duration::plain(rule.hold))
        .json("channels", &channels.build())
        .text("repeat", &duration::plain(rule.repeat))
        .json("enabled", &Json::bool(rule.enabled))
        .build()
}
