//! Where a request comes from, and whether it may.
//!
//! The address of the connection is all that is certain. What a header says about addresses before
//! it counts only as far as it was written by proxies that are trusted: the list is walked from the
//! right, each trusted address vouches for the one before it, and the first one that is not trusted
//! is the client. Only one header is read, which proxies are known to write: others they would hand on
//! as a client wrote them.

use std::net::{IpAddr, SocketAddr};

use ipnet::IpNet;

use super::request::Headers;
use crate::definition::{Mark, Problem};

/// The header in which proxies write the address before them: `client, proxy`.
const HEADER: &str = "x-forwarded-for";
/// Addresses of the list that are looked at, from the right.
const HOPS_MAX: usize = 32;

/// The proxies in front of the server that are trusted.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Proxies {
    /// Their networks.
    pub networks: Vec<IpNet>,
}

impl Proxies {
    /// The client's address, given that of the connection.
    #[must_use]
    pub fn client(&self, peer: IpAddr, headers: Headers<'_>) -> IpAddr {
        let mut client = peer.to_canonical();
        if !contains(&self.networks, client) {
            return client;
        }
        for hop in hops(headers).into_iter().rev().take(HOPS_MAX) {
            // What cannot be read was not written by a proxy that works; the last sure address is it.
            let Some(address) = hop else {
                break;
            };
            client = address;
            if !contains(&self.networks, client) {
                break;
            }
        }
        client
    }
}

/// The addresses in the order they were written; `None` for what is not one.
fn hops(headers: Headers<'_>) -> Vec<Option<IpAddr>> {
    let values = headers.all(HEADER);
    values
        .flat_map(|value| match std::str::from_utf8(value) {
            Ok(text) => text.split(',').map(|hop| address(hop.trim())).collect(),
            Err(_) => vec![None],
        })
        .collect()
}

/// Whether an address is in one of the networks.
#[must_use]
pub fn contains(networks: &[IpNet], address: IpAddr) -> bool {
    let address = address.to_canonical();
    networks.iter().any(|network| network.contains(&address))
}

/// An address with or without a port.
fn address(text: &str) -> Option<IpAddr> {
    let bare = text
        .strip_prefix('[')
        .and_then(|rest| rest.strip_suffix(']'));
    let address = bare
        .unwrap_or(text)
        .parse()
        .or_else(|_| text.parse::<SocketAddr>().map(|socket| socket.ip()));
    address.ok().map(|address: IpAddr| address.to_canonical())
}

