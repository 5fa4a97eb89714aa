//! A lock as its worker sees it: how long it lasts at least, and how often it must be renewed.

use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use tokio::time::Instant;

use crate::model;

/// A worker's hold on a task.
pub(super) struct Lock {
    /// How long the server waits for a word.
    length: Duration,
    /// How often a heartbeat is sent.
    pub(super) every: Duration,
    until: Mutex<Instant>,
}

impl Lock {
    /// The lock of a task that has just arrived. When the server locked it is not known exactly; from the first
    /// heartbeat on it is.
    pub(super) fn new(task: &model::Task, arrived: Instant) -> Self {
        let lock = Duration::from_secs(task.lock_duration_seconds.max(1));
        let interval = task.heartbeat_interval_seconds.map(Duration::from_secs);
        let misses = task.heartbeat_max_missed.unwrap_or(1).max(1);
        let silence = interval.map(|every| every.saturating_mul(misses.try_into().unwrap_or(1)));
        let length = silence.map_or(lock, |silence| silence.min(lock));
        Self {
            length,
            every: interval.map_or(lock / 3, |every| every.min(lock / 3)),
            until: Mutex::new(arrived + length),
        }
    }

    /// When it has run out, if nothing is accepted any more.
    pub(super) fn until(&self) -> Instant {
        *self.until.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Something sent then was accepted.
    pub(super) fn renew(&self, sent: Instant) {
        *self.until.lock().unwrap_or_else(PoisonError::into_inner) = sent + self.length;
    }

    /// Waits until it has run out, also if it is renewed meanwhile.
    pub(super) async fn over(&self) {
        loop {
            let until = self.until();
            tokio::time::sleep_until(until).await;
            if self.until() <= until {
                return;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lock(seconds: u64, heartbeat: Option<(u64, u64)>) -> (Duration, Duration) {
        let task = serde_json::json!({
            "id": "xt_1", "executionId": "", "workflowInstanceId": "", "workflowId": "", "stepId": "",
            "taskType": "", "priority": 5, "lockDurationSeconds": seconds,
            "heartbeatIntervalSeconds": heartbeat.map(|one| one.0),
            "heartbeatMaxMissed": heartbeat.map(|one| one.1),
            "availableAt": "", "timeoutAt": "", "status": "LOCKED", "retryCount": 0, "maxRetries": 1,
            "createdAt": "", "updatedAt": "", "version": 1,
        });
        let task = serde_json::from_value(task).expect("a task");
        let now = Instant::now();
        let lock = Lock::new(&task, now);
        (lock.every, lock.until() - now)
    }

    #[tokio::test]
    async fn the_sooner_of_a_third_and_the_interval() {
        let s = Duration::from_secs;
        for (given, every, length) in [
            (lock(300, None), s(100), s(300)),
            (lock(300, Some((60, 2))), s(60), s(120)),
            (lock(90, Some((60, 2))), s(30), s(90)),
            (lock(300, Some((60, 100))), s(60), s(300)),
            (lock(0, None), s(1) / 3, s(1)),
        ] {
            assert_eq!(given, (every, length));
        }
    }
}
