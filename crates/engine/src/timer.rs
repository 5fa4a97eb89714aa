//! Timers of this node: a heap of the near ones, and a sleep until exactly the next.
//!
//! The store owns time: every timer is a row, and this is only the part of them that is due
//! within the next half minute. Losing this memory loses nothing.

use std::cmp::Reverse;
use std::collections::{BinaryHeap, HashMap};
use std::sync::Arc;
use std::time::Duration;

use refire_core::id::ExecutionId;
use refire_core::time::Timestamp;
use refire_store::WorkRow;
use tokio::sync::Notify;

use crate::clock::{Clock, until};
use crate::lock::Mutex;

/// The longest sleep: a clock that was moved is noticed at the latest then.
const SLEEP_MAX: Duration = Duration::from_secs(10);
/// Timers handed out at once.
const FIRE_MAX: usize = 1_000;

/// The near timers.
#[derive(Default)]
pub(crate) struct Timers {
    heap: Mutex<Heap>,
    earlier: Notify,
}

/// Timers by due time; may name some that are void.
type Order = BinaryHeap<Reverse<(Timestamp, ExecutionId, String, u32)>>;

#[derive(Default)]
struct Heap {
    /// Those that may be handed out ahead of their time, and those that may not: they were put off, and
    /// before then there is no place for them.
    orders: [Order; 2],
    rows: HashMap<ExecutionId, Vec<WorkRow>>,
    count: usize,
}

impl Timers {
    /// Waits for this one too.
    pub(crate) fn add(&self, row: WorkRow) {
        self.put(row, false);
    }

    /// The same, and it is not handed out ahead of its time.
    pub(crate) fn add_exact(&self, row: WorkRow) {
        self.put(row, true);
    }

    fn put(&self, row: WorkRow, is_exact: bool) {
        let Some(due) = row.due_at else { return };
        let mut heap = self.heap.lock();
        if heap.has_later(&row) {
            return;
        }
        heap.void(row.execution, Some(&row.step));
        let order = &mut heap.orders[usize::from(is_exact)];
        let is_first = first(order).is_none_or(|first| due < first);
        order.push(Reverse((due, row.execution, row.step.clone(), row.attempt)));
        heap.rows.entry(row.execution).or_default().push(row);
        heap.count += 1;
        drop(heap);
        if is_first {
            self.earlier.notify_one();
        }
    }

    /// Forgets one step's timer.
    pub(crate) fn withdraw(&self, execution: ExecutionId, step: &str) {
        self.heap.lock().void(execution, Some(step));
    }

    /// Forgets all timers of an execution and says what they were.
    pub(crate) fn hold(&self, execution: ExecutionId) -> Vec<WorkRow> {
        self.heap.lock().void(execution, None)
    }

    /// Whether an execution has any.
    pub(crate) fn has_any(&self, execution: ExecutionId) -> bool {
        self.heap.lock().rows.contains_key(&execution)
    }

    /// Whether a step has one.
    pub(crate) fn has(&self, execution: ExecutionId, step: &str) -> bool {
        let heap = self.heap.lock();
        let rows = heap.rows.get(&execution);
        rows.is_some_and(|rows| rows.iter().any(|row| row.step == step))
    }

    /// How many there are.
    pub(crate) fn len(&self) -> usize {
        self.heap.lock().count
    }

    /// Forgets everything and says what it was: the rows go back to the store.
    pub(crate) fn drain(&self) -> Vec<WorkRow> {
        let mut heap = self.heap.lock();
        heap.orders.iter_mut().for_each(Order::clear);
        heap.count = 0;
        let mut rows: Vec<WorkRow> = heap.rows.drain().flat_map(|(_, rows)| rows).collect();
        // The same rows go back in the same order, whatever the map's own is.
        rows.sort_by(|a, b| (a.execution, &a.step).cmp(&(b.execution, &b.step)));
        rows
    }

    /// Sleeps until at least one is due, or will be after `lead`, and takes those that are. The
    /// lead is asked for whenever it looks.
    pub(crate) async fn due(
        &self,
        clock: &Arc<dyn Clock>,
        lead: impl Fn() -> Duration,
    ) -> Vec<WorkRow> {
        loop {
            let lead = lead();
            let (fired, next) = self.heap.lock().take_due(clock.now(), lead);
            if !fired.is_empty() {
                return fired;
            }
            let sleep = next.map_or(SLEEP_MAX, |next| until(clock.as_ref(), next).min(SLEEP_MAX));
            tokio::select! {
                biased;
                () = self.earlier.notified() => {}
                () = clock.doze(sleep) => {}
            }
        }
    }
}

impl Heap {
    /// Whether a later attempt of the same step waits already.
    fn has_later(&self, row: &WorkRow) -> bool {
        let rows = self.rows.get(&row.execution);
        let is_later = |other: &WorkRow| other.step == row.step && other.attempt > row.attempt;
        rows.is_some_and(|rows| rows.iter().any(is_later))
    }

