//! How often an address may try to log in: a key is not found by trying.

use std::collections::HashMap;
use std::net::{IpAddr, Ipv6Addr};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use axum::extract::FromRequestParts;
use http::request::Parts;
use tokio::time::Instant;

use crate::api::{App, Problem, webhook};

/// Attempts of one address that may fail in a minute.
const FAILED_MAX: u32 = 10;
/// How long they count.
const COUNTED_FOR: Duration = Duration::from_secs(60);
/// Addresses that are remembered; with more, all are forgotten.
const ADDRESSES_MAX: usize = 10_000;

/// Where a request comes from, as far as the proxies in front may be believed.
pub(in crate::api) struct Address(pub(super) IpAddr);

impl FromRequestParts<App> for Address {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, app: &App) -> Result<Self, Problem> {
        Ok(Self(webhook::sender(app, parts).0))
    }
}

/// What addresses have tried.
#[derive(Debug, Default)]
pub(in crate::api) struct Attempts(Mutex<HashMap<IpAddr, Tried>>);

#[derive(Debug)]
struct Tried {
    since: Instant,
    count: u32,
}

/// An attempt that counts, unless it is forgiven.
pub(super) struct Attempt<'a> {
    of: &'a Attempts,
    address: IpAddr,
}

impl Attempts {
    /// Counts an attempt, or says how long to wait. It is counted before it is looked at, so that many at
    /// once are no way around.
    pub(super) fn begin(&self, address: IpAddr) -> Result<Attempt<'_>, Duration> {
        let address = neighbourhood(address);
        let now = Instant::now();
        let mut tried = self.lock();
        if tried.len() >= ADDRESSES_MAX {
            tried.retain(|_, tried| tried.is_counted(now));
        }
        if tried.len() >= ADDRESSES_MAX {
            tried.clear();
        }
        let one = tried.entry(address).or_insert(Tried {
            since: now,
            count: 0,
        });
        if !one.is_counted(now) {
            (one.since, one.count) = (now, 0);
        }
        if one.count >= FAILED_MAX {
            return Err(COUNTED_FOR.saturating_sub(now - one.since));
        }
        one.count += 1;
        drop(tried);
        Ok(Attempt { of: self, address })
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<IpAddr, Tried>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Tried {
    fn is_counted(&self, now: Instant) -> bool {
        now - self.since < COUNTED_FOR
    }
}

impl Attempt<'_> {
    /// It was no failure.
    pub(super) fn forgive(self) {
        if let Some(tried) = self.of.lock().get_mut(&self.address) {
            tried.count = tried.count.saturating_sub(1);
        }
    }
}

/// Whoever has an address of IPv6 has a whole network of them.
fn neighbourhood(address: IpAddr) -> IpAddr {
    match address {
        IpAddr::V4(_) => address,
        IpAddr::V6(address) => {
            let [a, b, c, d, ..] = address.segments();
            Ipv6Addr::new(a, b, c, d, 0, 0, 0, 0).into()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ip(text: &str) -> IpAddr {
        text.parse().unwrap()
    }

    #[tokio::test(start_paused = true)]
    async fn ten_may_fail_in_a_minute() {
        let attempts = Attempts::default();
        let one = ip("10.0.0.1");
        for _ in 0..100 {
            attempts.begin(one).unwrap().forgive();
        }
        for _ in 0..FAILED_MAX {
            assert!(attempts.begin(one).is_ok());
        }
        tokio::time::sleep(Duration::from_secs(20)).await;
        let wait = attempts.begin(one).err().unwrap();
        assert_eq!(wait, Duration::from_secs(40));
        assert!(attempts.begin(ip("10.0.0.2")).is_ok(), "others may");
        tokio::time::sleep(wait).await;
        assert!(attempts.begin(one).is_ok());
    }

    #[tokio::test(start_paused = true)]
    async fn a_network_counts_as_one_and_memory_is_bounded() {
        let attempts = Attempts::default();
        for n in 0..FAILED_MAX {
            let address = ip(&format!("2001:db8::{n}"));
            assert!(attempts.begin(address).is_ok());
        }
        assert!(attempts.begin(ip("2001:db8::ffff")).is_err());
        assert!(attempts.begin(ip("2001:db8:0:1::1")).is_ok());
        for n in 0..30_000_u32 {
            let _ = attempts.begin(IpAddr::V4(n.into()));
        }
        assert!(attempts.lock().len() <= ADDRESSES_MAX);
    }
}
