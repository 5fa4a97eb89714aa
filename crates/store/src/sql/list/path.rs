//! The paths that a filter needs, and the statement of each.

use refire_core::definition::NAME_LENGTH_MAX;
use refire_core::execution::Status;
use refire_core::id::{ExecutionId, TriggerId};

use crate::sql::{Connection, Database, Query, all};
use crate::table::Value;
use crate::words::shown_as_running;
use crate::{ExecutionFilter, OfWorkflow, ReadError};

/// Workflows that have a path each; of more, all executions are walked over.
const WORKFLOWS_MAX: usize = 16;
/// Comes after every character of a workflow's name.
const AFTER_NAMES: char = '\u{7f}';
/// More than nodes have slots. With a bound, the rows are found before they are ordered.
const OWNED_MAX: u32 = 1_000_000;

/// A way through the executions, newest first. Each has all that are of its kind, and perhaps others.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Path {
    /// All.
    Ids,
    /// Those that were retried.
    Retried,
    /// Those of a workflow, by its key.
    Workflow(i64),
    /// Those that a trigger started.
    Trigger(TriggerId),
    /// Those whose log says so; not for the two statuses that are everybody's.
    Logged(Status),
    /// Those that have work: what is pending has.
    Working,
    /// Those whose work has begun, whatever their log says. It has an owner, and nodes own no more than
    /// they have slots.
    Begun,
    /// These.
    Given(Vec<ExecutionId>),
}

/// The ways to find what a filter asks for. Each of them is paths that together have every execution that may
/// pass. Which of them is the shortest depends on what there is; the first one mostly is.
pub(super) async fn ways<C: Connection>(
    connection: &C,
    filter: &ExecutionFilter,
) -> Result<Vec<Vec<Path>>, ReadError> {
    if let Some(ids) = &filter.ids {
        return Ok(vec![vec![Path::Given(ids.clone())]]);
    }
    if let Some(trigger) = filter.trigger {
        return Ok(vec![vec![Path::Trigger(trigger)]]);
    }
    let workflows = match filter.workflows.is_empty() {
        true => None,
        false => Some(named(connection, &filter.workflows).await?),
    };
    if workflows.as_ref().is_some_and(Vec::is_empty) {
        return Ok(Vec::new());
    }
    let mut ways = Vec::new();
    let is_rare = !filter.statuses.is_empty() && !filter.statuses.contains(&Status::Completed);
    match by_error(connection, filter).await? {
        Some(paths) => ways.push(paths),
        None if is_rare => ways.push(by_status(&filter.statuses)),
        None => {}
    }
    if filter.retried {
        ways.push(vec![Path::Retried]);
    }
    if let Some(keys) = workflows.filter(|keys| keys.len() <= WORKFLOWS_MAX) {
        ways.push(keys.into_iter().map(Path::Workflow).collect());
    }
    if ways.is_empty() {
        ways.push(vec![Path::Ids]);
    }
    Ok(ways)
}

/// The paths of a filter that asks for errors, or for a text in them: what has completed has none. None: it
/// does not, or the text is in the names of too many workflows.
async fn by_error<C: Connection>(
    connection: &C,
    filter: &ExecutionFilter,
) -> Result<Option<Vec<Path>>, ReadError> {
    let mut named = Vec::new();
    match &filter.text {
        _ if !filter.error_types.is_empty() => {}
        Some(text) => named = containing(connection, text).await?,
        None => return Ok(None),
    }
    if named.len() > WORKFLOWS_MAX {
        return Ok(None);
    }
    let is_asked = |status: &Status| {
        let all = filter.statuses.is_empty();
        *status != Status::Completed && (all || filter.statuses.contains(status))
    };
    let statuses: Vec<Status> = Status::ALL.into_iter().filter(is_asked).collect();
    let mut paths = by_status(&statuses);
    paths.extend(named.into_iter().map(Path::Workflow));
    Ok(Some(paths))
}

/// The paths of statuses, none of which is `completed`.
fn by_status(statuses: &[Status]) -> Vec<Path> {
    let mut paths = Vec::new();
    for status in Status::ALL {
        match status {
            _ if !statuses.contains(&status) => {}
            Status::Pending => paths.push(Path::Working),
            // The log itself calls so whose completed steps are being undone.
            Status::Running => paths.extend([Path::Begun, Path::Logged(status)]),
            _ => paths.push(Path::Logged(status)),
        }
    }
    paths
}

/// The keys of these workflows, or one more than can have paths.
async fn named<C: Connection>(
    connection: &C,
    workflows: &[OfWorkflow],
) -> Result<Vec<i64>, ReadError> {
    let mut query = Query::new("SELECT key FROM workflows WHERE ns = 1 AND (false");
    for workflow in workflows {
        query = match workflow {
            OfWorkflow::Named(name) => query.with("OR id = ?", name.as_str()),
            OfWorkflow::Beginning(text) => query
                .with("OR (id >= ?", text.as_str())
                .with("AND id < ?)", format!("{text}{AFTER_NAMES}").as_str()),
        };
    }
    all(
        connection,
        query.with(") LIMIT ?", WORKFLOWS_MAX as u64 + 1),
    )
    .await
}

