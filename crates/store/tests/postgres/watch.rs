//! The store seen from the server: its connections, what they wait for, and what they tell.

use std::future::poll_fn;

use refire_store::postgres::Scratch;
use tokio::sync::mpsc;
use tokio_postgres::{AsyncMessage, Client, NoTls};

/// Ends the store's connections for a purpose, and says how many there were.
pub(crate) async fn kill(session: &Client, purpose: &str) -> usize {
    let killed = session
        .query(
            "SELECT pg_terminate_backend(pid) FROM pg_stat_activity
             WHERE datname = current_database() AND application_name = $1",
            &[&format!("refire {purpose}")],
        )
        .await
        .unwrap();
    killed.len()
}

/// Waits until the store's connection for a purpose waits for a lock.
pub(crate) async fn until_waiting(session: &Client, purpose: &str) {
    for _ in 0..1_000 {
        let waiting = session
            .query(
                "SELECT 1 FROM pg_stat_activity WHERE datname = current_database()
                 AND application_name = $1 AND wait_event_type = 'Lock'",
                &[&format!("refire {purpose}")],
            )
            .await
            .unwrap();
        if !waiting.is_empty() {
            return;
        }
        tokio::time::sleep(std::time::Duration::from_millis(5)).await;
    }
    panic!("no connection for {purpose} waits for a lock");
}

/// Hears what is told on the nodes' channel, line by line, as the server hands it out.
pub(crate) async fn listen(scratch: &Scratch) -> mpsc::UnboundedReceiver<String> {
    let (client, mut connection) = tokio_postgres::connect(&scratch.url(), NoTls)
        .await
        .unwrap();
    let (lines, heard) = mpsc::unbounded_channel();
    tokio::spawn(async move {
        while let Some(Ok(message)) = poll_fn(|context| connection.poll_message(context)).await {
            if let AsyncMessage::Notification(told) = message
                && lines.send(told.payload().to_owned()).is_err()
            {
                return;
            }
        }
    });
    client.batch_execute("LISTEN refire").await.unwrap();
    // The connection ends with its client.
    tokio::spawn(async move {
        let _client = client;
        std::future::pending::<()>().await;
    });
    heard
}