/// One entry of a list of networks: an address, or a network without bits behind its prefix. One
/// that is written as IPv4-mapped IPv6 becomes the IPv4 one, because addresses are compared in that
/// form.
///
/// # Errors
/// What is wrong with it, under an empty field.
pub fn network(entry: &str) -> Result<IpNet, Problem> {
    /// The bits in front of the IPv4 address in an IPv4-mapped one.
    const MAPPED_BITS: u8 = 96;
    let written = match entry.parse::<IpAddr>() {
        Ok(address) => IpNet::from(address),
        Err(_) => entry.parse::<IpNet>().map_err(|_| {
            let message = format!("{} is not an address", super::excerpt(entry));
            Problem::new("", Mark::NOWHERE, message)
                .with_hint("write for example 10.0.0.0/8 or 192.0.2.7")
        })?,
    };
    if written.trunc() != written {
        let message = format!("{written} has bits set after its prefix");
        let hint = format!("write {} or {}", written.trunc(), written.addr());
        return Err(Problem::new("", Mark::NOWHERE, message).with_hint(hint));
    }
    let mapped = written.prefix_len().checked_sub(MAPPED_BITS);
    Ok(match (written.addr().to_canonical(), mapped) {
        (four @ IpAddr::V4(_), Some(prefix)) if written.addr().is_ipv6() => {
            IpNet::new(four, prefix).unwrap_or(written)
        }
        _ => written,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn proxies(networks: &[&str]) -> Proxies {
        Proxies {
            networks: networks.iter().map(|one| network(one).unwrap()).collect(),
        }
    }

    fn client(proxies: &Proxies, peer: &str, headers: &[(&str, &str)]) -> String {
        let headers: Vec<(&str, &[u8])> = headers
            .iter()
            .map(|(name, value)| (*name, value.as_bytes()))
            .collect();
        proxies
            .client(peer.parse().unwrap(), Headers(&headers))
            .to_string()
    }

    #[test]
    fn only_trusted_proxies_are_believed() {
        let trusted = proxies(&["10.0.0.0/8", "2001:db8::/32"]);
        let forwarded = |value| [("X-Forwarded-For", value)];
        for (peer, value, expected) in [
            // The peer itself is not trusted, whatever it says.
            ("192.0.2.1", "203.0.113.5", "192.0.2.1"),
            ("10.0.0.1", "203.0.113.5", "203.0.113.5"),
            ("::ffff:10.0.0.1", "203.0.113.5", "203.0.113.5"),
            // What the client wrote before it stays to the left.
            ("10.0.0.1", "1.1.1.1, 203.0.113.5", "203.0.113.5"),
            ("10.0.0.1", "1.1.1.1,203.0.113.5,10.9.9.9", "203.0.113.5"),
            ("10.0.0.1", "203.0.113.5:4711", "203.0.113.5"),
            ("10.0.0.1", "[2001:db9::1]:443", "2001:db9::1"),
            ("10.0.0.1", "2001:db9::1", "2001:db9::1"),
            ("10.0.0.1", "::ffff:203.0.113.5", "203.0.113.5"),
            ("2001:db8::7", "203.0.113.5", "203.0.113.5"),
            // All are trusted: the first of them is where it began.
            ("10.0.0.1", "10.0.0.3, 10.0.0.2", "10.0.0.3"),
            ("10.0.0.1", "1.1.1.1, unknown, 10.0.0.2", "10.0.0.2"),
            ("10.0.0.1", "", "10.0.0.1"),
            ("10.0.0.1", "1.1.1.1,", "10.0.0.1"),
        ] {
            assert_eq!(
                client(&trusted, peer, &forwarded(value)),
                expected,
                "{peer} {value}"
            );
        }
        // Several lines are one list.
        let lines = [
            ("x-forwarded-for", "1.1.1.1"),
            ("X-Forwarded-For", "203.0.113.5"),
        ];
        assert_eq!(client(&trusted, "10.0.0.1", &lines), "203.0.113.5");
        let other = [("Forwarded", "for=203.0.113.5")];
        assert_eq!(client(&trusted, "10.0.0.1", &other), "10.0.0.1");
        let nobody = Proxies::default();
        assert_eq!(
            client(&nobody, "10.0.0.1", &forwarded("1.1.1.1")),
            "10.0.0.1"
        );
        // A list without an end is not walked to its end.
        let long = format!("1.1.1.1{}", ", 10.0.0.1".repeat(1_000));
        assert_eq!(client(&trusted, "10.0.0.1", &forwarded(&long)), "10.0.0.1");
    }

    #[test]
    fn a_network_is_read_or_the_reason_is_said() {
        for (entry, expected) in [
            ("10.0.0.0/8", "10.0.0.0/8"),
            ("192.0.2.7", "192.0.2.7/32"),
            ("::1", "::1/128"),
            ("0.0.0.0/0", "0.0.0.0/0"),
            ("::ffff:10.0.0.0/104", "10.0.0.0/8"),
            ("::ffff:10.0.0.1", "10.0.0.1/32"),
        ] {
            assert_eq!(network(entry).unwrap().to_string(), expected);
        }
        for (entry, expected) in [
            ("10.0.0.1/8", "write 10.0.0.0/8 or 10.0.0.1"),
            ("10.0.0.0/33", "is not an address"),
            ("example.com", "is not an address"),
            ("", "is not an address"),
        ] {
            let said = network(entry).expect_err(entry).to_string();
            assert!(said.contains(expected), "{entry}: {said}");
        }
        let allowed = [network("10.0.0.0/8").unwrap()];
        assert!(contains(&allowed, "::ffff:10.1.2.3".parse().unwrap()));
        assert!(!contains(&allowed, "11.0.0.0".parse().unwrap()));
    }
}
