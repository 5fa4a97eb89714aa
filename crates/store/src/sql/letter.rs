//! Walks over dead letters that pass a filter, newest first, and their overview: from counters where they
//! know the answer, else by walking.
//!
//! Workflow, error type and status choose a range of an index. What no index knows is looked at row
//! by row, one statement after the other.

use refire_core::dead_letter::LetterStatus;
use refire_core::id::DlqId;
use refire_core::time::Timestamp;

use super::{Connection, Database, Query, all, workflow_key};
use crate::column::{Columns, Named, read_at};
use crate::letter::{Found, Search, Tally, first_id_at, ids_in};
use crate::table::Value;
use crate::{LIMIT_MAX, LetterFilter, ReadError, RetryRow};

/// Rows of the first statement of a walk, as a multiple of the letters that are wanted: most filters let
/// most rows pass.
const FIRST_READ: usize = 2;
/// Each statement after the first reads so many times as much, up to the bound.
const NEXT_READ: usize = 4;
/// Rows that one statement reads at most: a few tens of milliseconds.
const ROWS_PER_READ: usize = 20_000;
/// The same of rows with words: a few megabytes.
const WORDY_ROWS_PER_READ: usize = 2_000;

/// The last retries of a letter by people, oldest first.
pub(crate) async fn letter_retries(
    database: &impl Database,
    letter: DlqId,
    limit: u32,
) -> Result<Vec<RetryRow>, ReadError> {
    let columns = RetryRow::COLUMNS;
    let query = Query::new(format!("SELECT {columns} FROM dead_letter_retries"))
        .with("WHERE letter = ?", letter)
        .page("retried_at DESC, execution DESC", limit);
    let mut retries: Vec<RetryRow> = database.rows(query).await?;
    retries.reverse();
    Ok(retries)
}

/// How many letters failed since then, counted up to so many.
pub(crate) async fn letters_since(
    database: &impl Database,
    from: Timestamp,
    max: u32,
) -> Result<u64, ReadError> {
    let query = Query::new("SELECT count(*) FROM (SELECT 1 FROM dead_letter_queue")
        .with("WHERE id >= ?", first_id_at(from))
        .with("LIMIT ?) AS such", max);
    Ok(database.row(query).await?.unwrap_or(0))
}

/// How many pending letters of calls to a target there are, counted up to so many.
pub(crate) async fn letters_of_target<D: Database>(
    database: &D,
    target: &str,
    from: Option<Timestamp>,
    max: u32,
) -> Result<u64, ReadError> {
    let along = D::along("dlq_by_target");
    let query = Query::new(format!(
        "SELECT count(*) FROM (SELECT 1 FROM dead_letter_queue {along} WHERE true"
    ))
    .with("AND target = ?", target)
    .with("AND status = ?", LetterStatus::Pending.name())
    .and("id >= ?", from.map(first_id_at))
    .with("LIMIT ?) AS such", max);
    Ok(database.row(query).await?.unwrap_or(0))
}

/// The newest letters that pass the filter.
pub(crate) async fn find_letters<C: Connection>(
    connection: &C,
    filter: &LetterFilter,
    before: Option<DlqId>,
    limit: u32,
) -> Result<Vec<DlqId>, ReadError> {
    let limit = limit.min(LIMIT_MAX) as usize;
    let mut ids: Vec<DlqId> = Vec::new();
    for scan in Scan::of(connection, filter, before).await? {
        let mut missing = limit;
        if missing > 0 {
            scan.run(limit, |found| {
                ids.push(found.id);
                missing -= 1;
                missing > 0
            })
            .await?;
        }
    }
    ids.sort_unstable_by(|a, b| b.cmp(a));
    ids.truncate(limit);
    Ok(ids)
}

/// Counts letters by walking over them.
pub(crate) async fn tally_letters<C: Connection>(
    connection: &C,
    filter: &LetterFilter,
) -> Result<Tally, ReadError> {
    let mut tally = Tally::default();
    for scan in Scan::of(connection, filter, None).await? {
        scan.run(usize::MAX, |found| {
            tally.widen(found.failed_at);
            tally.add(found.workflow, found.error_type, found.error_code, 1);
            true
        })
        .await?;
    }
    Ok(tally)
}

/// Adds up the counters of letters. All statements are to see one moment.
pub(crate) async fn count_letters<C: Connection>(
    connection: &C,
    filter: &LetterFilter,
) -> Result<Tally, ReadError> {
    let mut tally = Tally::default();
    let scans = Scan::of(connection, filter, None).await?;
    if scans.is_empty() {
        return Ok(tally);
    }
    // A counter may be spread over several rows, and only their sum means anything.
    let query = Query::new(
        "SELECT workflows.id, counts.error_type, counts.error_code, CAST(sum(counts.n) AS bigint)
         FROM dlq_counts AS counts JOIN workflows ON workflows.key = counts.workflow WHERE true",
    )
    .and(
        "workflows.id = ?",
        filter.workflow.as_ref().map(|id| id.as_str()),
    )
    .and_in("counts.error_type", Search::error_types(filter))
    .and_in("counts.status", filter.statuses.iter().map(|it| it.name()))
    .end("GROUP BY workflows.id, counts.error_type, counts.error_code HAVING sum(counts.n) > 0");
    for (workflow, error_type, (code, count)) in all(connection, query).await? {
        let (workflow, error_type, code): (String, String, String) = (workflow, error_type, code);
        tally.add(&workflow, &error_type, Some(&code), count);
    }
    if let Some(old) = filter.too_old() {
        tally.less(&tally_letters(connection, &old).await?);
    }
    for scan in scans {
        scan.ends(&mut tally).await?;
    }
    Ok(tally)
}

