//! New dead letters in the server's log: one line each, unless there are too many. A target that is gone
//! may fail thousands of executions, and the list of dead letters has them all.

use std::time::{Duration, Instant};

use refire_core::dead_letter::Reason;
use refire_core::definition::WorkflowId;
use refire_core::id::{DlqId, ExecutionId};

/// For how long lines are counted.
const WINDOW: Duration = Duration::from_secs(60);
/// Letters that have a line of their own in that time.
const LINES_MAX: u32 = 20;

/// See the module.
#[derive(Default)]
pub(super) struct LetterLog(Option<Window>);

struct Window {
    began: Instant,
    lines: u32,
    /// Letters without a line.
    more: u64,
}

impl LetterLog {
    /// An execution became a dead letter. What it was about is in the letter: payloads and answers are not
    /// for the log.
    pub(super) fn note(
        &mut self,
        workflow: &WorkflowId,
        id: ExecutionId,
        letter: DlqId,
        reason: Reason,
    ) {
        if self.has_line(Instant::now()) {
            tracing::warn!(
                workflow = workflow.as_str(), execution = %id, %letter, reason = reason.name(),
                "an execution failed for good and became a dead letter"
            );
        }
    }

    fn has_line(&mut self, now: Instant) -> bool {
        if let Some(over) = self
            .0
            .take_if(|window| now.duration_since(window.began) >= WINDOW)
            && over.more > 0
        {
            tracing::warn!(
                count = over.more,
                "more executions became dead letters: `refire dlq summary` shows them by their causes"
            );
        }
        let window = self.0.get_or_insert(Window {
            began: now,
            lines: 0,
            more: 0,
        });
        let has_line = window.lines < LINES_MAX;
        window.lines += u32::from(has_line);
        window.more += u64::from(!has_line);
        has_line
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn many_letters_do_not_fill_the_log() {
        let mut log = LetterLog::default();
        let now = Instant::now();
        let lines = (0..1_000).filter(|_| log.has_line(now)).count();
        assert_eq!(lines, LINES_MAX as usize);
        let more = log.0.as_ref().map(|window| window.more);
        assert_eq!(more, Some(1_000 - u64::from(LINES_MAX)));
        assert!(log.has_line(now + WINDOW), "the next minute has its own");
    }
}
