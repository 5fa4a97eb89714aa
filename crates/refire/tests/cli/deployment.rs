//! The Compose files of `deploy/`: what the guides say is in them, whole and without loose ends.

use std::collections::BTreeSet;

use refire_core::definition::source::{Content, Node};

/// The servers that share the database.
const NODES: [&str; 3] = ["node-1", "node-2", "node-3"];
/// What each of them has for itself.
const OWN: &str = "REFIRE_NODE_NAME";
/// What they must have been told, since they keep nothing over a restart.
const TOLD: [&str; 3] = [
    "REFIRE_DATABASE_URL",
    "REFIRE_ADMIN_KEY",
    "REFIRE_MASTER_KEY",
];

/// With merges and aliases expanded.
fn compose() -> Node {
    Node::parse(include_str!("../../../../deploy/compose.yaml")).unwrap()
}

/// One server on SQLite.
fn single() -> Node {
    Node::parse(include_str!("../../../../deploy/single.yaml")).unwrap()
}

fn members(node: &Node) -> Vec<(&str, &Node)> {
    match &node.content {
        Content::Mapping(members) => members
            .iter()
            .map(|(key, value)| (key.text.as_ref(), value))
            .collect(),
        other => panic!("not a mapping: {other:?}"),
    }
}

fn elements(node: &Node) -> &[Node] {
    match &node.content {
        Content::Sequence(elements) => elements,
        other => panic!("not a list: {other:?}"),
    }
}

fn text(node: &Node) -> &str {
    match &node.content {
        Content::String(text) => text,
        other => panic!("not a text: {other:?}"),
    }
}

fn find<'a>(node: &'a Node, name: &str) -> Option<&'a Node> {
    let mut members = members(node).into_iter();
    members.find(|(key, _)| *key == name).map(|(_, node)| node)
}

#[track_caller]
fn get<'a>(node: &'a Node, name: &str) -> &'a Node {
    find(node, name).unwrap_or_else(|| panic!("{name} is missing"))
}

fn names(node: &Node) -> BTreeSet<&str> {
    members(node).into_iter().map(|(name, _)| name).collect()
}

/// The settings of a node, but for its own.
fn settings<'a>(services: &'a Node, node: &str) -> Vec<(&'a str, &'a str)> {
    let environment = members(get(get(services, node), "environment"));
    let shared = environment.into_iter().filter(|(name, _)| *name != OWN);
    let mut shared: Vec<_> = shared.map(|(name, value)| (name, text(value))).collect();
    shared.sort_unstable();
    shared
}

#[test]
fn the_deployment_is_three_equal_nodes_a_database_and_a_proxy() {
    let compose = compose();
    let services = get(&compose, "services");
    let expected = BTreeSet::from(["node-1", "node-2", "node-3", "postgres", "proxy"]);
    assert_eq!(names(services), expected);
    let shared = settings(services, NODES[0]);
    for name in TOLD {
        let value = shared.iter().find(|(told, _)| *told == name);
        let (_, value) = value.unwrap_or_else(|| panic!("{name} is not set"));
        assert!(value.contains(":?"), "{name} may be forgotten: {value}");
    }
    for node in NODES {
        assert_eq!(settings(services, node), shared, "{node}");
        let service = get(services, node);
        assert_eq!(text(get(get(service, "environment"), OWN)), node);
        // Apart from that they are the same, too.
        for (name, value) in members(service) {
            let first = get(get(services, NODES[0]), name);
            assert!(name == "environment" || value.content == first.content);
        }
        let waits_for = get(get(service, "depends_on"), "postgres");
        assert_eq!(text(get(waits_for, "condition")), "service_healthy");
    }
    let health = get(get(services, "postgres"), "healthcheck");
    assert!(elements(get(health, "test")).len() > 1);
    let behind: BTreeSet<&str> = elements(get(get(services, "proxy"), "depends_on"))
        .iter()
        .map(text)
        .collect();
    assert_eq!(behind, BTreeSet::from(NODES));
    let caddy = include_str!("../../../../deploy/Caddyfile");
    for node in NODES {
        assert!(caddy.contains(&format!("{node}:7373")), "{node}");
    }
    assert!(caddy.contains("health_uri /readyz"));
    let image = include_str!("../../../../deploy/Dockerfile");
    assert!(image.contains("HEALTHCHECK") && image.contains("/readyz"));
}

/// Behind the proxy, webhooks have the proxy's address, and senders have their own.
#[test]
fn servers_know_their_proxy_and_their_public_address() {
    for (compose, servers) in [(compose(), &NODES[..]), (single(), &["refire"])] {
        let services = get(&compose, "services");
        let front = get(get(&compose, "networks"), "front");
        let subnet = &elements(get(get(front, "ipam"), "config"))[0];
        let proxy = get(services, "proxy");
        let its_networks: Vec<_> = elements(get(proxy, "networks")).iter().map(text).collect();
        assert_eq!(its_networks, ["front"]);
        let domain = text(get(get(proxy, "environment"), "REFIRE_DOMAIN"));
        for server in servers {
            let environment = get(get(services, server), "environment");
            let told = |name| text(get(environment, name));
            assert_eq!(told("REFIRE_PUBLIC_URL"), format!("https://{domain}"));
            assert_eq!(told("REFIRE_TRUSTED_PROXIES"), text(get(subnet, "subnet")));
            assert_eq!(told("REFIRE_BEHIND_PROXY"), "true");
        }
    }
}

#[test]
fn a_single_server_keeps_its_data_in_a_volume() {
    let single = single();
    let server = get(get(&single, "services"), "refire");
    let mounts: Vec<_> = elements(get(server, "volumes")).iter().map(text).collect();
    let image = include_str!("../../../../deploy/Dockerfile");
    assert!(image.contains("ENV REFIRE_DATA_DIR=/var/lib/refire "));
    assert!(mounts.contains(&"data:/var/lib/refire"), "{mounts:?}");
    let caddy = include_str!("../../../../deploy/Caddyfile.single");
    assert!(caddy.contains("reverse_proxy refire:7373"));
}

#[test]
fn every_network_and_volume_of_a_deployment_is_declared_and_used() {
    for compose in [compose(), single()] {
        declared_and_used(&compose);
    }
}

#[track_caller]
fn declared_and_used(compose: &Node) {
    let (mut networks, mut volumes) = (BTreeSet::new(), BTreeSet::new());
    for (name, service) in members(get(compose, "services")) {
        let own = elements(get(service, "networks"));
        assert!(!own.is_empty(), "{name} is in no network");
        networks.extend(own.iter().map(text));
        let mounts = find(service, "volumes").map_or(&[][..], elements);
        for mount in mounts.iter().map(text) {
            let (from, _) = mount.split_once(':').unwrap();
            // A path of the machine declares itself.
            if !from.starts_with(['.', '/']) {
                volumes.insert(from);
            }
        }
    }
    assert_eq!(networks, names(get(compose, "networks")));
    assert_eq!(volumes, names(get(compose, "volumes")));
}
