//! Notices, made from what they are about. They are written in the commit that makes it true.

use refire_core::dead_letter::Letter;
use refire_core::id::NoticeId;
use refire_core::notify::{FactName, Facts, NoticeKind};
use refire_store::NewNotice;

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
