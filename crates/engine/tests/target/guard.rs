//! The address guard: every spelling of every special address, allow lists, and names whose
//! answers change.

use std::net::IpAddr;

use refire_core::failure::ErrorClass;
use refire_engine::target::{Allow, Guard, HttpSettings, HttpTarget, Network};

use super::caller::{Scripted, get};
use crate::hostile::Hostile;

fn guard(allow: &str) -> Guard {
    Guard::new(Allow::parse(allow).unwrap())
}

fn target(allow: &str, answers: &[&[&str]]) -> HttpTarget {
    let mut settings = HttpSettings::new(guard(allow));
    settings.lookup = Scripted::new(answers);
    HttpTarget::new(settings).unwrap()
}

fn network_of(address: &str) -> Option<Network> {
    let address: IpAddr = address.parse().unwrap();
    guard("false")
        .check(address)
        .err()
        .map(|refused| refused.network())
}

#[test]
fn special_addresses_of_ipv4_are_refused_to_their_edges() {
    for (first, last, network) in [
        ("0.0.0.0", "0.255.255.255", Network::Reserved),
        ("10.0.0.0", "10.255.255.255", Network::Private),
        ("100.64.0.0", "100.127.255.255", Network::Shared),
        ("127.0.0.0", "127.255.255.255", Network::Loopback),
        ("169.254.0.0", "169.254.255.255", Network::LinkLocal),
        ("172.16.0.0", "172.31.255.255", Network::Private),
        ("192.0.0.0", "192.0.0.255", Network::Reserved),
        ("192.0.2.0", "192.0.2.255", Network::Documentation),
        ("192.88.99.0", "192.88.99.255", Network::Translation),
        ("192.168.0.0", "192.168.255.255", Network::Private),
        ("198.18.0.0", "198.19.255.255", Network::Benchmark),
        ("198.51.100.0", "198.51.100.255", Network::Documentation),
        ("203.0.113.0", "203.0.113.255", Network::Documentation),
        ("224.0.0.0", "239.255.255.255", Network::Multicast),
        ("240.0.0.0", "255.255.255.254", Network::Reserved),
        ("255.255.255.255", "255.255.255.255", Network::Broadcast),
        ("169.254.169.254", "169.254.169.254", Network::Metadata),
        ("169.254.170.2", "169.254.170.2", Network::Metadata),
        ("100.100.100.200", "100.100.100.200", Network::Metadata),
        ("168.63.129.16", "168.63.129.16", Network::Metadata),
    ] {
        assert_eq!(network_of(first), Some(network), "{first}");
        assert_eq!(network_of(last), Some(network), "{last}");
    }
    for public in [
        "1.1.1.1",
        "9.255.255.255",
        "11.0.0.0",
        "100.63.255.255",
        "100.128.0.0",
        "126.255.255.255",
        "128.0.0.0",
        "169.253.255.255",
        "169.255.0.0",
        "172.15.255.255",
        "172.32.0.0",
        "191.255.255.255",
        "192.0.1.0",
        "192.0.3.0",
        "192.167.255.255",
        "192.169.0.0",
        "198.17.255.255",
        "198.20.0.0",
        "223.255.255.255",
        "168.63.129.15",
    ] {
        assert_eq!(network_of(public), None, "{public}");
    }
}

#[test]
fn special_addresses_of_ipv6_are_refused_in_every_form() {
    for (address, network) in [
        ("::", Network::Reserved),
        ("::1", Network::Loopback),
        ("::127.0.0.1", Network::Reserved),
        ("::ffff:127.0.0.1", Network::Loopback),
        ("::ffff:169.254.169.254", Network::Metadata),
        ("::ffff:a9fe:a9fe", Network::Metadata),
        ("::ffff:10.0.0.1", Network::Private),
        ("::ffff:0:127.0.0.1", Network::Translation),
        ("64:ff9b::a9fe:a9fe", Network::Metadata),
        ("64:ff9b::7f00:1", Network::Loopback),
        ("64:ff9b:1::1", Network::Translation),
        ("64:ff9b:1:ffff::8.8.8.8", Network::Translation),
        ("64:ff9b:2::1", Network::Reserved),
        ("2002:a9fe:a9fe::", Network::Translation),
        ("2002:808:808::1", Network::Translation),
        ("2001::1", Network::Translation),
        ("2001:0:4136:e378:8000:63bf:3fff:fdd2", Network::Translation),
        ("2001:2::1", Network::Benchmark),
        ("2001:10::1", Network::Reserved),
        ("2001:db8::1", Network::Documentation),
        ("3fff::1", Network::Documentation),
        ("fd00:ec2::254", Network::Metadata),
        ("fd20:ce::254", Network::Metadata),
        ("fc00::1", Network::Private),
        ("fdff:ffff::1", Network::Private),
        ("fe80::1", Network::LinkLocal),
        ("fec0::1", Network::Private),
        ("ff02::1", Network::Multicast),
        ("5f00::1", Network::Reserved),
        ("100::1", Network::Reserved),
        ("100:0:0:1::1", Network::Reserved),
        ("1::1", Network::Reserved),
        ("4000::1", Network::Reserved),
    ] {
        assert_eq!(network_of(address), Some(network), "{address}");
    }
    for public in [
        "2606:4700:4700::1111",
        "2a00:1450::1",
        "::ffff:1.1.1.1",
        "64:ff9b::101:101",
        "2001:200::1",
    ] {
        assert_eq!(network_of(public), None, "{public}");
    }
}