    fn void(&mut self, execution: ExecutionId, step: Option<&str>) -> Vec<WorkRow> {
        let Some(rows) = self.rows.get_mut(&execution) else {
            return Vec::new();
        };
        let is_void = |row: &mut WorkRow| step.is_none_or(|step| row.step == step);
        let void: Vec<WorkRow> = rows.extract_if(.., is_void).collect();
        self.count -= void.len();
        if rows.is_empty() {
            self.rows.remove(&execution);
        }
        void
    }

    /// Takes what is due, or will be after the lead, and says when to look again.
    fn take_due(&mut self, now: Timestamp, lead: Duration) -> (Vec<WorkRow>, Option<Timestamp>) {
        let mut fired = Vec::new();
        for is_exact in [true, false] {
            let until = if is_exact { now } else { now.plus(lead) };
            while fired.len() < FIRE_MAX {
                let order = &mut self.orders[usize::from(is_exact)];
                if first(order).is_none_or(|first| first > until) {
                    break;
                }
                let Some(Reverse(timer)) = order.pop() else {
                    break;
                };
                fired.extend(self.take(timer));
            }
        }
        let [ahead, exact] = &self.orders;
        let ahead = first(ahead).map(|first| first.minus(lead));
        (fired, first(exact).into_iter().chain(ahead).min())
    }

    /// A timer's row. A void or moved one is in the order still, but not among the rows.
    fn take(
        &mut self,
        (due, execution, step, attempt): (Timestamp, ExecutionId, String, u32),
    ) -> Option<WorkRow> {
        let rows = self.rows.get_mut(&execution)?;
        let is_it =
            |row: &WorkRow| row.step == step && row.attempt == attempt && row.due_at == Some(due);
        let index = rows.iter().position(is_it)?;
        let row = rows.swap_remove(index);
        self.count -= 1;
        if rows.is_empty() {
            self.rows.remove(&execution);
        }
        Some(row)
    }
}

/// When the first is due.
fn first(order: &Order) -> Option<Timestamp> {
    order.peek().map(|Reverse((due, ..))| *due)
}

#[cfg(test)]
mod tests {
    use refire_core::definition::WorkflowId;

    use super::*;

    fn row(execution: u8, step: &str, due_ms: i64) -> WorkRow {
        WorkRow {
            execution: ExecutionId::from_bytes([execution; 16]),
            step: step.to_owned(),
            attempt: 1,
            is_retry: false,
            workflow: WorkflowId::new("w").unwrap(),
            priority: 5,
            due_at: Some(Timestamp::from_millis(due_ms)),
            limit_key: None,
            owner: None,
            begun: false,
            begun_at: None,
        }
    }

    #[test]
    fn what_is_forgotten_is_said_and_never_fires() {
        let timers = Timers::default();
        for row in [row(1, "a", 10), row(1, "b", 20), row(2, "a", 15)] {
            timers.add(row);
        }
        timers.withdraw(row(1, "b", 0).execution, "b");
        assert_eq!(timers.len(), 2);
        assert_eq!(timers.hold(row(1, "", 0).execution), [row(1, "a", 10)]);
        assert!(timers.hold(row(1, "", 0).execution).is_empty());
        let (fired, next) = timers
            .heap
            .lock()
            .take_due(Timestamp::from_millis(100), Duration::ZERO);
        assert_eq!((fired, next), (vec![row(2, "a", 15)], None));
        assert_eq!(timers.len(), 0);
    }

    #[test]
    fn a_timer_that_moves_fires_once_at_its_new_time() {
        let timers = Timers::default();
        timers.add(row(1, "a", 10));
        timers.add(row(1, "a", 30));
        let due = |ms| {
            let now = Timestamp::from_millis(ms);
            timers.heap.lock().take_due(now, Duration::ZERO)
        };
        assert_eq!(due(20), (Vec::new(), Some(Timestamp::from_millis(30))));
        assert_eq!(due(30), (vec![row(1, "a", 30)], None));
    }

    #[test]
    fn ahead_of_its_time_comes_only_what_was_not_put_off() {
        let timers = Timers::default();
        timers.add(row(1, "a", 120));
        timers.add_exact(row(2, "a", 110));
        let due = |ms| {
            let now = Timestamp::from_millis(ms);
            timers.heap.lock().take_due(now, Duration::from_millis(30))
        };
        assert_eq!(due(80), (Vec::new(), Some(Timestamp::from_millis(90))));
        let next = Some(Timestamp::from_millis(110));
        assert_eq!(due(90), (vec![row(1, "a", 120)], next));
        assert_eq!(due(109), (Vec::new(), next));
        assert_eq!(due(110), (vec![row(2, "a", 110)], None));
    }
}
