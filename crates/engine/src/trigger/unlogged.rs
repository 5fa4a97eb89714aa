//! Requests to webhooks that no trigger's log has. Those to an address that does not exist belong to no
//! trigger; those of strangers to a disabled one would push out what its sender sends. They are counted,
//! and the server's log tells now and then how many there were: a sender may have a wrong address, that
//! of a trigger which was deleted, or a wrong secret.

use std::fmt::Display;
use std::net::IpAddr;
use std::sync::Arc;
use std::time::Duration;

use tokio::time::Instant;

use crate::lock::Mutex;

/// They are told at most this often, so that whoever guesses addresses cannot fill the log.
const TOLD_EVERY: Duration = Duration::from_secs(60);

/// See the module.
#[derive(Debug, Default)]
pub(crate) struct Unlogged {
    nowhere: Count,
    disabled: Count,
}

impl Unlogged {
    /// One came to this address, from there.
    pub(super) fn to_nowhere(&self, address: &impl Display, source: IpAddr) {
        self.nowhere.add(
            address,
            source,
            |Tally {
                 count,
                 place,
                 source,
             }| {
                tracing::warn!(
                    count, webhook = place, %source,
                    "requests to webhooks that do not exist; this is the last of them"
                );
            },
        );
    }

    /// One came to this trigger, which is disabled, from there.
    pub(super) fn to_disabled(&self, trigger: &impl Display, source: IpAddr) {
        self.disabled.add(
            trigger,
            source,
            |Tally {
                 count,
                 place,
                 source,
             }| {
                tracing::warn!(
                    count, trigger = place, %source,
                    "requests to disabled webhooks, of strangers or too many, are in no log; \
                     this is the last of them"
                );
            },
        );
    }
}

/// What is told.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Tally {
    /// How many there were since the last time.
    count: u64,
    /// Where the last of them came to.
    place: String,
    /// Where it came from.
    source: IpAddr,
}

/// Requests that are told together.
#[derive(Debug, Default, Clone)]
struct Count(Arc<Mutex<Counted>>);

#[derive(Debug, Default)]
struct Counted {
    /// What was not told yet.
    rest: Option<Tally>,
    told_at: Option<Instant>,
}

impl Counted {
    /// One more. Whether it is the first that is not told yet.
    fn add(&mut self, place: &impl Display, source: IpAddr) -> bool {
        let count = self.rest.as_ref().map_or(0, |rest| rest.count);
        self.rest = Some(Tally {
            count: count + 1,
            place: place.to_string(),
            source,
        });
        count == 0
    }

    /// When they may be told.
    fn due_at(&self) -> Instant {
        let now = Instant::now();
        self.told_at.map_or(now, |at| at + TOLD_EVERY).max(now)
    }

    fn take(&mut self) -> Option<Tally> {
        self.told_at = Some(Instant::now());
        self.rest.take()
    }
}

impl Count {
    /// One more. It is told at once, or together with others when it is time: the first of them waits.
    fn add(&self, place: &impl Display, source: IpAddr, tell: fn(Tally)) {
        let due_at = {
            let mut counted = self.0.lock();
            if !counted.add(place, source) {
                return;
            }
            counted.due_at()
        };
        let this = self.clone();
        let tell_then = async move {
            tokio::time::sleep_until(due_at).await;
            let told = this.0.lock().take();
            if let Some(told) = told {
                tell(told);
            }
        };
        tokio::spawn(tell_then);
    }
}

#[cfg(test)]
mod tests {
    use std::net::Ipv4Addr;

    use super::*;

    static TOLD: Mutex<Vec<(u64, String)>> = Mutex::new(Vec::new());

    fn told() -> Vec<(u64, String)> {
        std::mem::take(&mut *TOLD.lock())
    }

    #[tokio::test(start_paused = true)]
    async fn all_are_told_together_once_a_minute_and_the_last_ones_without_another() {
        let count = Count::default();
        let add = |place: &str| {
            count.add(&place, Ipv4Addr::LOCALHOST.into(), |told| {
                TOLD.lock().push((told.count, told.place));
            });
        };
        add("a");
        tokio::time::sleep(Duration::from_millis(1)).await;
        assert_eq!(told(), [(1, "a".to_owned())], "the first is told at once");
        for _ in 0..3 {
            add("b");
        }
        add("c");
        tokio::time::sleep(TOLD_EVERY - Duration::from_secs(1)).await;
        assert_eq!(told(), [], "not yet");
        tokio::time::sleep(Duration::from_secs(1)).await;
        assert_eq!(told(), [(4, "c".to_owned())]);
        // After a silence the next one is told at once again.
        tokio::time::sleep(TOLD_EVERY * 2).await;
        assert_eq!(told(), []);
        add("d");
        tokio::time::sleep(Duration::from_millis(1)).await;
        assert_eq!(told(), [(1, "d".to_owned())]);
    }
}
