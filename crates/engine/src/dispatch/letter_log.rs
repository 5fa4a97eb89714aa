//! New dead letters in the server's log: one line each, unless there are too many. A target that is gone
//! may fail thousands of executions, and the list of dead letters has them all.

use std::cmp::Ordering;
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
    letters: u32,
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
        match self.count(Instant::now()).cmp(&LINES_MAX) {
            Ordering::Less => tracing::warn!(
                workflow = workflow.as_str(), execution = %id, %letter, reason = reason.name(),
                "an execution failed for good and became a dead letter"
            ),
            Ordering::Equal => tracing::warn!(
                "more executions become dead letters, which are not logged for a minute: \
                 `refire dlq summary` shows them by their causes"
            ),
            Ordering::Greater => {}
        }
    }

    /// How many there were before this one, not long ago.
    fn count(&mut self, now: Instant) -> u32 {
        self.0
            .take_if(|window| now.duration_since(window.began) >= WINDOW);
        let window = self.0.get_or_insert(Window {
            began: now,
            letters: 0,
        });
        let before = window.letters;
        window.letters = before.saturating_add(1);
        before
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn many_letters_do_not_fill_the_log() {
        let mut log = LetterLog::default();
        let now = Instant::now();
        let lines = (0..1_000).filter(|_| log.count(now) <= LINES_MAX).count();
        assert_eq!(lines, LINES_MAX as usize + 1);
        assert_eq!(log.count(now + WINDOW), 0, "the next minute has its own");
    }
}
