//! Refused requests that have no name and are equal to the last byte: those who judge them again start
//! one event once, at whatever time, on whatever node, however much came in between.

use std::sync::Arc;

use refire_core::id::{ExecutionId, TriggerId, WebhookId};
use refire_core::trigger::CatchUp;
use refire_engine::Engine;
use refire_engine::caller::Caller;
use refire_engine::trigger::{Equals, Received};
use refire_engine::vault::{MasterKey, Vault};
use refire_store::model::{Disk, NoFaults};
use refire_store::{RequestFilter, RequestRow, RequestStatus, Store};

use crate::fixture::{Targets, World, apply};
use crate::triggers::{SOURCE, address, create, incoming, with_vault};

/// A webhook that takes what has `n` 2, and whoever sends to it.
struct Hook {
    engine: Arc<Engine>,
    id: TriggerId,
    webhook: WebhookId,
}

impl Hook {
    async fn new(world: &World) -> Self {
        Self::on(world.engine_with(with_vault)).await
    }

    async fn on(engine: Arc<Engine>) -> Self {
        let workflow = apply(&engine, SOURCE).await;
        let strict = r#"{"trigger_type":"webhook","authentication":"none",
            "filters":[{"json_path":"$.n","operator":"equals","value":2}]}"#;
        let trigger = create(&engine, &workflow, strict).await;
        Self {
            id: trigger.view.row.id,
            webhook: address(&trigger),
            engine,
        }
    }

    async fn send(&self, body: &str) -> Received {
        let request = incoming(body, Vec::new());
        self.engine
            .webhooks()
            .receive(self.webhook, &request)
            .await
            .unwrap()
    }

    async fn change(&self, patch: &str) {
        let changed = self.engine.triggers().change(self.id, patch, CatchUp::No);
        changed.await.unwrap();
    }

    /// It takes what has `n` 2 from now on.
    async fn spoil(&self) {
        self.change(r#"{"filters":[{"json_path":"$.n","operator":"equals","value":2}]}"#)
            .await;
    }

    /// It takes everything from now on.
    async fn mend(&self) {
        self.change(r#"{"filters":[]}"#).await;
    }

    /// The requests with a status, oldest first. What was answered before is in the log.
    async fn log(&self, status: RequestStatus) -> Vec<RequestRow> {
        self.engine.webhooks().flush().await;
        let filter = RequestFilter {
            statuses: vec![status],
            ..RequestFilter::default()
        };
        let store = self.engine.store();
        let mut rows = store.requests(self.id, &filter, None, 100).await.unwrap();
        rows.reverse();
        rows
    }

    async fn recheck(&self, row: &RequestRow, equals: Equals) -> Received {
        let again = self
            .engine
            .webhooks()
            .recheck(self.id, row.id, equals)
            .await;
        again.unwrap()
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn equal_requests_without_a_name_are_started_once() {
    let world = World::new();
    let hook = Hook::new(&world).await;
    for body in [r#"{"n":1}"#, r#"{"n":3}"#, r#"{"n":1}"#, r#"{"n":1}"#] {
        hook.send(body).await;
    }
    let refused = hook.log(RequestStatus::Filtered).await;
    assert_eq!(refused.len(), 4, "what was answered is in the log");
    hook.mend().await;
    let mut started = Vec::new();
    for row in &refused {
        match hook.recheck(row, Equals::Same).await {
            Received::Triggered(execution) => started.push(execution),
            Received::AlreadyProcessed { execution, .. } => assert_eq!(execution, started[0]),
            other => panic!("{other:?}"),
        }
    }
    assert_eq!(started.len(), 2);
    // The log has them as what they are, so that nobody comes upon them again.
    assert_eq!(hook.log(RequestStatus::Filtered).await, []);
    let repeats = hook.log(RequestStatus::Duplicate).await;
    let executions: Vec<_> = repeats.iter().map(|row| row.execution).collect();
    assert_eq!(executions, [Some(started[0]); 2]);
    // Somebody who has chosen this one wants it.
    let chosen = hook.recheck(&refused[3], Equals::Apart).await;
    assert!(matches!(chosen, Received::Triggered(_)), "{chosen:?}");
    hook.engine.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_its_sender_has_repeated_with_success_is_not_started_again() {
    let world = World::new();
    let hook = Hook::new(&world).await;
    let (event, other) = (r#"{"n":2,"odd":true}"#, r#"{"n":2,"odd":null}"#);
    // An equal one that was taken before is another event: its sender had no reason to repeat it.
    let earlier = hook.send(other).await;
    assert!(matches!(earlier, Received::Triggered(_)), "{earlier:?}");
    hook.change(r#"{"filters":[{"json_path":"$.n","operator":"equals","value":7}]}"#)
        .await;
    for body in [event, event, event, other] {
        hook.send(body).await;
    }
    hook.mend().await;
    let Received::Triggered(live) = hook.send(event).await else {
        panic!("it passes now");
    };
    let refused = hook.log(RequestStatus::Filtered).await;
    for row in &refused[..3] {
        let expected = Received::AlreadyProcessed {
            execution: live,
            body_differs: false,
        };
        assert_eq!(hook.recheck(row, Equals::Same).await, expected);
    }
    let second = hook.recheck(&refused[3], Equals::Same).await;
    assert!(matches!(second, Received::Triggered(_)), "{second:?}");
    hook.engine.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_equal_event_that_comes_later_is_another_one() {
    let world = World::new();
    let hook = Hook::new(&world).await;
    for _ in 0..3 {
        hook.spoil().await;
        hook.send(r#"{"n":1}"#).await;
        hook.mend().await;
        let refused = hook.log(RequestStatus::Filtered).await;
        let started = hook.recheck(&refused[0], Equals::Same).await;
        assert!(matches!(started, Received::Triggered(_)), "{started:?}");
    }
    hook.engine.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_repetition_is_found_among_many_of_its_length() {
    let world = World::new();
    let hook = Hook::new(&world).await;
    let bodies = (100..250).map(|number| format!(r#"{{"n":1,"number":{number}}}"#));
    let bodies: Vec<String> = bodies.collect();
    for body in &bodies {
        hook.send(body).await;
    }
    let refused = hook.log(RequestStatus::Filtered).await;
    hook.mend().await;
    let mut live = None;
    for body in &bodies {
        live = Some(hook.send(body).await);
    }
    let Some(Received::Triggered(execution)) = live else {
        panic!("it passes now");
    };
    let found = hook.recheck(refused.last().unwrap(), Equals::Same).await;
    let expected = Received::AlreadyProcessed {
        execution,
        body_differs: false,
    };
    assert_eq!(found, expected);
    hook.engine.stop().await;
}

/// What was started, and what others had started.
fn sorted(all: Vec<Received>) -> (Vec<ExecutionId>, Vec<ExecutionId>) {
    let (mut started, mut found) = (Vec::new(), Vec::new());
    for received in all {
        match received {
            Received::Triggered(execution) => started.push(execution),
            Received::AlreadyProcessed { execution, .. } => found.push(execution),
            other => panic!("{other:?}"),
        }
    }
    (started, found)
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn equal_requests_that_are_judged_again_at_once_are_started_once() {
    let world = World::new();
    let hook = Hook::new(&world).await;
    for round in 0..5 {
        hook.spoil().await;
        for _ in 0..8 {
            hook.send(r#"{"n":1}"#).await;
        }
        let refused = hook.log(RequestStatus::Filtered).await;
        assert_eq!(refused.len(), 8);
        hook.mend().await;
        let all = refused.iter().map(|row| hook.recheck(row, Equals::Same));
        let (started, found) = sorted(futures_util::future::join_all(all).await);
        assert_eq!(started.len(), 1, "round {round}");
        assert!(found.iter().all(|execution| *execution == started[0]));
    }
    hook.engine.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn equal_requests_are_started_once_on_two_nodes() {
    let clock = refire_engine::clock::SystemClock::new();
    let disk = Disk::shared(Arc::new(move || refire_engine::clock::Clock::now(&clock)));
    let node = async || {
        let store: Arc<dyn Store> = Arc::new(disk.open(Arc::new(NoFaults)));
        let caller: Arc<dyn Caller> = Targets::new();
        let vault = Vault::new(MasterKey::new([7; 32]), None);
        let builder = Engine::builder(store).caller(caller).vault(vault);
        builder.start().await.unwrap()
    };
    let hook = Hook::on(node().await).await;
    let other = Hook {
        engine: node().await,
        ..hook
    };
    for body in [r#"{"n":1}"#, r#"{"n":3}"#, r#"{"n":4}"#] {
        hook.spoil().await;
        for _ in 0..4 {
            hook.send(body).await;
        }
        // Each node logs by itself what it has found to be a repeat.
        other.engine.webhooks().flush().await;
        let refused = hook.log(RequestStatus::Filtered).await;
        hook.mend().await;
        let nodes = [&hook, &other].into_iter().cycle();
        let all = refused.iter().zip(nodes);
        let all = all.map(|(row, node)| node.recheck(row, Equals::Same));
        let (started, found) = sorted(futures_util::future::join_all(all).await);
        assert_eq!((started.len(), found.len()), (1, 3), "{body}");
    }
    hook.engine.stop().await;
    other.engine.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn those_who_choose_equal_requests_at_once_start_each_of_them_once() {
    let world = World::new();
    let hook = Hook::new(&world).await;
    for _ in 0..6 {
        hook.send(r#"{"n":1}"#).await;
    }
    let refused = hook.log(RequestStatus::Filtered).await;
    hook.mend().await;
    // Two for each.
    let all = refused.iter().chain(&refused);
    let all = all.map(|row| hook.recheck(row, Equals::Apart));
    let (mut started, mut found) = sorted(futures_util::future::join_all(all).await);
    assert_eq!(started.len(), 6);
    started.sort_unstable();
    found.sort_unstable();
    assert_eq!(started, found);
    hook.engine.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_event_that_somebody_has_chosen_is_not_started_again_with_all_others() {
    let world = World::new();
    let hook = Hook::new(&world).await;
    for _ in 0..3 {
        hook.send(r#"{"n":1}"#).await;
    }
    let refused = hook.log(RequestStatus::Filtered).await;
    hook.mend().await;
    // The last one, so that the others are older.
    let chosen = hook.recheck(&refused[2], Equals::Apart).await;
    let Received::Triggered(execution) = chosen else {
        panic!("{chosen:?}");
    };
    for row in &refused {
        let expected = Received::AlreadyProcessed {
            execution,
            body_differs: false,
        };
        assert_eq!(hook.recheck(row, Equals::Same).await, expected);
    }
    hook.engine.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_start_is_known_however_many_requests_came_since() {
    // More than are looked through for a repetition.
    const SINCE: usize = 5_100;
    let world = World::new();
    let hook = Hook::new(&world).await;
    hook.send(r#"{"n":1}"#).await;
    hook.send(r#"{"n":1}"#).await;
    let refused = hook.log(RequestStatus::Filtered).await;
    hook.mend().await;
    let Received::Triggered(execution) = hook.recheck(&refused[0], Equals::Same).await else {
        panic!("it passes now");
    };
    for _ in 0..SINCE / 300 {
        let crowd = (0..300).map(|_| hook.send(r#"{"n":2}"#));
        let (started, _) = sorted(futures_util::future::join_all(crowd).await);
        assert_eq!(started.len(), 300);
    }
    let expected = Received::AlreadyProcessed {
        execution,
        body_differs: false,
    };
    assert_eq!(hook.recheck(&refused[1], Equals::Same).await, expected);
    hook.engine.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_long_request_that_was_a_repeat_can_still_be_chosen() {
    let world = World::new();
    let hook = Hook::new(&world).await;
    let body = format!(r#"{{"n":1,"text":"{}"}}"#, "x".repeat(100 * 1_024));
    hook.send(&body).await;
    hook.send(&body).await;
    let refused = hook.log(RequestStatus::Filtered).await;
    hook.mend().await;
    let all = [
        hook.recheck(&refused[0], Equals::Same).await,
        hook.recheck(&refused[1], Equals::Same).await,
    ];
    let (started, found) = sorted(all.to_vec());
    assert_eq!(started, found);
    assert_eq!(hook.log(RequestStatus::Duplicate).await.len(), 1);
    let chosen = hook.recheck(&refused[1], Equals::Apart).await;
    assert!(matches!(chosen, Received::Triggered(_)), "{chosen:?}");
    hook.engine.stop().await;
}
