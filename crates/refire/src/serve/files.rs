//! How many files the process may have open, and so how many connections it may take: what callers
//! hold must leave enough for the database and for the calls to targets.

use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

/// The database, its readers, the log, the runtime's own.
const FILES_OF_OURS: u64 = 64;
/// A call in flight, and one that is kept open for the next call.
const FILES_PER_ATTEMPT: u64 = 2;

/// Raises the limit as far as it is needed and allowed, and gives the connections that fit.
pub(super) fn connections_max(asked: usize, attempts: u32) -> usize {
    let reserve = FILES_OF_OURS + FILES_PER_ATTEMPT * u64::from(attempts);
    let limit = raise(reserve.saturating_add(asked as u64));
    let fit = fitting(asked, reserve, limit);
    if fit < asked {
        let files = limit.unwrap_or_default();
        tracing::warn!(
            connections = fit,
            files,
            "fewer connections are accepted than --max-connections allows, because of the limit \
             of open files; raise it (ulimit -n, LimitNOFILE)"
        );
    }
    fit
}

/// The limit of open files after raising it; `None` is no limit.
fn raise(needed: u64) -> Option<u64> {
    let found = getrlimit(Resource::Nofile);
    let current = found.current?;
    let wanted = needed.min(found.maximum.unwrap_or(u64::MAX));
    if wanted <= current {
        return Some(current);
    }
    let new = Rlimit {
        current: Some(wanted),
        maximum: found.maximum,
    };
    match setrlimit(Resource::Nofile, new) {
        Ok(()) => Some(wanted),
        // Some systems have a limit below the one they tell.
        Err(_) => Some(current),
    }
}

/// Where there is not enough for both, connections get half.
fn fitting(asked: usize, reserve: u64, limit: Option<u64>) -> usize {
    let Some(limit) = limit else { return asked };
    let left = limit.saturating_sub(reserve).max(limit / 2);
    asked
        .min(usize::try_from(left).unwrap_or(usize::MAX))
        .max(1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn connections_leave_room_for_the_rest() {
        assert_eq!(fitting(10_000, 576, None), 10_000);
        assert_eq!(fitting(10_000, 576, Some(20_000)), 10_000);
        assert_eq!(fitting(10_000, 576, Some(4_096)), 3_520);
        assert_eq!(fitting(10_000, 576, Some(256)), 128, "half of little");
        assert_eq!(fitting(2, 576, Some(4_096)), 2);
        assert_eq!(fitting(10_000, 576, Some(0)), 1);
    }

    #[test]
    fn what_is_enough_stays_as_it_is() {
        let before = getrlimit(Resource::Nofile);
        assert_eq!(raise(1), before.current);
        assert_eq!(getrlimit(Resource::Nofile), before);
    }
}
