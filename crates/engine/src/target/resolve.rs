//! Names become addresses here, and only checked addresses leave: the connection is made to what
//! this resolver returns, so a name cannot answer one thing to a check and another to the call.
//!
//! It never caches. A literal address in a URL does not come by here; it is checked before the
//! call.

use std::future::Future;
use std::io;
use std::net::{IpAddr, SocketAddr, ToSocketAddrs as _};
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use hyper_util::client::legacy::connect::dns::Name;
use tokio::sync::Semaphore;
use tower::Service;

use super::guard::{Guard, Refused};

/// Lookups that may run at once. Each one holds a thread of the blocking pool until the system
/// answers, also when the call it was for has long timed out.
const LOOKUPS_MAX: usize = 128;

/// The addresses of a name, on their way.
pub type Found = Pin<Box<dyn Future<Output = io::Result<Vec<IpAddr>>> + Send>>;

/// Finds the addresses of a name.
pub trait Lookup: Send + Sync {
    /// All addresses of the name, in the order in which to try them.
    fn lookup(&self, name: &str) -> Found;
}

/// The system's own resolver: the hosts file, then DNS.
#[derive(Debug)]
pub struct SystemLookup {
    running: Arc<Semaphore>,
}

impl Default for SystemLookup {
    fn default() -> Self {
        Self {
            running: Arc::new(Semaphore::new(LOOKUPS_MAX)),
        }
    }
}

impl Lookup for SystemLookup {
    fn lookup(&self, name: &str) -> Found {
        let (running, name) = (Arc::clone(&self.running), name.to_owned());
        Box::pin(async move {
            let permit = running.acquire_owned().await.map_err(io::Error::other)?;
            let blocking = tokio::task::spawn_blocking(move || {
                let _held_until_the_system_answers = permit;
                let found = (name.as_str(), 0).to_socket_addrs()?;
                Ok(found.map(|socket| socket.ip()).collect())
            });
            blocking.await.map_err(io::Error::other)?
        })
    }
}

/// Why a name has no address to connect to.
#[derive(Debug, thiserror::Error)]
pub(super) enum NoAddress {
    /// The system cannot tell.
    #[error("the lookup failed")]
    Lookup(#[source] io::Error),
    /// Some systems report this as success.
    #[error("the name has no address")]
    None,
    /// It has only addresses that may not be called.
    #[error("no address of the name may be called")]
    Refused(#[source] Refused),
}

/// What the HTTP client asks for addresses.
#[derive(Clone)]
pub(super) struct GuardedResolver {
    guard: Guard,
    lookup: Arc<dyn Lookup>,
}

impl GuardedResolver {
    pub(super) fn new(guard: Guard, lookup: Arc<dyn Lookup>) -> Self {
        Self { guard, lookup }
    }
}

/// Checked addresses.
pub(super) type Addresses = std::vec::IntoIter<SocketAddr>;

impl Service<Name> for GuardedResolver {
    type Response = Addresses;
    type Error = NoAddress;
    type Future = Pin<Box<dyn Future<Output = Result<Addresses, NoAddress>> + Send>>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), NoAddress>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, name: Name) -> Self::Future {
        let guard = self.guard.clone();
        let finding = self.lookup.lookup(name.as_str());
        Box::pin(async move {
            let found = finding.await.map_err(NoAddress::Lookup)?;
            if found.is_empty() {
                return Err(NoAddress::None);
            }
            let kept = guard.filter(name.as_str(), &found);
            let kept = kept.map_err(NoAddress::Refused)?;
            // Port 0 stands for the port of the URL.
            let sockets = kept.into_iter().map(|address| SocketAddr::new(address, 0));
            Ok(sockets.collect::<Vec<_>>().into_iter())
        })
    }
}
