//! How much runs at once, and in which order what waits gets its turn.

use std::time::Duration;

use refire_core::execution::Status;
use refire_engine::Accepted;
use refire_engine::limit::{HostLimit, Limits};

use crate::fixture::{Answer, World, apply, end, small_limits, start, submission};

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn slots_are_never_exceeded_and_everything_runs() {
    let world = World::new();
    let engine = world.engine_with(|builder| builder.limits(small_limits(5)));
    let one = apply(
        &engine,
        "id: one\nsteps: [{ id: a, type: http, config: { url: 'https://t.example/a' } }]",
    )
    .await;
    world.targets.script("/a", &[Answer::Held]);
    let mut ids = Vec::new();
    for _ in 0..60 {
        ids.push(start(&engine, &one, "{}").await);
    }
    world.targets.called("/a", 5).await;
    tokio::time::sleep(Duration::from_millis(50)).await;
    assert_eq!(world.targets.seen("/a").len(), 5);
    world.targets.open_gate(60);
    for id in ids {
        assert_eq!(end(&engine, id).await.state.status, Status::Completed);
    }
    assert_eq!(world.targets.most_at_once(), 5);
    assert_eq!(world.targets.seen("/a").len(), 60);
    engine.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_workflow_s_own_limit_and_its_limit_per_key_hold() {
    let world = World::new();
    let engine = world.engine();
    let keyed = apply(
        &engine,
        "id: keyed\nconcurrency: { max: 3, key: '${input.k}', maxPerKey: 1 }\n\
         steps: [{ id: a, type: http, config: { url: 'https://t.example/${input.k}' } }]",
    )
    .await;
    for key in ["x", "y"] {
        world.targets.script(&format!("/{key}"), &[Answer::Held]);
    }
    let mut ids = Vec::new();
    for n in 0..10 {
        let key = if n % 2 == 0 { "x" } else { "y" };
        ids.push(start(&engine, &keyed, &format!(r#"{{"k":"{key}"}}"#)).await);
    }
    world.targets.called("/x", 1).await;
    world.targets.called("/y", 1).await;
    tokio::time::sleep(Duration::from_millis(100)).await;
    assert_eq!(
        (
            world.targets.seen("/x").len(),
            world.targets.seen("/y").len()
        ),
        (1, 1)
    );
    world.targets.open_gate(10);
    for id in ids {
        end(&engine, id).await;
    }
    assert_eq!(world.targets.most_at_once(), 2);
    engine.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_waits_gets_its_turn_by_priority() {
    let world = World::new();
    let engine = world.engine_with(|builder| builder.limits(small_limits(1)));
    let one = apply(
        &engine,
        "id: one\nsteps: [{ id: a, type: http, config: { url: 'https://t.example/p/${input.p}' } }]",
    )
    .await;
    world.targets.script("/p/0", &[Answer::Held]);
    let first = start(&engine, &one, r#"{"p":0}"#).await;
    world.targets.called("/p/0", 1).await;
    let mut ids = vec![first];
    for priority in [9u8, 5, 1, 7, 3] {
        let mut submission = submission(&one, &format!(r#"{{"p":{priority}}}"#));
        submission.priority = priority;
        match engine.executions().submit(submission).await.unwrap() {
            Accepted::New { id, .. } => ids.push(id),
            Accepted::Duplicate { .. } => unreachable!(),
        }
    }
    world.targets.open_gate(1);
    for id in ids {
        end(&engine, id).await;
    }
    let mut order: Vec<_> = [9, 5, 1, 7, 3]
        .map(|p| (world.targets.seen(&format!("/p/{p}"))[0].at, p))
        .to_vec();
    order.sort();
    assert_eq!(
        order.iter().map(|(_, p)| *p).collect::<Vec<_>>(),
        [1, 3, 5, 7, 9]
    );
    engine.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_rate_limit_spreads_starts() {
    let world = World::new();
    let engine = world.engine();
    let rated = apply(
        &engine,
        "id: rated\nrateLimit: { max: 2, per: 400ms }\n\
         steps: [{ id: a, type: http, config: { url: 'https://t.example/a' } }]",
    )
    .await;
    let began = tokio::time::Instant::now();
    let mut ids = Vec::new();
    for _ in 0..6 {
        ids.push(start(&engine, &rated, "{}").await);
    }
    for id in ids {
        assert_eq!(end(&engine, id).await.state.status, Status::Completed);
    }
    // Two at once, then one each 200 ms.
    let took = began.elapsed();
    assert!(took >= Duration::from_millis(790), "too fast: {took:?}");
    assert!(took < Duration::from_secs(5), "too slow: {took:?}");
    engine.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_crowd_of_timers_that_come_due_at_once_gets_through_a_few_slots() {
    let world = World::new();
    let engine = world.engine_with(|builder| builder.limits(small_limits(20)));
    let one = apply(
        &engine,
        "id: one\nsteps: [{ id: a, type: http, config: { url: 'https://t.example/a' } }]",
    )
    .await;
    let crowd = (0..2_000).map(|_| {
        let mut submission = submission(&one, "{}");
        submission.delay = Some(Duration::from_millis(300));
        submission
    });
    for result in engine.executions().submit_all(crowd.collect()).await {
        let Accepted::New { id, .. } = result.unwrap() else {
            panic!("no keys were given")
        };
        assert_eq!(end(&engine, id).await.state.status, Status::Completed);
    }
    assert_eq!(world.targets.seen("/a").len(), 2_000);
    assert!(world.targets.most_at_once() <= 20);
    engine.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_host_s_own_limits_hold_also_when_the_url_is_a_template() {
    let world = World::new();
    let limit = HostLimit {
        breaker: None,
        attempts: Some(2),
        retries: None,
        rate: Some((4, Duration::from_millis(400))),
    };
    let engine = world.engine_with(|builder| {
        builder.limits(Limits {
            hosts: [("t.example".to_owned(), limit)].into(),
            ..Limits::default()
        })
    });
    let fixed = apply(
        &engine,
        "id: fixed\nsteps: [{ id: a, type: http, config: { url: 'https://t.example/a' } }]",
    )
    .await;
    let templated = apply(
        &engine,
        "id: templated\nsteps: [{ id: a, type: http, config: { url: '${input.url}' } }]",
    )
    .await;
    let began = tokio::time::Instant::now();
    let mut ids = Vec::new();
    for _ in 0..6 {
        ids.push(start(&engine, &fixed, "{}").await);
        ids.push(start(&engine, &templated, r#"{"url":"https://t.example/a"}"#).await);
    }
    for id in ids {
        assert_eq!(end(&engine, id).await.state.status, Status::Completed);
    }
    assert!(world.targets.most_at_once() <= 2);
    // Four at once, then one each 100 ms.
    let took = began.elapsed();
    assert!(took >= Duration::from_millis(790), "too fast: {took:?}");
    engine.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn rows_that_a_full_host_put_off_come_back_each_at_its_time() {
    let world = World::new();
    let engine = world.engine_with(|builder| {
        builder.limits(Limits {
            attempts_per_host: 1,
            ..Limits::default()
        })
    });
    let one = apply(
        &engine,
        "id: one\nsteps: [{ id: a, type: http, config: { url: 'https://${input.h}/${input.p}' } }]",
    )
    .await;
    world.targets.script("/1", &[Answer::Held]);
    start(&engine, &one, r#"{"h":"t.example","p":"1"}"#).await;
    world.targets.called("/1", 1).await;
    let began = tokio::time::Instant::now();
    let second = start(&engine, &one, r#"{"h":"t.example","p":"2"}"#).await;
    tokio::time::sleep(Duration::from_millis(300)).await;
    let third = start(&engine, &one, r#"{"h":"t.example","p":"3"}"#).await;
    tokio::time::sleep(Duration::from_millis(100)).await;
    world.targets.open_gate(1);
    end(&engine, second).await;
    end(&engine, third).await;
    let took = began.elapsed();
    assert!(
        took < Duration::from_secs(4),
        "they waited for the net: {took:?}"
    );
    engine.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_busy_key_does_not_hide_another() {
    let world = World::new();
    let engine = world.engine();
    let keyed = apply(
        &engine,
        "id: k\nconcurrency: { key: '${input.k}', maxPerKey: 1 }\n\
         steps: [{ id: a, type: http, config: { url: 'https://t.example/${input.k}' } }]",
    )
    .await;
    world.targets.script("/x", &[Answer::Held]);
    let busy = (0..2_500).map(|_| submission(&keyed, r#"{"k":"x"}"#));
    engine.executions().submit_all(busy.collect()).await;
    let other = start(&engine, &keyed, r#"{"k":"y"}"#).await;
    assert_eq!(end(&engine, other).await.state.status, Status::Completed);
    engine.stop_within(Duration::ZERO).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_waits_keeps_its_order_while_slots_come_and_go() {
    let world = World::new();
    let engine = world.engine_with(|builder| builder.limits(small_limits(10)));
    let one = apply(
        &engine,
        "id: one\nsteps: [{ id: a, type: http, config: { method: POST, url: 'https://t.example/a', body: '${input.n}' } }]",
    )
    .await;
    let all = (0..1_500).map(|n| submission(&one, &format!(r#"{{"n":{n}}}"#)));
    for result in engine.executions().submit_all(all.collect()).await {
        let Accepted::New { id, .. } = result.unwrap() else {
            panic!("no keys were given")
        };
        end(&engine, id).await;
    }
    let mut displaced: Vec<usize> = world
        .targets
        .seen("/a")
        .iter()
        .enumerate()
        .map(|(place, call)| place.abs_diff(call.body.parse().unwrap()))
        .collect();
    displaced.sort_unstable();
    // A task may be held up by a busy machine; a queue that loses its order is another matter:
    // then every third is hundreds of places late.
    let of_most = displaced[displaced.len() * 98 / 100];
    assert!(
        of_most < 40,
        "many were out of turn: {of_most} places and more"
    );
    assert!(
        displaced[displaced.len() - 1] < 750,
        "somebody was sent to the end"
    );
    engine.stop().await;
}