/// The keys of the workflows whose names contain a text, or one more than can have paths.
async fn containing<C: Connection>(connection: &C, text: &str) -> Result<Vec<i64>, ReadError> {
    let text = text.to_lowercase();
    if !text.is_ascii() || text.contains('\0') || text.len() > NAME_LENGTH_MAX {
        return Ok(Vec::new());
    }
    let mut pattern = String::from("%");
    for letter in text.chars() {
        if matches!(letter, '%' | '_' | '!') {
            pattern.push('!');
        }
        pattern.push(letter);
    }
    pattern.push('%');
    let query = Query::new("SELECT key FROM workflows WHERE ns = 1")
        .with("AND lower(id) LIKE ? ESCAPE '!'", pattern.as_str())
        .with("LIMIT ?", WORKFLOWS_MAX as u64 + 1);
    all(connection, query).await
}

/// What a candidate is read from.
fn columns() -> String {
    let shown_as_running = shown_as_running();
    format!(
        "executions.id,
         (SELECT workflows.id FROM workflows WHERE workflows.key = executions.workflow),
         executions.workflow_version, executions.trigger, executions.trigger_id,
         executions.retry_count, executions.status,
         CASE WHEN executions.status {shown_as_running} THEN coalesce((SELECT true FROM work AS b
             WHERE b.execution = executions.id AND b.begun LIMIT 1), false) ELSE false END"
    )
}

impl Path {
    /// The newest of the path's executions from an id up to another.
    pub(super) fn query<D: Database>(
        &self,
        from: ExecutionId,
        before: ExecutionId,
        limit: usize,
    ) -> Query {
        let (index, condition, chosen) = match self {
            Self::Ids => ("sqlite_autoindex_executions_1", "true".to_owned(), None),
            Self::Retried => (
                "executions_retried",
                "executions.retry_count > 0".to_owned(),
                None,
            ),
            Self::Workflow(key) => {
                let chosen = Some(("workflow", Value::from(*key)));
                ("executions_by_workflow", "true".to_owned(), chosen)
            }
            Self::Trigger(id) => {
                let chosen = Some(("trigger_id", Value::from(*id)));
                let condition = "executions.trigger_id IS NOT NULL".to_owned();
                ("executions_by_trigger", condition, chosen)
            }
            Self::Logged(status) => {
                let (column, condition) = D::listed_by();
                let chosen = Some((column, Value::from(status.name())));
                ("executions_by_status", condition, chosen)
            }
            Self::Working => {
                let working = "SELECT DISTINCT execution FROM work WHERE true";
                return through_work::<D>(working, from, before, limit);
            }
            Self::Begun => {
                let along = D::along("work_owned");
                let begun = format!(
                    "SELECT DISTINCT execution FROM (SELECT execution FROM work {along}
                         WHERE owner IS NOT NULL AND begun LIMIT {OWNED_MAX}) AS begun WHERE true"
                );
                return through_work::<D>(&begun, from, before, limit);
            }
            Self::Given(ids) => return given(ids, from, before, limit),
        };
        // Range and order name all columns of one index, even those that are the same in every row:
        // a database that chooses its way by itself then has no other.
        let names = chosen.iter().map(|(name, _)| *name).chain(["id"]);
        let names: Vec<String> = names.map(|name| format!("executions.{name}")).collect();
        let (key, places) = (names.join(", "), vec!["?"; names.len()].join(", "));
        let mut query = Query::new(format!(
            "SELECT {columns} FROM executions {along} WHERE {condition}
                 AND ({key}) < ({places}) AND ({key}) >= ({places})
             ORDER BY {ordered} DESC LIMIT ?",
            columns = columns(),
            along = D::along(index),
            ordered = names.join(" DESC, "),
        ));
        for id in [before, from] {
            let chosen = chosen.iter().map(|(_, value)| value.clone());
            query.values.extend(chosen.chain([id.into()]));
        }
        query.values.push((limit as u64).into());
        query
    }
}

/// Executions by their work. `found` gives their ids, up to its conditions.
fn through_work<D: Database>(
    found: &str,
    from: ExecutionId,
    before: ExecutionId,
    limit: usize,
) -> Query {
    Query::new(format!("SELECT {} FROM ({found}", columns()))
        .with("AND execution < ?", before)
        .with("AND execution >= ?", from)
        .with("ORDER BY execution DESC LIMIT ?", limit as u64)
        .end(&format!(
            ") AS found {} ORDER BY found.execution DESC",
            D::executions_of("found.execution")
        ))
}

/// Executions that are named. Few lengths of the list, so that there are few statements.
fn given(ids: &[ExecutionId], from: ExecutionId, before: ExecutionId, limit: usize) -> Query {
    let (count, none) = (
        ids.len().next_power_of_two(),
        ExecutionId::from_bytes([0; 16]),
    );
    let padded = (0..count).map(|at| ids.get(at).copied().unwrap_or(none));
    let places = vec!["?"; count].join(", ");
    let mut query = Query::new(format!(
        "SELECT {} FROM executions WHERE executions.id IN ({places})",
        columns()
    ));
    query.values.extend(padded.map(Value::from));
    query
        .with("AND executions.id < ?", before)
        .with("AND executions.id >= ?", from)
        .with("ORDER BY executions.id DESC LIMIT ?", limit as u64)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_status_has_its_path() {
        for status in Status::ALL
            .into_iter()
            .filter(|it| *it != Status::Completed)
        {
            assert!(!by_status(&[status]).is_empty(), "{status}");
        }
        let twice = [Status::Dlq, Status::Running, Status::Dlq];
        let expected = [
            Path::Begun,
            Path::Logged(Status::Running),
            Path::Logged(Status::Dlq),
        ];
        assert_eq!(by_status(&twice), expected);
    }
}
