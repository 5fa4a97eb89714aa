//! Lists of executions, newest first, and counts.
//!
//! An index that begins with what is asked for is a path, which goes from newer executions to older ones. A
//! filter may need several paths: no index has all statuses. Together they have every execution that may pass,
//! and others beside them. They are walked at once, always on where the newest comes next, so a walk can stop
//! anywhere and say how far it came.
//!
//! There may be several ways to find the same, each with paths of its own: by a status, or by a workflow. One that
//! comes to its end, or fills the page, is enough.
//!
//! An execution changes its status and so its path, but never its id. All paths are read as of one moment, and
//! the next moment begins behind the last execution that was looked at: none is missed in between.

mod path;

use std::collections::VecDeque;

use refire_core::id::ExecutionId;

use super::Connection;
use crate::column::{Columns, read_at};
use crate::execution::{Candidate, Verdict};
use crate::{Counted, ExecutionFilter, LIMIT_MAX, Listed, ReadError, Stretch, Summary};
use path::Path;

/// States that are loaded in one read.
const LOADED_PER_READ: usize = 250;
/// Rows of the first statement of a path, at least.
const FIRST_READ_MIN: usize = 25;
/// Each statement after the first reads so many times as much, up to the bound.
const NEXT_READ: usize = 4;
/// Rows that one statement reads at most: about ten milliseconds.
const ROWS_PER_READ: usize = 2_500;

/// Of what may be looked at, this part is for trying a way where there are others.
const TRIAL: u32 = 10;

/// A connection that lists executions.
pub(crate) trait Lists: Connection {
    /// Reads several things as they were at one moment.
    fn together<T>(
        &self,
        read: impl Future<Output = Result<T, ReadError>>,
    ) -> impl Future<Output = Result<T, ReadError>>;

    /// Whether the moment has lasted long enough: a walk goes on in another one.
    fn is_late(&self) -> bool;

    /// Loads as many of these executions as there is time for, and says how many those are: at least one.
    fn loaded(
        &self,
        ids: &[ExecutionId],
    ) -> impl Future<Output = Result<(Vec<Summary>, usize), ReadError>>;
}

/// A stretch of a list.
pub(crate) async fn list<C: Lists>(
    connection: &C,
    filter: &ExecutionFilter,
    stretch: &Stretch,
) -> Result<Listed, ReadError> {
    let limit = stretch.limit.min(LIMIT_MAX) as usize;
    if limit == 0 {
        return Ok(Listed::default());
    }
    let page = || Page {
        rows: Vec::new(),
        limit,
    };
    let found = find(connection, filter, (stretch.before, stretch.looks), page).await?;
    Ok(Listed {
        rows: found.into.rows,
        searched_to: found.searched_to,
    })
}

/// How many executions pass.
pub(crate) async fn count<C: Lists>(
    connection: &C,
    filter: &ExecutionFilter,
    up_to: u32,
) -> Result<Counted, ReadError> {
    let tally = || Tally {
        counted: Counted::default(),
        left: up_to,
    };
    let found = find(connection, filter, (None, up_to.saturating_add(1)), tally).await?;
    Ok(Counted {
        is_exact: found.is_all,
        searched_to: found.searched_to,
        ..found.into.counted
    })
}

/// What becomes of executions that pass.
trait Sink: Send {
    /// Whether all their states are wanted, or only those that must be asked.
    const WANTS_STATES: bool;

    /// How many are expected.
    fn expected(&self) -> usize;

    /// Takes one, with its state if that was read; false = there are enough.
    fn take(&mut self, row: &Candidate, summary: Option<Summary>) -> bool;
}

struct Page {
    rows: Vec<Summary>,
    limit: usize,
}

impl Sink for Page {
    const WANTS_STATES: bool = true;

    fn expected(&self) -> usize {
        self.limit
    }

    fn take(&mut self, _: &Candidate, summary: Option<Summary>) -> bool {
        self.rows.extend(summary);
        self.rows.len() < self.limit
    }
}

struct Tally {
    counted: Counted,
    left: u32,
}

impl Sink for Tally {
    const WANTS_STATES: bool = false;

    fn expected(&self) -> usize {
        ROWS_PER_READ
    }

    fn take(&mut self, row: &Candidate, _: Option<Summary>) -> bool {
        let rest = self.left.checked_sub(1);
        if let Some(rest) = rest {
            self.left = rest;
            self.counted.add(row.status);
        }
        rest.is_some()
    }
}

/// What a search has come to.
struct Found<T> {
    into: T,
    /// Whether it came to the end.
    is_all: bool,
    searched_to: Option<ExecutionId>,
}

/// Searches from an id on, and looks at so many. Where there are several ways, each is tried, and the one that
/// comes furthest is gone on.
async fn find<C: Lists, T: Sink>(
    connection: &C,
    filter: &ExecutionFilter,
    (before, looks): (Option<ExecutionId>, u32),
    new: impl Fn() -> T,
) -> Result<Found<T>, ReadError> {
    let (from, end) = filter.range();
    let ways = path::ways(connection, filter).await?;
    let trial = match ways.len() {
        0 | 1 => looks,
        _ => (looks / TRIAL).max(1),
    };
    let mut best: Option<Walk<'_, C, T>> = None;
    for paths in &ways {
        let mut walk = Walk {
            connection,
            filter,
            paths,
            from,
            before: before.map_or(end, |before| before.min(end)),
            looks: trial,
            into: new(),
        };
        match walk.run().await? {
            End::Spent => {}
            end => return Ok(walk.found(end)),
        }
        if best.as_ref().is_none_or(|best| walk.before < best.before) {
            best = Some(walk);
        }
    }
    match best {
        None => Ok(Found {
            into: new(),
            is_all: true,
            searched_to: None,
        }),
        Some(mut walk) => {
            walk.looks = looks.saturating_sub(trial);
            let end = walk.run().await?;
            Ok(walk.found(end))
        }
    }
}