/// What users, or payloads, can write for an address that they should not reach.
const ODD_SPELLINGS: [&str; 36] = [
    "http://2130706433/",
    "http://0x7f000001/",
    "http://0177.0.0.1/",
    "http://127.1/",
    "http://0x7f.1/",
    "http://017700000001/",
    "http://①②⑦.⓪.⓪.①/",
    "http://127。0。0。1/",
    "http://127.0.0.1./",
    "http://%31%36%39.254.169.254/",
    "http:/\\/169.254.169.254/",
    "http:\\\\169.254.169.254\\",
    "http:169.254.169.254/",
    "HTTP://169.254.169.254:80/",
    "http://0/",
    "http://0.0.0.0:8080/",
    "http://0xa9fea9fe/",
    "http://2852039166/",
    "http://169.254.43518/",
    "http://10.7/",
    "http://[::ffff:169.254.169.254]/",
    "http://[::ffff:a9fe:a9fe]/",
    "http://[0:0:0:0:0:ffff:a9fe:a9fe]/",
    "http://[64:ff9b::a9fe:a9fe]/",
    "http://[64:ff9b:1::1]/",
    "http://[2002:a9fe:a9fe::]/",
    "http://[fd00:ec2::254]/",
    "http://[fe80::1]/",
    "http://[::]/",
    "http://[::1]/",
    "http://[5f00::1]/",
    "http://[100::1]/",
    "http://169.254.170.2/",
    "http://100.100.100.200/",
    "http://168.63.129.16/",
    "https://255.255.255.255/",
];

#[tokio::test]
async fn every_odd_spelling_is_refused_before_anything_is_sent() {
    // The lookup would lead to a public address, should anybody ask it.
    let target = target("false", &[&["1.1.1.1"]]);
    for url in ODD_SPELLINGS {
        let failure = target.call(get(url)).await.unwrap_err();
        assert_eq!(
            failure.class,
            ErrorClass::AddressRefused,
            "{url}: {failure:?}"
        );
        assert!(
            failure.message.contains("REFIRE_ALLOW_PRIVATE_TARGETS"),
            "{}",
            failure.message
        );
        assert!(failure.causes.is_empty() && !failure.retryable);
    }
}

#[tokio::test]
async fn a_refusal_is_the_same_whether_or_not_something_listens() {
    let server = Hostile::answering("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n").await;
    let target = target("false", &[&["127.0.0.1"]]);
    let open = target.call(get(server.url())).await.unwrap_err();
    let closed = target.call(get("http://127.0.0.1:1/")).await.unwrap_err();
    assert_eq!(open, closed);
    assert_eq!(
        open.message,
        "127.0.0.1 is a loopback address; to allow it, start the server with \
         REFIRE_ALLOW_PRIVATE_TARGETS=127.0.0.1"
    );
    let port = server.address.port();
    let open = target
        .call(get(format!("http://name.example:{port}/")))
        .await
        .unwrap_err();
    let closed = target
        .call(get("http://name.example:1/"))
        .await
        .unwrap_err();
    assert_eq!(open, closed);
    assert_eq!(
        open.message,
        "name.example resolves to 127.0.0.1, which is a loopback address; to allow it, start the \
         server with REFIRE_ALLOW_PRIVATE_TARGETS=127.0.0.1"
    );
    assert_eq!(server.connections(), 0);
}

#[tokio::test]
async fn names_are_judged_by_their_addresses() {
    for answers in [
        &["127.0.0.1"][..],
        &["10.0.0.7", "192.168.0.1"],
        &["::1", "127.0.0.1"],
        &["::ffff:10.0.0.1"],
        &["169.254.169.254"],
        &["fd00:ec2::254"],
    ] {
        for name in [
            "localhost",
            "localhost.",
            "metadata.google.internal",
            "10.0.0.7.nip.io",
        ] {
            let url = format!("http://{name}/");
            let failure = target("false", &[answers])
                .call(get(url))
                .await
                .unwrap_err();
            assert_eq!(
                failure.class,
                ErrorClass::AddressRefused,
                "{name} {answers:?}"
            );
        }
    }
}

#[tokio::test]
async fn localhost_of_the_system_is_refused() {
    let target = HttpTarget::new(HttpSettings::new(Guard::default())).unwrap();
    let failure = target.call(get("http://localhost:1/")).await.unwrap_err();
    assert_eq!(failure.class, ErrorClass::AddressRefused, "{failure:?}");
}

