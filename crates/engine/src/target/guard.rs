//! Which addresses may be called. By default only the public internet, because a workflow's URL
//! can come from a payload and this process often stands inside a network that trusts it.
//!
//! The guard looks at addresses only. It never resolves a name, never connects, and its words
//! never tell whether something listens at an address.

use std::fmt;
use std::net::IpAddr;
use std::sync::Arc;

use ipnet::IpNet;
use url::Host;

use super::network::{Network, canonical, special};

/// The setting that opens private networks, named in every refusal.
pub const ALLOW_SETTING: &str = "REFIRE_ALLOW_PRIVATE_TARGETS";

/// What may be called besides the public internet.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub enum Allow {
    /// Nothing else.
    #[default]
    Nothing,
    /// Everything.
    All,
    /// These networks.
    Networks(Vec<IpNet>),
}

/// A setting that is neither a yes, a no nor a list of networks.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error(
    "{ALLOW_SETTING}: \"{0}\" is not an address or a network; write true, false, or a list such \
     as 10.0.0.0/8,192.168.1.5,fd00::/8"
)]
pub struct AllowError(String);

impl Allow {
    /// Reads the setting: `true`, `false` (also empty), or addresses and networks with commas.
    ///
    /// # Errors
    /// Names the entry that is not an address and not a network.
    pub fn parse(text: &str) -> Result<Self, AllowError> {
        match text.trim().to_ascii_lowercase().as_str() {
            "" | "false" => return Ok(Self::Nothing),
            "true" => return Ok(Self::All),
            _ => {}
        }
        text.split(',')
            .map(|entry| network(entry.trim()).ok_or_else(|| AllowError(entry.trim().to_owned())))
            .collect::<Result<_, _>>()
            .map(Self::Networks)
    }

    /// Whether this address is among them.
    #[must_use]
    pub fn covers(&self, address: IpAddr) -> bool {
        match self {
            Self::Nothing => false,
            Self::All => true,
            Self::Networks(networks) => networks.iter().any(|network| network.contains(&address)),
        }
    }
}

/// One entry of the list. A network written as IPv4-mapped IPv6 becomes the IPv4 one, because
/// addresses are compared in that form.
fn network(entry: &str) -> Option<IpNet> {
    /// The bits in front of the IPv4 address in an IPv4-mapped one.
    const MAPPED_BITS: u8 = 96;
    let written = match entry.parse::<IpAddr>() {
        Ok(address) => IpNet::from(address),
        Err(_) => entry.parse::<IpNet>().ok()?,
    };
    match (
        written.addr().to_canonical(),
        written.prefix_len().checked_sub(MAPPED_BITS),
    ) {
        (four @ IpAddr::V4(_), Some(prefix)) if written.addr().is_ipv6() => {
            IpNet::new(four, prefix).ok()
        }
        _ => Some(written.trunc()),
    }
}

/// An address that may not be called, and why.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Refused {
    /// The name that resolved to it, if it came from a name.
    name: Option<String>,
    address: IpAddr,
    network: Network,
}

impl Refused {
    /// The address as it was given.
    #[must_use]
    pub fn address(&self) -> IpAddr {
        self.address
    }

    /// What kind of address it is.
    #[must_use]
    pub fn network(&self) -> Network {
        self.network
    }

    /// The same, as the answer for a name.
    #[must_use]
    pub(super) fn named(mut self, name: &str) -> Self {
        self.name = Some(name.to_owned());
        self
    }
}

impl fmt::Display for Refused {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(name) = &self.name {
            write!(f, "{name} resolves to ")?;
        }
        write!(f, "{}", self.address)?;
        if canonical(self.address) != self.address {
            write!(f, " ({})", canonical(self.address))?;
        }
        let which = if self.name.is_some() { ", which" } else { "" };
        write!(
            f,
            "{which} {}; to allow it, start the server with {ALLOW_SETTING}={}",
            self.network,
            canonical(self.address)
        )
    }
}

impl std::error::Error for Refused {}

/// Decides about addresses. Cheap to clone.
#[derive(Debug, Clone, Default)]
pub struct Guard {
    allow: Arc<Allow>,
}

impl Guard {
    /// A guard that lets through the public internet and what is allowed.
    #[must_use]
    pub fn new(allow: Allow) -> Self {
        Self {
            allow: Arc::new(allow),
        }
    }

    /// Whether this address may be called.
    ///
    /// # Errors
    /// Says what kind of address it is and which setting opens it.
    pub fn check(&self, address: IpAddr) -> Result<(), Refused> {
        // The form comes first: ::ffff:127.0.0.1 connects to 127.0.0.1.
        let real = canonical(address);
        match special(real) {
            Some(network) if !self.allow.covers(real) && !self.allow.covers(address) => {
                Err(Refused {
                    name: None,
                    address,
                    network,
                })
            }
            _ => Ok(()),
        }
    }

    /// Checks the host of a parsed URL if it is a literal address. A name passes here; its
    /// addresses are checked when it is resolved for the connection.
    ///
    /// # Errors
    /// As [`Guard::check`].
    pub fn check_host(&self, host: &Host<&str>) -> Result<(), Refused> {
        match *host {
            Host::Ipv4(address) => self.check(IpAddr::V4(address)),
            Host::Ipv6(address) => self.check(IpAddr::V6(address)),
            Host::Domain(_) => Ok(()),
        }
    }

    /// Keeps the addresses of a name that may be called.
    ///
    /// # Errors
    /// When there were addresses and none may be called; the first one is named.
    pub fn filter(&self, name: &str, found: &[IpAddr]) -> Result<Vec<IpAddr>, Refused> {
        let mut first_refusal = None;
        let mut kept = Vec::with_capacity(found.len());
        for address in found {
            match self.check(*address) {
                Ok(()) => kept.push(*address),
                Err(refused) => first_refusal = first_refusal.or(Some(refused)),
            }
        }
        match first_refusal {
            Some(refused) if kept.is_empty() => Err(refused.named(name)),
            _ => Ok(kept),
        }
    }
}
