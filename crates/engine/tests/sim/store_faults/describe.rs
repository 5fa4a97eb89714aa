//! What a batch does, in one line of the trace.

use std::fmt::Write as _;

use refire_core::execution::EventRow;
use refire_store::{Batch, Begin, Part};

use crate::world::Trace;

/// One line about a batch.
pub(super) fn describe(trace: &mut Trace, batch: &Batch) -> String {
    let mut text = String::new();
    for part in &batch.parts {
        if !text.is_empty() {
            text.push_str("; ");
        }
        match part {
            Part::Admit(admit) => {
                let _ = write!(text, "admit {} [", trace.name(admit.row.id));
                events(&mut text, &admit.events);
                text.push(']');
            }
            Part::Advance(advance) => {
                let _ = write!(text, "advance {} [", trace.name(advance.id));
                events(&mut text, &advance.events);
                text.push(']');
            }
            Part::Claim(claim) => {
                text.push_str("claim");
                for want in &claim.wants {
                    let _ = write!(text, " {}×{}", want.workflow, want.up_to);
                }
            }
            Part::ClaimTimers(_) => text.push_str("claim timers"),
            Part::Begin(Begin { work, .. }) => {
                text.push_str("begin");
                for (key, attempt) in work {
                    let _ = write!(
                        text,
                        " {}.{}#{attempt}",
                        trace.name(key.execution),
                        key.step
                    );
                }
            }
            Part::Release(release) => {
                text.push_str("release");
                for (key, _) in &release.work {
                    let _ = write!(text, " {}.{}", trace.name(key.execution), key.step);
                }
            }
            Part::DeleteLetter { by, .. } => {
                let _ = write!(text, "delete a letter, {by}");
            }
            Part::PutWorkflow(put) => {
                let _ = write!(text, "save {}", put.id);
            }
            Part::DeleteWorkflow { id } => {
                let _ = write!(text, "delete {id}");
            }
            Part::CreateTrigger(create) => {
                let _ = write!(text, "make {}", create.id);
            }
            Part::ChangeTrigger(change) => {
                let _ = write!(text, "change {}", change.id);
            }
            Part::DeleteTrigger { id, .. } => {
                let _ = write!(text, "delete {id}");
            }
            Part::Fire(fire) => {
                let _ = write!(text, "fire {} rev {}", fire.trigger, fire.rev);
                for slot in &fire.slots {
                    let _ = write!(text, ", {} {}", slot.nominal, slot.outcome.status().name());
                }
                if let Some(admit) = &fire.admission {
                    let _ = write!(text, ", admit {}", trace.name(admit.row.id));
                }
            }
            other => describe_other(&mut text, trace, other),
        }
    }
    text
}

/// The same about a part that is rare.
fn describe_other(text: &mut String, trace: &mut Trace, part: &Part) {
    match part {
        Part::LockTasks(lock) => {
            text.push_str("lock");
            for wanted in &lock.wanted {
                let (types, count) = (wanted.types.join(","), wanted.holders.len());
                let _ = write!(text, " {types}×{count}");
            }
        }
        Part::TouchTask(touch) => {
            let name = trace.name(touch.id.execution);
            let _ = write!(text, "touch {name}.{}: {:?}", touch.id.step, touch.touch);
        }
        Part::LogRequests(requests) => {
            let _ = write!(text, "log {} requests", requests.len());
        }
        // The others by their names alone.
        other => {
            let shown = format!("{other:?}");
            let name = shown.split(|sign: char| !sign.is_alphanumeric()).next();
            text.push_str(name.unwrap_or_default());
        }
    }
}

fn events(text: &mut String, events: &[EventRow]) {
    for (index, event) in events.iter().enumerate() {
        if index > 0 {
            text.push(' ');
        }
        text.push_str(&event.name);
        if let Some(step) = &event.step {
            let _ = write!(text, ":{step}");
        }
        if let Some(attempt) = event.attempt {
            let _ = write!(text, "#{attempt}");
        }
    }
}
