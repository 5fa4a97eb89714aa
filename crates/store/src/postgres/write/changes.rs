//! What a decision changes in the work of its execution, as a whole: the order of changes disappears
//! where that is possible, so that many executions can change theirs in one statement.

use std::collections::BTreeMap;

use refire_core::id::ExecutionId;

use crate::{WorkChange, WorkRow};

/// Changes whose order does not matter any more.
#[derive(Debug, Default, PartialEq)]
pub(super) struct Changes<'a> {
    /// Every row goes, and none is put.
    pub(super) removes_all: bool,
    /// By step: the row that is put, or that the step's row goes.
    pub(super) steps: BTreeMap<&'a str, Option<&'a WorkRow>>,
}

impl<'a> Changes<'a> {
    /// Absent where what happens depends on the rows that are there (a restoration, a pause), or
    /// where a row of another execution is named.
    pub(super) fn of(id: ExecutionId, changes: &'a [WorkChange]) -> Option<Self> {
        let mut whole = Self::default();
        for change in changes {
            match change {
                WorkChange::Put(row) if row.execution == id && !whole.removes_all => {
                    whole.steps.insert(&row.step, Some(row));
                }
                WorkChange::Remove { step } => {
                    if !whole.removes_all {
                        whole.steps.insert(step, None);
                    }
                }
                WorkChange::RemoveAll => {
                    whole.removes_all = true;
                    whole.steps.clear();
                }
                WorkChange::Put(_) | WorkChange::Restore(_) | WorkChange::RemoveUnbegun => {
                    return None;
                }
            }
        }
        Some(whole)
    }

    /// The rows that are put.
    pub(super) fn puts(&self) -> impl Iterator<Item = &'a WorkRow> {
        self.steps.values().filter_map(|row| *row)
    }

    /// The steps whose rows go.
    pub(super) fn removes(&self) -> impl Iterator<Item = &'a str> {
        let gone = self.steps.iter().filter(|(_, row)| row.is_none());
        gone.map(|(step, _)| *step)
    }
}

#[cfg(test)]
mod tests {
    use refire_core::definition::WorkflowId;

    use super::*;

    const ID: ExecutionId = ExecutionId::from_bytes([1; 16]);

    fn row(step: &str, attempt: u32) -> WorkRow {
        WorkRow {
            execution: ID,
            step: step.to_owned(),
            attempt,
            is_retry: false,
            workflow: WorkflowId::new("orders").unwrap(),
            priority: 5,
            due_at: None,
            limit_key: None,
            owner: None,
            begun: false,
            begun_at: None,
        }
    }

    fn remove(step: &str) -> WorkChange {
        WorkChange::Remove {
            step: step.to_owned(),
        }
    }

    #[test]
    fn the_last_word_about_a_step_counts() {
        let changes = [
            WorkChange::Put(row("a", 1)),
            remove("b"),
            WorkChange::Put(row("b", 1)),
            remove("a"),
            WorkChange::Put(row("b", 2)),
        ];
        let whole = Changes::of(ID, &changes).unwrap();
        assert_eq!(whole.removes().collect::<Vec<_>>(), ["a"]);
        assert_eq!(whole.puts().collect::<Vec<_>>(), [&row("b", 2)]);
    }

    #[test]
    fn removing_all_swallows_what_came_before() {
        let changes = [
            WorkChange::Put(row("a", 1)),
            WorkChange::RemoveAll,
            remove("b"),
        ];
        let whole = Changes::of(ID, &changes).unwrap();
        assert!(whole.removes_all && whole.steps.is_empty());
    }

    #[test]
    fn what_depends_on_rows_has_no_such_form() {
        let foreign = WorkRow {
            execution: ExecutionId::from_bytes([2; 16]),
            ..row("a", 1)
        };
        let lists = [
            vec![WorkChange::Restore(row("a", 1))],
            vec![WorkChange::RemoveUnbegun],
            vec![WorkChange::Put(foreign)],
            vec![WorkChange::RemoveAll, WorkChange::Put(row("a", 1))],
        ];
        for list in lists {
            assert_eq!(Changes::of(ID, &list), None, "{list:?}");
        }
    }
}
