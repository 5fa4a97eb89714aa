//! How much of long answers all calls together may hold at once.
//!
//! A call holds a little for nothing. Before it holds more, it takes room for all that its answer
//! may come to, and waits until there is some: what targets send must not decide how much memory
//! the process needs. One host can never take all of it. An answer keeps its room until it is
//! recorded, or until it is known that this will take a while.

use std::collections::HashMap;
use std::sync::{Arc, Weak};

use tokio::sync::{OwnedSemaphorePermit, Semaphore};

use crate::lock::Mutex;

/// What a call may hold without taking room.
pub(super) const FREE_BYTES: usize = 16 * 1024;
/// Room for all calls together.
const BYTES_MAX: usize = 16 * 1024 * 1024;
/// Room for the calls to one host; as much as the longest answer that a step may allow.
const HOST_BYTES_MAX: usize = 8 * 1024 * 1024;
/// What room is counted in.
const UNIT_BYTES: usize = 4 * 1024;
/// Hosts after which those that hold nothing are forgotten.
const HOSTS_REMEMBERED: usize = 1024;

/// The room; clones share it.
#[derive(Debug, Clone)]
pub(super) struct Room(Arc<Inner>);

#[derive(Debug)]
struct Inner {
    all: Arc<Semaphore>,
    hosts: Mutex<HashMap<String, Weak<Semaphore>>>,
}

/// Room that is taken until this is dropped.
#[derive(Debug)]
pub(crate) struct Taken {
    _of_host: Option<OwnedSemaphorePermit>,
    _of_all: Option<OwnedSemaphorePermit>,
}

impl Default for Room {
    fn default() -> Self {
        Self(Arc::new(Inner {
            all: Arc::new(Semaphore::new(BYTES_MAX / UNIT_BYTES)),
            hosts: Mutex::default(),
        }))
    }
}

impl Room {
    /// Takes room for the rest of an answer, as soon as there is some. An answer that is longer
    /// than all the room of its host gets all of it.
    pub(super) async fn take(&self, host: &str, bytes: usize) -> Taken {
        let units = bytes.min(HOST_BYTES_MAX).div_ceil(UNIT_BYTES);
        let units = u32::try_from(units).unwrap_or(u32::MAX);
        // Always in this order, so that no two calls wait for each other.
        let of_host = self.of_host(host).acquire_many_owned(units).await;
        let of_all = Arc::clone(&self.0.all).acquire_many_owned(units).await;
        // Neither is ever closed.
        Taken {
            _of_host: of_host.ok(),
            _of_all: of_all.ok(),
        }
    }

    fn of_host(&self, host: &str) -> Arc<Semaphore> {
        let mut hosts = self.0.hosts.lock();
        if let Some(known) = hosts.get(host).and_then(Weak::upgrade) {
            return known;
        }
        if hosts.len() >= HOSTS_REMEMBERED {
            hosts.retain(|_, room| room.strong_count() > 0);
        }
        let new = Arc::new(Semaphore::new(HOST_BYTES_MAX / UNIT_BYTES));
        hosts.insert(host.to_owned(), Arc::downgrade(&new));
        new
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use tokio::time::timeout;

    use super::*;

    const MIB: usize = 1024 * 1024;
    const MOMENT: Duration = Duration::from_millis(50);

    #[tokio::test(start_paused = true)]
    async fn a_host_waits_for_its_own_room_and_leaves_the_rest() {
        let room = Room::default();
        let mut held = Vec::new();
        for _ in 0..8 {
            held.push(room.take("bad", MIB).await);
        }
        assert!(timeout(MOMENT, room.take("bad", MIB)).await.is_err());
        let other = timeout(MOMENT, room.take("good", 8 * MIB)).await;
        assert!(other.is_ok(), "another host has room");
        assert!(timeout(MOMENT, room.take("third", MIB)).await.is_err());
        held.pop();
        assert!(timeout(MOMENT, room.take("third", MIB)).await.is_ok());
    }

    #[tokio::test(start_paused = true)]
    async fn an_answer_longer_than_all_room_is_let_in_alone() {
        let room = Room::default();
        let all = timeout(MOMENT, room.take("big", usize::MAX)).await;
        assert!(all.is_ok());
        assert!(timeout(MOMENT, room.take("big", 1)).await.is_err());
    }

    #[tokio::test]
    async fn hosts_that_hold_nothing_are_forgotten() {
        let room = Room::default();
        let kept = room.take("kept", 1).await;
        for number in 0..2 * HOSTS_REMEMBERED {
            drop(room.take(&number.to_string(), 1).await);
        }
        let hosts = room.0.hosts.lock();
        assert!(hosts.len() <= HOSTS_REMEMBERED + 1, "{}", hosts.len());
        assert!(hosts.contains_key("kept"));
        drop(kept);
    }
}
