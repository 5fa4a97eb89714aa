//! Core's words inside statements. A statement that is to go along a partial index must name the
//! index's word itself, and one that is prepared once is written once: those words are here, and
//! nowhere else in the backends. All others are parameters, or made by [`in_words`].

/// Requests that are in their trigger's ring.
macro_rules! in_ring {
    () => {
        "webhook_requests.status <> 'triggered'"
    };
}
/// Requests that started an execution.
macro_rules! accepted {
    () => {
        "webhook_requests.status = 'triggered'"
    };
}
/// What a status is compared with to find what is paused.
macro_rules! is_paused {
    () => {
        " = 'paused'"
    };
}
pub(crate) use {accepted, in_ring, is_paused};

use refire_core::execution::Status;

use crate::execution::shown_status;

/// Statuses that are everybody's: no index of SQLite's has them.
pub(crate) const COMMON: [Status; 2] = [Status::Pending, Status::Completed];

/// These statuses, as `IN` asks for them.
pub(crate) fn in_words(statuses: impl IntoIterator<Item = Status>) -> String {
    let words = statuses.into_iter().map(|status| format!("'{status}'"));
    format!("IN ({})", words.collect::<Vec<_>>().join(", "))
}

/// What people see as running while its work has begun, whatever its log says.
pub(crate) fn shown_as_running() -> String {
    let is_shown_so = |status: &Status| shown_status(*status, true) != *status;
    in_words(Status::ALL.into_iter().filter(is_shown_so))
}

/// What is open and is found by its status: what is pending has work, and is found by that.
pub(crate) fn open_by_status() -> String {
    let is_open = |status: &Status| !status.is_terminal() && *status != Status::Pending;
    in_words(Status::ALL.into_iter().filter(is_open))
}

#[cfg(test)]
mod tests {
    use refire_core::webhook::RequestStatus;

    use super::*;

    #[test]
    fn the_words_are_cores() {
        let triggered = format!("'{}'", RequestStatus::Triggered.name());
        assert!(in_ring!().ends_with(&triggered) && accepted!().ends_with(&triggered));
        assert_eq!(is_paused!(), format!(" = '{}'", Status::Paused));
        assert_eq!(shown_as_running(), "IN ('pending', 'retrying', 'waiting')");
        let open = "IN ('running', 'retrying', 'waiting', 'paused')";
        assert_eq!(open_by_status(), open);
    }
}
