//! Every text that comes from outside is kept as it is: with NUL, and with numbers of any size.

use refire_core::dead_letter::{LetterStatus, RetryFrom};
use refire_core::execution::Outcome;
use refire_core::failure::{ErrorClass, Failure};
use refire_store::postgres::Scratch;
use refire_store::{
    EventFilter, LIMIT_MAX, LetterFilter, LetterRetry, Part, PartOutcome, PutWorkflow, Store,
    WorkChange,
};

use crate::stage::{self, Run, Stage, admission, node, part};

/// Characters of every width, the one that texts of a database cannot hold, and what looks like an
/// escape of it.
const STRANGE: &str = "a\u{0}b \\u0000 \\ ' \" ü \u{1f600} \u{fffd} \u{7f}\u{1}";
const BIG: &str = "123456789012345678901234567890123456789012345678901234567890.10e-400";

#[tokio::test]
async fn strange_texts_come_back() {
    let database = Scratch::new();
    let store = stage::open(&database.url()).await;
    let mut stage = Stage::new(1);
    definitions(&store, &mut stage).await;
    let run = executions(&store, &mut stage).await;
    letters(&store, &mut stage, run).await;
    store.close().await;
}

async fn definitions(store: &dyn Store, stage: &mut Stage) {
    let source = format!("id: orders # {STRANGE}\n");
    let put = PutWorkflow {
        id: stage.workflow.id.clone(),
        name: STRANGE.to_owned(),
        content_hash: [1; 32],
        source: source.clone(),
        by: STRANGE.to_owned(),
        expected: None,
    };
    let batch = stage.batch(vec![Part::PutWorkflow(Box::new(put))]);
    store.commit(&batch).await.unwrap();
    let saved = store.workflow(&stage.workflow.id).await.unwrap().unwrap();
    assert_eq!((saved.name.as_str(), saved.source), (STRANGE, source));
    let version = store.version(&stage.workflow.id, 1).await.unwrap().unwrap();
    assert_eq!(version.created_by, STRANGE);
}

async fn executions(store: &dyn Store, stage: &mut Stage) -> Run {
    let text = serde_json::to_string(STRANGE).unwrap();
    let (run, mut admit) = stage.start(&format!("{{\"k\": {text}, \"n\":{BIG}, \"\\u0000\":0}}"));
    let payload = admit.events[0].payload.clone();
    for change in &mut admit.work {
        if let WorkChange::Put(row) = change {
            row.limit_key = Some(STRANGE.to_owned());
            row.owner = Some(node(7));
        }
    }
    let work = admit.work.clone();
    let batch = stage.batch(vec![admission(admit)]);
    assert_eq!(store.commit(&batch).await.unwrap(), [PartOutcome::Done]);
    let every = EventFilter::default();
    let events = store.history(run.id, &every, 0, LIMIT_MAX).await.unwrap();
    assert_eq!(events[0].payload, payload);
    assert!(String::from_utf8(payload).unwrap().contains(BIG));
    let stored = store.execution(run.id).await.unwrap().unwrap();
    let WorkChange::Put(row) = &work[0] else {
        panic!("{work:?}");
    };
    assert_eq!(stored.work, std::slice::from_ref(row));
    run
}

async fn letters(store: &dyn Store, stage: &mut Stage, mut run: Run) {
    let before = run.state.version;
    let mut failure = Failure::new(ErrorClass::HttpStatus, STRANGE)
        .with_code(STRANGE)
        .with_causes(vec![STRANGE.to_owned()]);
    failure.response = Some(STRANGE.to_owned());
    let mut end = stage.report(&mut run, "a", Outcome::Failed(failure.clone()));
    for event in &mut end.events {
        event.reason = Some(STRANGE.to_owned());
    }
    let letter = end.new_letter.as_mut().unwrap();
    letter.workflow_name = STRANGE.to_owned();
    // The answer of the target is kept with the step.
    let kept_failure = letter.failure.clone();
    assert_eq!(kept_failure.code, failure.code);
    let letter = letter.id;
    let batch = stage.batch(vec![part(end)]);
    assert_eq!(store.commit(&batch).await.unwrap(), [PartOutcome::Done]);
    let every = EventFilter::default();
    let events = store
        .history(run.id, &every, before, LIMIT_MAX)
        .await
        .unwrap();
    assert!(
        events
            .iter()
            .all(|event| event.reason.as_deref() == Some(STRANGE))
    );
    let kept = store.letter(letter).await.unwrap().unwrap();
    assert_eq!(kept.failure, kept_failure);
    assert_eq!(kept.workflow_name, STRANGE);
    let summary = store
        .letter_summary(&LetterFilter::default())
        .await
        .unwrap();
    assert_eq!(summary.groups[0].error_code.as_deref(), Some(STRANGE));

    let (again, mut admit) = stage.start("{}");
    admit.letter = Some(LetterRetry {
        id: letter,
        by: STRANGE.to_owned(),
        expected_generation: 0,
        generation: 1,
        from: RetryFrom::FailedStep,
        edited: false,
    });
    let batch = stage.batch(vec![admission(admit)]);
    assert_eq!(store.commit(&batch).await.unwrap(), [PartOutcome::Done]);
    let kept = store.letter(letter).await.unwrap().unwrap();
    assert_eq!(
        kept.state.retry_attempted,
        Some((stage::NOW, STRANGE.to_owned()))
    );
    assert_eq!(kept.state.status, LetterStatus::Retrying);
    let retries = store.letter_retries(letter, 9).await.unwrap();
    assert_eq!(retries[0].execution, again.id);
    assert_eq!(retries[0].by, STRANGE);
}
