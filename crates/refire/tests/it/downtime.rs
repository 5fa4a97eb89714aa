//! A server that was away for years: it starts as fast as ever, what was missed is one entry of the
//! ledger, and `misfire` says what is made up for.

use std::time::{Duration, Instant};

use refire_core::time::Timestamp;
use serde_json::{Value, json};

use crate::server::Server;
use crate::target::Target;
use crate::workflow::one_step;

/// From the start of the process until it takes work and has dealt with all that it missed, or has
/// started the first of what it makes up for.
const STARTED_WITHIN: Duration = Duration::from_secs(2);
/// Longer than anything here takes.
const PATIENCE: Duration = Duration::from_secs(20);
/// Between two planned times.
const MINUTE: Duration = Duration::from_secs(60);
/// How long nobody was there: ten years, with their leap days.
const AWAY: Duration = Duration::from_secs(3_653 * 24 * 60 * 60);

fn moment(value: &Value) -> Timestamp {
    value.as_str().unwrap().parse().unwrap()
}

/// Entries of a ledger with one of these statuses whose planned time is not before `from`, the oldest
/// first.
async fn entries(server: &Server, id: &str, status: &str, from: Timestamp) -> Vec<Value> {
    let path = format!("/api/triggers/{id}/slots?status={status}&limit=1000");
    let page = server.get(&path).await.expect(200);
    let items = page["items"].as_array().unwrap().iter().rev();
    items
        .filter(|entry| moment(&entry["nominal"]) >= from)
        .cloned()
        .collect()
}

/// The same once there are so many.
async fn reached(
    server: &Server,
    id: &str,
    status: &str,
    from: Timestamp,
    count: usize,
) -> Vec<Value> {
    let until = Instant::now() + PATIENCE;
    loop {
        let found = entries(server, id, status, from).await;
        if found.len() >= count {
            return found;
        }
        assert!(
            Instant::now() < until,
            "not {count} {status}: {}",
            found.len()
        );
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
}

/// A server that was away for ten years with a trigger for every minute: the trigger's id, the first
/// planned time that was missed, and when the process was started again.
async fn back(server: &mut Server, target: &Target, misfire: &str) -> (String, Timestamp, Instant) {
    server.apply("w", &one_step("w", &target.url("/x"))).await;
    let body = json!({"trigger_type": "cron", "cron_expression": "* * * * *", "misfire": misfire});
    let made = server.post("/api/workflows/w/triggers", body.to_string());
    let made = made.await.expect(201);
    server.signal("TERM");
    assert_eq!(server.ended().await.code(), Some(0));
    let first = moment(&made["next_execution"]).minus(AWAY);
    let statement = format!(
        "UPDATE trigger_state SET cursor = {}, due_at = {}",
        first.minus(MINUTE).as_micros(),
        first.as_micros()
    );
    let changed = server.database().change(&server.data(), &statement).await;
    assert_eq!(changed, 1);
    let began = Instant::now();
    server.restart();
    server.get("/readyz").await.expect(200);
    (made["id"].as_str().unwrap().to_owned(), first, began)
}

/// The one stretch that was left out, which began with the first planned time.
async fn skipped(server: &Server, id: &str, first: Timestamp) -> (Timestamp, u64) {
    let skipped = reached(server, id, "skipped", first, 1).await;
    let [stretch] = skipped.as_slice() else {
        panic!("one stretch: {skipped:#?}");
    };
    assert_eq!(stretch["reason"], "missed", "{stretch}");
    assert_eq!(moment(&stretch["nominal"]), first, "{stretch}");
    let (last, count) = (moment(&stretch["to"]), stretch["count"].as_u64().unwrap());
    let minutes = last.since(first).as_secs() / MINUTE.as_secs();
    assert_eq!(count, minutes + 1, "{stretch}");
    assert!(count > 5_000_000, "{count}");
    (last, count)
}

/// What is started follows upon the stretch, minute by minute, each once.
async fn follow(server: &Server, id: &str, last: Timestamp, wanted: usize) {
    let after = last.plus(MINUTE);
    let started = reached(server, id, "fired,late", after, wanted).await;
    let mut due = after;
    for entry in &started {
        assert_eq!(moment(&entry["nominal"]), due, "{started:#?}");
        assert!(entry["execution_id"].is_string(), "{entry}");
        due = due.plus(MINUTE);
    }
    // Beside those, only what became due since the server is back.
    let wanted_last = moment(&started[wanted - 1]["nominal"]);
    let began = moment(&started[0]["at"]);
    assert!(began.since(wanted_last) < MINUTE, "{started:#?}");
    for entry in &started[wanted..] {
        assert!(moment(&entry["nominal"]) > began, "{entry}");
    }
}

#[tokio::test]
async fn ten_years_are_made_up_for_once() {
    let (mut server, target) = (Server::start().await, Target::start().await);
    let (id, first, began) = back(&mut server, &target, "fire_once").await;
    reached(&server, &id, "fired,late", first, 1).await;
    assert!(began.elapsed() < STARTED_WITHIN, "{:?}", began.elapsed());
    let (last, _) = skipped(&server, &id, first).await;
    follow(&server, &id, last, 1).await;
    let shown = server.get(&format!("/api/triggers/{id}")).await.expect(200);
    assert!(moment(&shown["next_execution"]) > last, "{shown}");
    let log = server.log();
    let said = log.matches("planned times of a trigger had passed");
    assert_eq!(said.count(), 1, "it is said once: {log}");
}

#[tokio::test]
async fn of_ten_years_the_newest_hundred_are_made_up_for() {
    let (mut server, target) = (Server::start().await, Target::start().await);
    let (id, first, began) = back(&mut server, &target, "fire_all").await;
    reached(&server, &id, "fired,late", first, 1).await;
    assert!(began.elapsed() < STARTED_WITHIN, "{:?}", began.elapsed());
    let (last, _) = skipped(&server, &id, first).await;
    follow(&server, &id, last, 100).await;
}

#[tokio::test]
async fn ten_years_are_skipped_at_once() {
    let (mut server, target) = (Server::start().await, Target::start().await);
    let (id, first, began) = back(&mut server, &target, "skip").await;
    reached(&server, &id, "skipped", first, 1).await;
    assert!(began.elapsed() < STARTED_WITHIN, "{:?}", began.elapsed());
    let (last, _) = skipped(&server, &id, first).await;
    for entry in entries(&server, &id, "fired,late", first).await {
        assert_eq!(entry["status"], "fired", "it is due since: {entry}");
        assert!(moment(&entry["nominal"]) > last, "{entry}");
    }
}
