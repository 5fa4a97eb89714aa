//! Looking for one dead letter by an id in `q`: its own, its execution's, or that of a retry.

use refire_core::id::{DlqId, ExecutionId};
use refire_store::{LetterFilter, LetterGroup, LetterRow, LetterSummary};

use crate::api::{App, Problem};

/// An id that `q` holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Wanted {
    Letter(DlqId),
    Execution(ExecutionId),
}

impl Wanted {
    /// What a text means, if it is an id as a whole.
    pub(super) fn in_text(text: &str) -> Option<Self> {
        let text = text.trim();
        let letter = || text.parse().ok().map(Self::Letter);
        let execution = || text.parse().ok().map(Self::Execution);
        letter().or_else(execution)
    }

    /// The letter that is meant, if the rest of the filter lets it through.
    pub(super) async fn find(
        self,
        app: &App,
        filter: &LetterFilter,
    ) -> Result<Option<LetterRow>, Problem> {
        let store = app.engine.store();
        let id = match self {
            Self::Letter(id) => Some(id),
            Self::Execution(id) => store.execution(id).await?.and_then(|stored| {
                let retries = || stored.state.origin.as_ref()?.lineage.letter;
                stored.state.dlq_id.or_else(retries)
            }),
        };
        let row = match id {
            Some(id) => store.letter(id).await?,
            None => None,
        };
        Ok(row.filter(|row| filter.passes(row)))
    }
}

/// The overview of at most one letter.
pub(super) fn summary(row: Option<&LetterRow>) -> LetterSummary {
    let Some(row) = row else {
        return LetterSummary::default();
    };
    LetterSummary {
        count: 1,
        oldest: Some(row.failed_at),
        newest: Some(row.failed_at),
        groups: vec![LetterGroup {
            workflow: row.workflow.clone(),
            error_type: row.failure.class.name().to_owned(),
            error_code: row.failure.code.clone(),
            count: 1,
        }],
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_whole_id_is_one() {
        let letter = DlqId::from_bytes([7; 16]);
        let execution = ExecutionId::from_bytes([7; 16]);
        assert_eq!(
            Wanted::in_text(&format!(" {letter} ")),
            Some(Wanted::Letter(letter))
        );
        assert_eq!(
            Wanted::in_text(&execution.to_string()),
            Some(Wanted::Execution(execution))
        );
        for text in ["dlq_", "exec_01", "timeout", ""] {
            assert_eq!(Wanted::in_text(text), None, "{text}");
        }
    }
}
