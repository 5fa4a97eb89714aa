//! Logs: filters, pages, and payloads that nobody has touched.

use refire_core::execution::{Event, EventRow};

use super::Lab;
use super::stage::{Run, Stage, http, json, two_steps};
use crate::{EventFilter, LIMIT_MAX};

async fn retried_run(stage: &mut Stage) -> Run {
    let workflow = stage.save(&two_steps("orders")).await;
    let mut run = stage.admit(&workflow, "{}").await;
    stage.fail(&mut run, "a", http("503")).await;
    stage.wait(10);
    stage.succeed(&mut run, "a", "1").await;
    stage.succeed(&mut run, "b", "2").await;
    run
}

pub async fn filters_choose_events(lab: &dyn Lab) {
    let mut stage = Stage::open(lab).await;
    let run = retried_run(&mut stage).await;
    let rows: Vec<EventRow> = run.log.iter().map(Event::encode).collect();
    let name = |name: &str| Some(name.to_owned());
    let names = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect();
    let filters = [
        EventFilter::default(),
        EventFilter {
            attempt: Some(2),
            ..EventFilter::default()
        },
        EventFilter {
            names: names(&["STEP_COMPLETED"]),
            ..EventFilter::default()
        },
        EventFilter {
            names: names(&["STEP_COMPLETED", "RETRY_SCHEDULED", "no\0such"]),
            ..EventFilter::default()
        },
        EventFilter {
            step: name("a"),
            ..EventFilter::default()
        },
        EventFilter {
            attempt: Some(1),
            names: names(&["STEP_STARTED"]),
            step: name("b"),
        },
        EventFilter {
            names: names(&["NO_SUCH_TYPE"]),
            ..EventFilter::default()
        },
        EventFilter {
            names: names(&["no\0such"]),
            ..EventFilter::default()
        },
    ];
    for filter in filters {
        let passes = |row: &&EventRow| {
            filter
                .attempt
                .is_none_or(|attempt| row.attempt == Some(attempt))
                && (filter.names.is_empty() || filter.names.iter().any(|name| *name == row.name))
                && filter
                    .step
                    .as_ref()
                    .is_none_or(|step| row.step.as_ref() == Some(step))
        };
        let expected: Vec<EventRow> = rows.iter().filter(passes).cloned().collect();
        let found = stage
            .store
            .history(run.id, &filter, 0, LIMIT_MAX)
            .await
            .unwrap();
        assert_eq!(found, expected, "{filter:?}");
    }
}

pub async fn pages_meet_without_gaps(lab: &dyn Lab) {
    let mut stage = Stage::open(lab).await;
    let run = retried_run(&mut stage).await;
    let mut found: Vec<EventRow> = Vec::new();
    loop {
        let after = found.last().map_or(0, |row| row.sequence);
        let all = EventFilter::default();
        let page = stage.store.history(run.id, &all, after, 2).await.unwrap();
        assert!(page.len() <= 2);
        if page.is_empty() {
            break;
        }
        found.extend(page);
    }
    let expected: Vec<EventRow> = run.log.iter().map(Event::encode).collect();
    assert_eq!(found, expected);
}

pub async fn payloads_come_back_byte_for_byte(lab: &dyn Lab) {
    let mut stage = Stage::open(lab).await;
    let workflow = stage.save(&two_steps("orders")).await;
    let megabyte = format!("{{\"data\":\"{}\"}}", "x".repeat(1 << 20));
    let values = [
        "{\"b\":1,\"a\":2,\"b\":3}",
        "\"zero \\u0000 and \\ud83d\\ude00 and \\ud800\"",
        "12345678901234567890123",
        "-0.10000e+5",
        "{ \"spaces\" :\t[ 1 ,2 ] }",
        "\"Grüße, 世界 🎉\"",
        "{}",
        &megabyte,
    ];
    for value in values {
        let mut run = stage.admit(&workflow, value).await;
        stage.succeed(&mut run, "a", value).await;
        stage.check(&run).await;
        let outputs: Vec<u64> = run.state.referenced();
        let found = stage.store.values(run.id, &outputs).await.unwrap();
        assert_eq!(found.len(), 2, "the input and the output");
        let loaded = stage.store.load_values(run.id, &outputs).await.unwrap();
        assert!(loaded == found, "the committer sees the same");
        let states = stage.store.states(&[run.id]).await.unwrap();
        let state = states[0].as_ref().unwrap();
        let begins_with: Vec<_> = outputs
            .iter()
            .filter_map(|sequence| Some((*sequence, state.payloads.get(*sequence)?.clone())))
            .collect();
        let read_ahead = if value.len() > (1 << 13) {
            &[]
        } else {
            &*found
        };
        assert!(begins_with == read_ahead, "an attempt sees the same");
        for (_, found) in found {
            assert!(
                found.as_str() == value,
                "a value of {} bytes was changed",
                value.len()
            );
        }
    }
}

pub async fn values_are_found_by_their_event(lab: &dyn Lab) {
    let mut stage = Stage::open(lab).await;
    let run = retried_run(&mut stage).await;
    let expected: Vec<_> = run
        .log
        .iter()
        .filter_map(|event| Some((event.sequence, event.value()?.clone())))
        .collect();
    assert_eq!(expected[0], (1, json("{}")));
    let all: Vec<u64> = (1..=run.state.version + 3).collect();
    let found = stage.store.values(run.id, &all).await.unwrap();
    assert_eq!(found, expected, "events without a value are left out");
    assert_eq!(stage.store.values(run.id, &[]).await.unwrap(), Vec::new());
    let loaded = stage.store.load_values(run.id, &all).await.unwrap();
    assert_eq!(loaded, expected, "the committer sees the same");
}
