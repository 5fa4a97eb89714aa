//! What people and their retries make of a dead letter.

use super::letter::LetterStatus;
use crate::id::ExecutionId;
use crate::time::Timestamp;

/// Where a dead letter stands, and who brought it there.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct LetterState {
    /// Where it stands.
    pub status: LetterStatus,
    /// The highest generation that its retries have used.
    pub generation: u32,
    /// The last retry by a person: when and who.
    pub retry_attempted: Option<(Timestamp, String)>,
    /// The execution that retries it or has resolved it.
    pub resolution_execution: Option<ExecutionId>,
    /// When it was resolved, and who had retried it.
    pub resolved: Option<(Timestamp, String)>,
    /// When it was given up, and by whom.
    pub deleted: Option<(Timestamp, String)>,
}

impl LetterState {
    /// Whether it may be retried by somebody who saw this generation: if it was retried since, another
    /// retry may have used the same one.
    #[must_use]
    pub fn may_be_retried(&self, generation: u32) -> bool {
        self.status == LetterStatus::Pending && self.generation == generation
    }

    /// It is being retried by an execution with this generation.
    #[must_use]
    pub fn retried(
        self,
        by: String,
        execution: ExecutionId,
        generation: u32,
        now: Timestamp,
    ) -> Self {
        Self {
            status: LetterStatus::Retrying,
            generation,
            retry_attempted: Some((now, by)),
            resolution_execution: Some(execution),
            ..self
        }
    }

    /// Somebody gives it up; nothing unless it waits for a person.
    #[must_use]
    pub fn given_up(self, by: String, now: Timestamp) -> Option<Self> {
        let is_pending = self.status == LetterStatus::Pending;
        is_pending.then_some(Self {
            status: LetterStatus::Deleted,
            deleted: Some((now, by)),
            ..self
        })
    }

    /// Its retry has ended: it is resolved, or pending again. Nothing unless this execution is what retries
    /// it.
    #[must_use]
    pub fn settled(
        mut self,
        execution: ExecutionId,
        resolved: bool,
        now: Timestamp,
    ) -> Option<Self> {
        let is_retried_by_it =
            self.status == LetterStatus::Retrying && self.resolution_execution == Some(execution);
        if !is_retried_by_it {
            return None;
        }
        if resolved {
            self.status = LetterStatus::Resolved;
            let by = self.retry_attempted.as_ref().map(|(_, by)| by.clone());
            self.resolved = by.map(|by| (now, by));
        } else {
            self.status = LetterStatus::Pending;
            self.resolution_execution = None;
        }
        Some(self)
    }

    /// The execution that resolved it; while one is open, that is in the same place.
    #[must_use]
    pub fn resolved_by(&self) -> Option<ExecutionId> {
        self.resolution_execution
            .filter(|_| self.status == LetterStatus::Resolved)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const AT: Timestamp = Timestamp::from_millis(10_000);
    const RETRY: ExecutionId = ExecutionId::from_bytes([1; 16]);
    const OTHER: ExecutionId = ExecutionId::from_bytes([2; 16]);

    fn retrying() -> LetterState {
        LetterState::default().retried("ann".to_owned(), RETRY, 3, AT)
    }

    #[test]
    fn only_its_own_retry_settles_a_letter() {
        assert_eq!(retrying().settled(OTHER, true, AT), None);
        assert_eq!(LetterState::default().settled(RETRY, true, AT), None);
        let resolved = retrying().settled(RETRY, true, AT).unwrap();
        assert_eq!(resolved.resolved, Some((AT, "ann".to_owned())));
        assert_eq!(resolved.resolved_by(), Some(RETRY));
        let again = retrying().settled(RETRY, false, AT).unwrap();
        assert_eq!(
            (again.status, again.resolved_by()),
            (LetterStatus::Pending, None)
        );
        assert!(again.may_be_retried(3) && !again.may_be_retried(2));
    }

    #[test]
    fn only_a_pending_letter_is_given_up() {
        assert_eq!(retrying().resolved_by(), None);
        assert_eq!(retrying().given_up("bob".to_owned(), AT), None);
        let gone = LetterState::default().given_up("bob".to_owned(), AT);
        assert_eq!(gone.unwrap().deleted, Some((AT, "bob".to_owned())));
    }
}