/// A walk over the letters with one error type and one status, or with any.
struct Scan<'a, C> {
    connection: &'a C,
    search: Search<'a>,
    /// What the letters have in common, in the order of the index.
    chosen: Vec<(&'static str, Value)>,
    index: &'static str,
}

impl<'a, C: Connection> Scan<'a, C> {
    /// The walks that a filter needs.
    async fn of(
        connection: &'a C,
        filter: &'a LetterFilter,
        before: Option<DlqId>,
    ) -> Result<Vec<Self>, ReadError> {
        let Some(workflow) = workflow_key(connection, filter.workflow.as_ref()).await? else {
            return Ok(Vec::new());
        };
        let scan = |(error_type, status): (Option<&'static str>, Option<LetterStatus>)| Self {
            connection,
            search: Search::new(filter, before),
            index: match (workflow, error_type, status) {
                _ if Self::is_by_target(filter) => "dlq_by_target",
                (Some(_), Some(_), _) => "dlq_by_workflow_error",
                (Some(_), None, _) => "dlq_by_workflow",
                (None, Some(_), _) => "dlq_by_error",
                (None, None, Some(_)) => "dlq_by_status",
                (None, None, None) => "sqlite_autoindex_dead_letter_queue_1",
            },
            chosen: [
                (Self::is_by_target(filter)
                    .then_some(filter.target.as_deref())
                    .flatten())
                .map(|target| ("dlq.target", Value::from(target))),
                workflow.map(|key| ("dlq.workflow", Value::from(key))),
                error_type.map(|name| ("dlq.error_type", Value::from(name))),
                status.map(|status| ("dlq.status", Value::from(status.name()))),
            ]
            .into_iter()
            .flatten()
            .collect(),
        };
        Ok(Search::walks(filter).into_iter().map(scan).collect())
    }

    /// Whether the target chooses the range: nothing else that an index begins with does.
    fn is_by_target(filter: &LetterFilter) -> bool {
        filter.target.is_some() && filter.workflow.is_none() && filter.error_types.is_empty()
    }

    /// Shows every letter that passes, until `see` says that it has enough. `expected` is how many
    /// letters it will probably want.
    async fn run(
        &self,
        expected: usize,
        mut see: impl FnMut(Found<'_>) -> bool + Send,
    ) -> Result<(), ReadError> {
        let search = &self.search;
        let most = match search.has_text() {
            true => WORDY_ROWS_PER_READ,
            false => ROWS_PER_READ,
        };
        let mut size = expected.saturating_mul(FIRST_READ).clamp(1, most);
        let (mut before, mut is_enough) = (search.before, false);
        loop {
            let query = self.query((search.from, before), "DESC", size as u64);
            let mut show = |row: &dyn Columns| {
                before = read_at(&row, 0)?;
                is_enough = search.found(&row)?.is_some_and(|found| !see(found));
                Ok(!is_enough)
            };
            let seen = self.connection.each(query, &mut show).await?;
            if is_enough || seen < size {
                return Ok(());
            }
            size = size.saturating_mul(NEXT_READ).min(most);
        }
    }

    /// Tells the tally times among which are those when the oldest and the newest of the walk failed,
    /// from the ends of its range. Only for filters that an index answers: nothing else is looked at.
    async fn ends(&self, tally: &mut Tally) -> Result<(), ReadError> {
        for order in ["ASC", "DESC"] {
            let range = (self.search.from, self.search.before);
            let end: Vec<DlqId> = all(self.connection, self.query(range, order, 1)).await?;
            if let Some(end) = end.first() {
                // The ids of one millisecond do not say which of its letters was first.
                let together = self.query(ids_in(end.unix_ms()), "ASC", u64::MAX);
                let times: Vec<(DlqId, Timestamp)> = all(self.connection, together).await?;
                times.into_iter().for_each(|(_, at)| tally.widen(at));
            }
        }
        Ok(())
    }

    /// Rows of a range from an id up to another, whatever else the filter says.
    fn query(&self, (from, before): (DlqId, DlqId), order: &str, limit: u64) -> Query {
        // Range and order name all columns of one index, even those that are the same in every row:
        // a database that chooses its way by itself then has no other.
        let names = self.chosen.iter().map(|(name, _)| *name).chain(["dlq.id"]);
        let names: Vec<&str> = names.collect();
        let (key, places) = (names.join(", "), vec!["?"; names.len()].join(", "));
        let ordered = names.join(&format!(" {order}, "));
        let mut query = Query::new(format!(
            "SELECT {} FROM dead_letter_queue AS dlq {}
             WHERE ({key}) < ({places}) AND ({key}) >= ({places})
             ORDER BY {ordered} {order} LIMIT ?",
            self.search.columns(),
            C::Of::along(self.index),
        ));
        for id in [before, from] {
            let chosen = self.chosen.iter().map(|(_, value)| value.clone());
            query.values.extend(chosen.chain([id.into()]));
        }
        query.values.push(limit.into());
        query
    }
}