/// Why a walk is over.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum End {
    /// There is nothing more.
    Through,
    /// There is enough.
    Full,
    /// Too much was looked at.
    Spent,
    /// The moment is over; the walk goes on.
    Late,
}

struct Walk<'a, C, T> {
    connection: &'a C,
    filter: &'a ExecutionFilter,
    paths: &'a [Path],
    /// The first id of the range.
    from: ExecutionId,
    /// The last one that was looked at.
    before: ExecutionId,
    /// Executions that may still be looked at.
    looks: u32,
    into: T,
}

impl<C: Lists, T: Sink> Walk<'_, C, T> {
    fn found(self, end: End) -> Found<T> {
        Found {
            into: self.into,
            is_all: end == End::Through,
            searched_to: (end == End::Spent).then_some(self.before),
        }
    }

    async fn run(&mut self) -> Result<End, ReadError> {
        let connection = self.connection;
        while self.looks > 0 {
            match connection.together(self.moment()).await? {
                End::Late => {}
                end => return Ok(end),
            }
        }
        Ok(End::Spent)
    }

    /// Walks on, as of one moment.
    async fn moment(&mut self) -> Result<End, ReadError> {
        let (before, expected) = (self.before, self.into.expected());
        let lanes = self.paths.iter();
        let mut lanes: Vec<Lane<'_>> = lanes
            .map(|path| Lane::new(path, before, expected))
            .collect();
        let together = expected.min(LOADED_PER_READ);
        let mut group: Vec<(Candidate, Verdict)> = Vec::new();
        loop {
            let next = match self.looks {
                0 => None,
                _ => newest(self.connection, &mut lanes, self.from).await?,
            };
            let is_over = next.is_none() || self.connection.is_late();
            if let Some(row) = &next {
                (self.looks, self.before) = (self.looks - 1, row.id);
                match self.filter.judge(row) {
                    Verdict::Fails => {}
                    Verdict::Passes if !T::WANTS_STATES => {
                        if !self.into.take(row, None) {
                            return Ok(End::Full);
                        }
                    }
                    verdict => group.push((row.clone(), verdict)),
                }
            }
            if (group.len() >= together || (is_over && !group.is_empty()))
                && let Some(end) = self.show(&mut group).await?
            {
                return Ok(end);
            }
            match next {
                None if self.looks == 0 => return Ok(End::Spent),
                None => return Ok(End::Through),
                Some(_) if is_over => return Ok(End::Late),
                Some(_) => {}
            }
        }
    }

    /// Loads the states of a group and shows those that pass.
    async fn show(
        &mut self,
        group: &mut Vec<(Candidate, Verdict)>,
    ) -> Result<Option<End>, ReadError> {
        let ids: Vec<ExecutionId> = group.iter().map(|(row, _)| row.id).collect();
        let (summaries, loaded) = self.connection.loaded(&ids).await?;
        let mut summaries = summaries.into_iter().peekable();
        for (row, verdict) in group.drain(..).take(loaded) {
            let Some(summary) = summaries.next_if(|summary| summary.id == row.id) else {
                continue;
            };
            let passes = verdict == Verdict::Passes || self.filter.passes(&summary.state);
            if passes && !self.into.take(&row, Some(summary)) {
                return Ok(Some(End::Full));
            }
        }
        if loaded < ids.len() {
            self.before = ids[..loaded].last().copied().unwrap_or(self.before);
            return Ok(Some(End::Late));
        }
        Ok(None)
    }
}

/// A path as far as it was read.
struct Lane<'a> {
    path: &'a Path,
    ready: VecDeque<Candidate>,
    before: ExecutionId,
    size: usize,
    is_over: bool,
}

impl<'a> Lane<'a> {
    fn new(path: &'a Path, before: ExecutionId, expected: usize) -> Self {
        Self {
            path,
            ready: VecDeque::new(),
            before,
            size: expected.clamp(FIRST_READ_MIN, ROWS_PER_READ),
            is_over: false,
        }
    }

    async fn read<C: Connection>(
        &mut self,
        connection: &C,
        from: ExecutionId,
    ) -> Result<(), ReadError> {
        let query = self.path.query::<C::Of>(from, self.before, self.size);
        let ready = &mut self.ready;
        let mut see = |row: &dyn Columns| {
            ready.push_back(read_at(&row, 0)?);
            Ok(true)
        };
        let seen = connection.each(query, &mut see).await?;
        self.is_over = seen < self.size;
        self.before = self.ready.back().map_or(self.before, |row| row.id);
        self.size = (self.size * NEXT_READ).min(ROWS_PER_READ);
        Ok(())
    }
}

/// The newest execution of all lanes, which is in none of them afterwards.
async fn newest<C: Connection>(
    connection: &C,
    lanes: &mut [Lane<'_>],
    from: ExecutionId,
) -> Result<Option<Candidate>, ReadError> {
    for lane in lanes.iter_mut() {
        if lane.ready.is_empty() && !lane.is_over {
            lane.read(connection, from).await?;
        }
    }
    let first = lanes.iter().filter_map(|lane| lane.ready.front());
    let Some(id) = first.map(|row| row.id).max() else {
        return Ok(None);
    };
    let is_it = |row: &mut Candidate| row.id == id;
    let found = lanes.iter_mut().map(|lane| lane.ready.pop_front_if(is_it));
    Ok(found.flatten().last())
}
