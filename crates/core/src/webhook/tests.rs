//! Webhooks as a whole: what real senders send, whatever else may come, and the order of stations.

mod admitted;
mod properties;
mod senders;

use std::net::{IpAddr, Ipv4Addr};

use super::*;
use crate::time::Timestamp;

/// A second in which the published example of Standard Webhooks was signed.
const SIGNED_AT: i64 = 1_614_265_330;

fn settings(text: &str) -> Settings {
    Settings::parse(text).unwrap()
}

fn secrets(text: &str, method: Method) -> Secrets {
    Secrets::only(Secret::new(text, method).unwrap())
}

fn second(second: i64) -> Timestamp {
    Timestamp::from_millis(second * 1_000)
}

/// A request of a few headers, judged.
fn judge(
    settings: &Settings,
    secrets: Option<&Secrets>,
    headers: &[(&str, &str)],
    body: &[u8],
    now: Timestamp,
) -> Admission {
    let headers: Vec<(&str, &[u8])> = headers
        .iter()
        .map(|(name, value)| (*name, value.as_bytes()))
        .collect();
    let request = Request {
        source: IpAddr::V4(Ipv4Addr::LOCALHOST),
        query: "",
        headers: Headers(&headers),
        body,
    };
    admit(settings, secrets, &request, now)
}

/// Why a request was taken for forged; panics if it was not.
fn forged(admission: Admission) -> String {
    match admission {
        Admission::AuthFailed { reason } => reason,
        other => panic!("{other:?}"),
    }
}

fn started(admission: Admission) -> Started {
    match admission {
        Admission::Start(started) => *started,
        other => panic!("{other:?}"),
    }
}
