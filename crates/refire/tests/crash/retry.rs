//! Somebody who keeps pressing the button on dead letters, two times each.

use std::time::Duration;

use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;

use crate::client::{Answer, Client};
use crate::export::letters;

/// One press.
#[derive(Debug, Clone)]
pub(crate) struct Retried {
    pub(crate) letter: String,
    pub(crate) answer: Answer,
}

/// Between two letters.
const PRESS_EVERY: Duration = Duration::from_millis(200);

/// Presses on, whether the server is up or not, until told to stop.
pub(crate) struct Presser {
    stop: CancellationToken,
    pressing: JoinHandle<Vec<Retried>>,
}

impl Presser {
    pub(crate) fn start(client: Client) -> Self {
        let stop = CancellationToken::new();
        let stopped = stop.clone();
        let pressing = tokio::spawn(async move {
            let mut all = Vec::new();
            while !stopped.is_cancelled() {
                all.extend(press(&client, 1).await);
                tokio::time::sleep(PRESS_EVERY).await;
            }
            all
        });
        Self { stop, pressing }
    }

    pub(crate) async fn stop(self) -> Vec<Retried> {
        self.stop.cancel();
        self.pressing.await.unwrap()
    }
}

/// Retries up to so many of the letters that are pending, each twice at the same moment.
pub(crate) async fn press(client: &Client, count: usize) -> Vec<Retried> {
    // The server may be down just now.
    let pending = letters(client)
        .await
        .unwrap_or_default()
        .into_iter()
        .filter(|letter| letter.status == "pending")
        .take(count);
    let mut all = Vec::new();
    for letter in pending {
        let (first, second) = tokio::join!(client.retry(&letter.id), client.retry(&letter.id));
        for answer in [first, second] {
            all.push(Retried {
                letter: letter.id.clone(),
                answer,
            });
        }
    }
    all
}
