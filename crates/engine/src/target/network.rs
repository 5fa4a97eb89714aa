//! The networks that are not the public internet, and the forms in which one address hides in
//! another. Pure tables: nothing here knows what a user allowed.

use std::fmt;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use ipnet::{Ipv4Net, Ipv6Net};

/// Why an address is not an ordinary public one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Network {
    /// Answers with the machine's credentials on some cloud.
    Metadata,
    /// This machine.
    Loopback,
    /// RFC 1918, or a unique local address of IPv6.
    Private,
    /// Valid on one cable only.
    LinkLocal,
    /// Between a provider and its customers (100.64.0.0/10).
    Shared,
    /// Reaches everybody on the cable.
    Broadcast,
    /// Reaches a group.
    Multicast,
    /// Only for examples.
    Documentation,
    /// Only for measuring devices.
    Benchmark,
    /// Carries an IPv4 address into a tunnel or a translator.
    Translation,
    /// Set aside by the standards for anything else.
    Reserved,
}

impl fmt::Display for Network {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Metadata => "is a cloud metadata address",
            Self::Loopback => "is a loopback address",
            Self::Private => "is inside a private network",
            Self::LinkLocal => "is a link-local address",
            Self::Shared => "is inside a provider's shared network",
            Self::Broadcast => "is a broadcast address",
            Self::Multicast => "is a multicast address",
            Self::Documentation => "is inside a network for documentation",
            Self::Benchmark => "is inside a network for benchmarks",
            Self::Translation => "is inside a network of tunnels or translators",
            Self::Reserved => "is inside a reserved network",
        })
    }
}

const fn v4(a: u8, b: u8, c: u8, d: u8, prefix: u8) -> Ipv4Net {
    Ipv4Net::new_assert(Ipv4Addr::new(a, b, c, d), prefix)
}

const fn v6(a: u16, b: u16, c: u16, d: u16, prefix: u8) -> Ipv6Net {
    Ipv6Net::new_assert(Ipv6Addr::new(a, b, c, d, 0, 0, 0, 0), prefix)
}

/// The first row that holds the address names it, so single addresses come before networks.
const V4: [(Ipv4Net, Network); 21] = [
    (v4(169, 254, 169, 254, 32), Network::Metadata),
    (v4(169, 254, 170, 2, 32), Network::Metadata),
    (v4(100, 100, 100, 200, 32), Network::Metadata),
    // A public address by its number, yet it answers only inside Azure.
    (v4(168, 63, 129, 16, 32), Network::Metadata),
    (v4(255, 255, 255, 255, 32), Network::Broadcast),
    (v4(0, 0, 0, 0, 8), Network::Reserved),
    (v4(10, 0, 0, 0, 8), Network::Private),
    (v4(100, 64, 0, 0, 10), Network::Shared),
    (v4(127, 0, 0, 0, 8), Network::Loopback),
    (v4(169, 254, 0, 0, 16), Network::LinkLocal),
    (v4(172, 16, 0, 0, 12), Network::Private),
    (v4(192, 0, 0, 0, 24), Network::Reserved),
    (v4(192, 0, 2, 0, 24), Network::Documentation),
    (v4(192, 88, 99, 0, 24), Network::Translation),
    (v4(192, 168, 0, 0, 16), Network::Private),
    (v4(198, 18, 0, 0, 15), Network::Benchmark),
    (v4(198, 51, 100, 0, 24), Network::Documentation),
    (v4(203, 0, 113, 0, 24), Network::Documentation),
    (v4(233, 252, 0, 0, 24), Network::Documentation),
    (v4(224, 0, 0, 0, 4), Network::Multicast),
    (v4(240, 0, 0, 0, 4), Network::Reserved),
];

/// As [`V4`]. The first 96 bits zero are the old "IPv4-compatible" form and hold `::` and `::1`.
const V6: [(Ipv6Net, Network); 20] = [
    (
        Ipv6Net::new_assert(Ipv6Addr::LOCALHOST, 128),
        Network::Loopback,
    ),
    (
        Ipv6Net::new_assert(Ipv6Addr::new(0xfd00, 0xec2, 0, 0, 0, 0, 0, 0x254), 128),
        METADATA,
    ),
    (
        Ipv6Net::new_assert(Ipv6Addr::new(0xfd20, 0xce, 0, 0, 0, 0, 0, 0x254), 128),
        METADATA,
    ),
    (
        Ipv6Net::new_assert(Ipv6Addr::UNSPECIFIED, 96),
        Network::Reserved,
    ),
    // ::ffff:0:a.b.c.d, the form of stateless translators.
    (
        Ipv6Net::new_assert(Ipv6Addr::new(0, 0, 0, 0, 0xffff, 0, 0, 0), 96),
        Network::Translation,
    ),
    // The well-known NAT64 prefix is decoded by `canonical`; its local sibling may hold the IPv4
    // address at several places, so no part of it can be trusted.
    (v6(0x64, 0xff9b, 1, 0, 48), Network::Translation),
    (v6(0x100, 0, 0, 0, 64), Network::Reserved),
    (v6(0x100, 0, 0, 1, 64), Network::Reserved),
    (v6(0x2001, 0, 0, 0, 32), Network::Translation),
    (v6(0x2001, 2, 0, 0, 48), Network::Benchmark),
    (v6(0x2001, 0, 0, 0, 23), Network::Reserved),
    (v6(0x2001, 0xdb8, 0, 0, 32), Network::Documentation),
    (v6(0x2002, 0, 0, 0, 16), Network::Translation),
    (v6(0x3fff, 0, 0, 0, 20), Network::Documentation),
    // Segment routing identifiers.
    (v6(0x5f00, 0, 0, 0, 16), Network::Reserved),
    (v6(0xfc00, 0, 0, 0, 7), Network::Private),
    (v6(0xfe80, 0, 0, 0, 10), Network::LinkLocal),
    (v6(0xfec0, 0, 0, 0, 10), Network::Private),
    (v6(0xff00, 0, 0, 0, 8), Network::Multicast),
    // 6bone, returned to the registry and never to be used again.
    (v6(0x3ffe, 0, 0, 0, 16), Network::Reserved),
];

const METADATA: Network = Network::Metadata;

/// All of the public internet is in here; the rest of IPv6 is not handed out.
const V6_GLOBAL: Ipv6Net = v6(0x2000, 0, 0, 0, 3);

/// The well-known prefix under which translators present the IPv4 internet (RFC 6052).
const NAT64: Ipv6Net = v6(0x64, 0xff9b, 0, 0, 96);

/// The address that a connection really goes to: the IPv4 address inside an IPv4-mapped or
/// NAT64 address, otherwise the address itself.
pub(super) fn canonical(address: IpAddr) -> IpAddr {
    match address {
        IpAddr::V6(six) if NAT64.contains(&six) => {
            let [.., a, b, c, d] = six.octets();
            IpAddr::V4(Ipv4Addr::new(a, b, c, d))
        }
        other => other.to_canonical(),
    }
}

/// The special network that holds an address in its canonical form; `None` for a public one.
pub(super) fn special(address: IpAddr) -> Option<Network> {
    match address {
        IpAddr::V4(four) => V4
            .iter()
            .find(|(network, _)| network.contains(&four))
            .map(|(_, name)| *name),
        IpAddr::V6(six) => {
            let named = V6.iter().find(|(network, _)| network.contains(&six));
            let unnamed = (!V6_GLOBAL.contains(&six)).then_some(Network::Reserved);
            named.map(|(_, name)| *name).or(unnamed)
        }
    }
}
