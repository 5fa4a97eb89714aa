//! A short story with everything in it: about twenty requests, retries, repeated and misused keys,
//! a dead letter and its retry. It may be cut off anywhere, because the server dies.

use std::time::Duration;

use futures_util::future::join_all;

use crate::GLANCE;
use crate::check::Evidence;
use crate::client::Client;
use crate::export::{all_end, letters};
use crate::load::{ClientLog, Plan, repeat_open, send};
use crate::node::Node;
use crate::retry::{Retried, press};
use crate::target::Call;

/// How long everything may take to end after a restart.
const ENDS_WITHIN: Duration = Duration::from_secs(60);

/// What its actors saw.
#[derive(Default)]
pub(crate) struct Story {
    pub(crate) log: ClientLog,
    pub(crate) retried: Vec<Retried>,
}

/// A request with a key of its own.
fn keyed(request: u64, fate: &'static str) -> Plan {
    Plan {
        request,
        workflow: if request.is_multiple_of(5) {
            "two"
        } else {
            "one"
        },
        key: Some(format!("key-{request}")),
        fate: Some(fate),
    }
}

impl Story {
    /// A story of its own that goes on from here.
    pub(crate) fn copy(&self) -> Self {
        Self {
            log: self.log.copy(),
            retried: self.retried.clone(),
        }
    }

    /// Plays it on a running server until it is over, or the server is gone.
    pub(crate) async fn play(&mut self, node: &mut Node, client: &Client) {
        let first = [
            keyed(1, "good"),
            keyed(2, "flaky"),
            keyed(3, "cured"),
            keyed(4, "good"),
            keyed(5, "good"),
            keyed(6, "flaky"),
            keyed(10, "flaky"),
        ];
        self.send_all(client, first).await;
        let misused = Plan {
            key: Some("key-4".to_owned()),
            ..keyed(7, "good")
        };
        let keyless = Plan {
            key: None,
            ..keyed(8, "good")
        };
        self.send_all(
            client,
            [keyed(1, "good"), keyed(3, "cured"), misused, keyless],
        )
        .await;
        while !node.has_ended() && !has_letter(client).await {
            tokio::time::sleep(GLANCE).await;
        }
        self.retried.extend(press(client, 1).await);
        let last = [keyed(15, "flaky"), keyed(16, "good"), keyed(17, "good")];
        self.send_all(client, last).await;
        while !node.has_ended() && !has_resolved(client).await {
            tokio::time::sleep(GLANCE).await;
        }
    }

    async fn send_all(&self, client: &Client, plans: impl IntoIterator<Item = Plan>) {
        join_all(plans.into_iter().map(|plan| send(client, plan, &self.log))).await;
    }

    /// On a server that has come back: repeats what is open, lets everything end, and gathers what
    /// all sides say.
    pub(crate) async fn end(self, client: &Client, calls: impl FnOnce() -> Vec<Call>) -> Evidence {
        repeat_open(client, &self.log, usize::MAX).await;
        all_end(client, ENDS_WITHIN).await;
        Evidence::gather(client, &self.log, self.retried, calls()).await
    }
}

async fn has_letter(client: &Client) -> bool {
    let letters = letters(client).await;
    letters.is_ok_and(|letters| !letters.is_empty())
}

async fn has_resolved(client: &Client) -> bool {
    let letters = letters(client).await;
    letters.is_ok_and(|letters| letters.iter().any(|letter| letter.status == "resolved"))
}
