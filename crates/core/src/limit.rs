//! Every bound of an execution, with its unit in its name.

/// Steps one workflow may have.
pub const STEPS_MAX: usize = 500;
/// Events after which an execution's owner is warned.
pub const HISTORY_EVENTS_WARN: u64 = 5_000;
/// Events after which an execution is dead-lettered with the reason `history_limit`.
pub const HISTORY_EVENTS_MAX: u64 = 10_000;
/// Bytes of history after which an execution is dead-lettered with the reason `history_limit`.
pub const HISTORY_BYTES_MAX: u64 = 10 * 1024 * 1024;
/// Counted losses (the node died during the attempt) after which the reason is `node_lost`.
pub const LOSSES_MAX: u32 = 5;
/// A snapshot up to this size is written with every commit.
pub const SNAPSHOT_BYTES_EVERY_COMMIT: usize = 16 * 1024;
/// A history of no more events than this goes without a snapshot, if its values are small: it is read
/// as fast, and most executions end within it.
pub const SNAPSHOT_EVENTS_MIN: u64 = 12;
/// See [`SNAPSHOT_EVENTS_MIN`]: the bytes of values that are small.
pub const SNAPSHOT_VALUES_MAX: u64 = 4 * 1024;
/// Values of an execution that are read with its state, before a slot is free for its attempt.
pub const VALUES_BYTES_READ_AHEAD: u64 = 16 * 1024;
/// A larger snapshot is written once per this many events.
pub const SNAPSHOT_EVENTS_APART: u64 = 50;
/// Bytes of one output: what does not fit into a history cannot be kept.
pub const OUTPUT_BYTES_MAX: usize = HISTORY_BYTES_MAX as usize;
/// Bytes of a failed response that are recorded.
pub const RESPONSE_EXCERPT_BYTES_MAX: usize = 64 * 1024;
/// Bytes of an error message; longer ones are cut.
pub const MESSAGE_BYTES_MAX: usize = 2 * 1024;
/// The longest wait a target may ask for with `Retry-After`.
pub const RETRY_AFTER_MS_MAX: u64 = 3_600_000;
/// The longest wait before a retry, whatever its policy comes to: one year.
pub const RETRY_WAIT_MS_MAX: u64 = 365 * 24 * 3_600_000;
/// Pauses during one attempt that are told apart when its time is counted; of more, the oldest
/// count as one.
pub const PAUSES_KEPT_MAX: usize = 32;
/// Priorities go from 1 (first) to 10 (last).
pub const PRIORITY_DEFAULT: u8 = 5;
/// The lowest priority.
pub const PRIORITY_LAST: u8 = 10;