#[tokio::test]
async fn only_allowed_addresses_of_a_mixed_answer_are_connected_to() {
    // 127.0.0.1 listens and is not allowed; 127.0.0.2 is allowed and nothing listens there.
    let server = Hostile::answering("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n").await;
    let url = format!("http://mixed.example:{}/", server.address.port());
    for answers in [["127.0.0.1", "127.0.0.2"], ["127.0.0.2", "127.0.0.1"]] {
        let target = target("127.0.0.2", &[&answers]);
        let failure = target.call(get(&url)).await.unwrap_err();
        assert_eq!(failure.class, ErrorClass::ConnectionRefused, "{failure:?}");
    }
    assert_eq!(server.connections(), 0);

    let target = target("127.0.0.1", &[&["10.0.0.1", "127.0.0.1", "127.0.0.2"]]);
    target.call(get(&url)).await.unwrap();
    assert_eq!(server.connections(), 1);
}

#[tokio::test]
async fn a_name_that_changes_its_answer_is_checked_each_time() {
    // The connection goes to the answer that was checked; there is no second question.
    let server =
        Hostile::closing_after("HTTP/1.1 204 No Content\r\nConnection: close\r\n\r\n").await;
    let url = format!("http://rebind.example:{}/", server.address.port());
    let target = target(
        "127.0.0.1",
        &[&["127.0.0.1"], &["127.0.0.9"], &["10.0.0.1"]],
    );
    target.call(get(&url)).await.unwrap();
    for _ in 0..2 {
        let failure = target.call(get(&url)).await.unwrap_err();
        assert_eq!(failure.class, ErrorClass::AddressRefused);
    }
    assert_eq!(server.connections(), 1);
}

#[test]
fn the_setting_is_read_and_its_mistakes_are_named() {
    for (text, allow) in [
        ("", Allow::Nothing),
        ("false", Allow::Nothing),
        (" TRUE ", Allow::All),
        (
            "10.0.0.0/8",
            Allow::Networks(vec!["10.0.0.0/8".parse().unwrap()]),
        ),
        (
            "10.1.2.3/8",
            Allow::Networks(vec!["10.0.0.0/8".parse().unwrap()]),
        ),
        (
            " 192.168.1.5 , fd00::/8 ",
            Allow::Networks(vec![
                "192.168.1.5/32".parse().unwrap(),
                "fd00::/8".parse().unwrap(),
            ]),
        ),
        (
            "::ffff:10.0.0.0/104",
            Allow::Networks(vec!["10.0.0.0/8".parse().unwrap()]),
        ),
    ] {
        assert_eq!(Allow::parse(text), Ok(allow), "{text:?}");
    }
    for (text, wrong) in [
        ("yes", "\"yes\""),
        ("10.0.0.0/33", "\"10.0.0.0/33\""),
        ("10.0.0.0/8,,", "\"\""),
        ("10.0.0.0/8, example.com", "\"example.com\""),
        ("10.0.0", "\"10.0.0\""),
        ("true,10.0.0.0/8", "\"true\""),
    ] {
        let message = Allow::parse(text).unwrap_err().to_string();
        assert!(
            message.starts_with("REFIRE_ALLOW_PRIVATE_TARGETS"),
            "{message}"
        );
        assert!(message.contains(wrong), "{text:?}: {message}");
    }
}

#[test]
fn an_allow_list_opens_what_it_names_and_nothing_else() {
    let guard = guard("10.1.0.0/16,127.0.0.1,fd12::/16");
    let check = |address: &str| guard.check(address.parse().unwrap()).is_ok();
    for open in [
        "10.1.0.0",
        "10.1.255.255",
        "127.0.0.1",
        "::ffff:10.1.2.3",
        "fd12::1",
        "8.8.8.8",
    ] {
        assert!(check(open), "{open}");
    }
    for shut in [
        "10.2.0.0",
        "10.0.255.255",
        "127.0.0.2",
        "::1",
        "fd13::1",
        "2002:a01:203::",
    ] {
        assert!(!check(shut), "{shut}");
    }
    let refused = guard.check("::ffff:10.2.0.7".parse().unwrap()).unwrap_err();
    assert_eq!(
        refused.to_string(),
        "::ffff:10.2.0.7 (10.2.0.7) is inside a private network; to allow it, start the server \
         with REFIRE_ALLOW_PRIVATE_TARGETS=10.2.0.7"
    );
}

#[tokio::test]
async fn everything_is_open_when_all_is_allowed() {
    let server = Hostile::answering("HTTP/1.1 204 No Content\r\n\r\n").await;
    let target = HttpTarget::new(HttpSettings::new(guard("true"))).unwrap();
    target.call(get(server.url())).await.unwrap();
    let url = format!("http://127.1:{}/", server.address.port());
    target.call(get(url)).await.unwrap();
}
