//! The admin key that opens now. It may be changed while the server runs: by another process, in the
//! place from which the server had it.

use std::pin::Pin;
use std::sync::{Arc, PoisonError, RwLock};
use std::time::Duration;

use tokio::sync::Mutex;
use tokio::time::Instant;

use super::auth::AdminKey;

/// So often the key is read by itself, so that an old one ends though nobody shows the new one.
const LOOK_EVERY: Duration = Duration::from_secs(5);
/// A wrong key lets it be read no more often: anybody can send wrong keys.
const LOOK_AGAIN_AFTER: Duration = Duration::from_secs(1);
/// Nobody waits longer for it.
const LOOK_WITHIN: Duration = Duration::from_secs(2);

/// Reads the key where it is kept; none = it cannot be read now, and the known one stays.
pub(crate) type Look =
    Box<dyn Fn() -> Pin<Box<dyn Future<Output = Option<AdminKey>> + Send>> + Send + Sync>;

/// What keys are tried on.
pub(crate) struct Lock {
    key: RwLock<AdminKey>,
    look: Option<Look>,
    looked_at: Mutex<Option<Instant>>,
}

impl Lock {
    /// A key, and how it is read again if it may change.
    pub(crate) fn new(key: AdminKey, look: Option<Look>) -> Self {
        Self {
            key: RwLock::new(key),
            look,
            looked_at: Mutex::new(None),
        }
    }

    /// Whether this key opens. One that does not may be a new one, so the key is read again first.
    pub(super) async fn opens(&self, presented: &[u8]) -> bool {
        if self.is(presented) {
            return true;
        }
        self.look_again().await;
        self.is(presented)
    }

    /// Whether the key of this hash opens. What was made by another node may be newer than the key that is
    /// known here.
    pub(super) async fn is_key(&self, hash: &[u8; 32]) -> bool {
        if self.hash() == *hash {
            return true;
        }
        self.look_again().await;
        self.hash() == *hash
    }

    /// The hash of the key that opens now.
    pub(crate) fn hash(&self) -> [u8; 32] {
        *self
            .key
            .read()
            .unwrap_or_else(PoisonError::into_inner)
            .as_bytes()
    }

    fn is(&self, presented: &[u8]) -> bool {
        let key = self.key.read().unwrap_or_else(PoisonError::into_inner);
        key.is(presented)
    }

    /// Reads the key again for one that does not open, unless that was done a moment ago.
    async fn look_again(&self) {
        let Some(look) = &self.look else { return };
        // Whoever comes meanwhile waits for the same answer.
        let mut looked_at = self.looked_at.lock().await;
        if looked_at.is_some_and(|at| at.elapsed() < LOOK_AGAIN_AFTER) {
            return;
        }
        self.learn(look).await;
        *looked_at = Some(Instant::now());
    }

    async fn learn(&self, look: &Look) {
        let found = tokio::time::timeout(LOOK_WITHIN, look()).await;
        let Ok(Some(found)) = found else { return };
        let mut key = self.key.write().unwrap_or_else(PoisonError::into_inner);
        if key.as_bytes() != found.as_bytes() {
            *key = found;
            tracing::info!("the admin key was changed: the old one does not work any more");
        }
    }

    /// Reads the key from time to time.
    pub(crate) async fn watch(self: Arc<Self>) {
        while let Some(look) = &self.look {
            tokio::time::sleep(LOOK_EVERY).await;
            self.learn(look).await;
        }
    }
}

impl From<AdminKey> for Lock {
    fn from(key: AdminKey) -> Self {
        Self::new(key, None)
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicU32, Ordering};

    use super::*;

    /// A lock whose key is kept in the cell, and how often it was read.
    fn kept(cell: &Arc<RwLock<Option<AdminKey>>>) -> (Arc<Lock>, Arc<AtomicU32>) {
        let (cell, count) = (Arc::clone(cell), Arc::new(AtomicU32::new(0)));
        let counted = Arc::clone(&count);
        let look: Look = Box::new(move || {
            counted.fetch_add(1, Ordering::Relaxed);
            let found = cell.read().unwrap().clone();
            Box::pin(async move { found })
        });
        let lock = Lock::new(AdminKey::new("old"), Some(look));
        (Arc::new(lock), count)
    }

    #[tokio::test(start_paused = true)]
    async fn a_new_key_opens_at_once_and_the_old_one_no_more() {
        let cell = Arc::new(RwLock::new(None));
        let (lock, count) = kept(&cell);
        assert!(lock.opens(b"old").await);
        assert_eq!(
            count.load(Ordering::Relaxed),
            0,
            "a right key reads nothing"
        );
        assert!(!lock.opens(b"new").await);
        assert!(
            lock.opens(b"old").await,
            "what cannot be read changes nothing"
        );
        *cell.write().unwrap() = Some(AdminKey::new("new"));
        tokio::time::sleep(LOOK_AGAIN_AFTER).await;
        assert!(lock.opens(b"new").await);
        assert!(!lock.opens(b"old").await);
    }

    #[tokio::test(start_paused = true)]
    async fn wrong_keys_are_no_load() {
        let cell = Arc::new(RwLock::new(Some(AdminKey::new("old"))));
        let (lock, count) = kept(&cell);
        for _ in 0..100 {
            assert!(!lock.opens(b"wrong").await);
        }
        assert_eq!(count.load(Ordering::Relaxed), 1);
        assert!(!Lock::from(AdminKey::new("old")).opens(b"wrong").await);
    }

    #[tokio::test(start_paused = true)]
    async fn an_old_key_ends_though_nobody_shows_the_new_one() {
        let cell = Arc::new(RwLock::new(Some(AdminKey::new("new"))));
        let (lock, _) = kept(&cell);
        let watching = tokio::spawn(Arc::clone(&lock).watch());
        assert!(lock.opens(b"old").await, "nothing was read yet");
        tokio::time::sleep(LOOK_EVERY + Duration::from_millis(1)).await;
        assert!(!lock.opens(b"old").await);
        watching.abort();
    }
}
