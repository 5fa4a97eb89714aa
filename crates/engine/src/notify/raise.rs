//! Notices, made from what they are about. They are written in the commit that makes it true.

use refire_core::dead_letter::Letter;
use refire_core::id::NoticeId;
use refire_core::notify::{FactName, Facts, NoticeKind};
use refire_core::trigger::{Entry, Outcome, SkipReason, Trigger};
use refire_store::NewNotice;

use crate::context::Context;
use crate::entropy;

/// Of a new dead letter. Letters with the same fingerprint are one group.
pub(crate) fn dead_letter(letter: &Letter) -> NewNotice {
    let failure = &letter.failure;
    let mut error = failure.class.name().to_owned();
    if let Some(code) = &failure.code {
        error = format!("{error} {code}");
    }
    let step = letter.step.as_ref().map(|step| {
        let (made, most) = (letter.retry_count + 1, letter.max_retries + 1);
        format!("{step} ({made}/{most})")
    });
    let facts = Facts::new(letter.workflow_name.clone(), letter.failed_at)
        .text(failure.message.clone())
        .page(format!("/dlq/{}", letter.id))
        .fact(FactName::Workflow, letter.workflow.as_str())
        .fact(FactName::Step, step.unwrap_or_default())
        .fact(FactName::Error, error)
        .fact(FactName::Reason, letter.reason.name())
        .fact(FactName::Execution, letter.execution.to_string())
        .fact(FactName::DeadLetter, letter.id.to_string());
    NewNotice {
        id: NoticeId::from_bytes(*letter.id.as_bytes()),
        kind: NoticeKind::DeadLetterCreated,
        workflow: Some(letter.workflow.clone()),
        subject: format!("{:016x}", letter.fingerprint),
        facts,
    }
}

/// Of what a look at a trigger found: that it is overdue, or no more, or that it missed planned times.
pub(crate) fn of_plan(context: &Context, trigger: &Trigger, entries: &[Entry]) -> Vec<NewNotice> {
    let mut notices = Vec::new();
    for entry in entries {
        let kind = match entry.outcome {
            Outcome::Overdue => NoticeKind::TriggerOverdue,
            Outcome::Recovered => NoticeKind::TriggerRecovered,
            Outcome::Skipped(SkipReason::Missed) => NoticeKind::TriggerMissed,
            _ => continue,
        };
        if !context.notices.wants(kind, Some(&trigger.workflow)) {
            continue;
        }
        let mut facts = Facts::new(trigger.workflow.as_str(), entry.at)
            .page(format!("/triggers/{}", trigger.id))
            .fact(FactName::Trigger, trigger.id.to_string())
            .fact(FactName::Slot, entry.nominal.to_string());
        if entry.count > 1 {
            facts = facts
                .fact(FactName::Until, entry.to.to_string())
                .fact(FactName::Count, entry.count.to_string());
        }
        notices.push(NewNotice {
            id: NoticeId::from_bytes(entropy::fresh(&*context.entropy, context.now())),
            kind,
            workflow: Some(trigger.workflow.clone()),
            subject: trigger.id.to_string(),
            facts,
        });
    }
    notices
}
