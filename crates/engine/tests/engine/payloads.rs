//! What costs by the size of a payload is worked out beside the committer and handed in: mappings,
//! conditions and outputs come out the same, whoever moves the execution meanwhile.

use refire_core::execution::{Cancel, Command, EventKind, Status};
use refire_core::failure::ErrorClass;

use crate::fixture::{Answer, World, apply, check, end, log, run, start, within};

/// An answer that no decision searches where others wait.
fn large() -> &'static str {
    let filler = "x".repeat(200 * 1024);
    let text = format!(r#"{{"filler":"{filler}","go":true,"names":["ab","c","de"]}}"#);
    Box::leak(text.into_boxed_str())
}

const CONDITION: &str = r#"
id: orders
output: { names: "${workflow.context.names}", go: "${steps.ask.output.body.go}" }
steps:
  - id: ask
    type: http
    config: { url: "https://t.example/ask", outputMapping: { names: "$.body.names[*]", first: "$.body.names[0]" } }
  - id: act
    type: http
    when: "${steps.ask.output.body.go}"
    config: { url: "https://t.example/act", method: POST, body: { first: "${workflow.context.first}" } }
"#;

#[tokio::test(flavor = "multi_thread")]
async fn conditions_mappings_and_outputs_of_large_answers() {
    let world = World::new();
    world.targets.script("/ask", &[Answer::Ok(large())]);
    let engine = world.engine();
    let workflow = apply(&engine, CONDITION).await;
    let stored = run(&engine, &workflow, "{}").await;
    assert_eq!(stored.state.status, Status::Completed);
    assert_eq!(world.targets.seen("/act")[0].body, r#"{"first":"ab"}"#);
    let id = stored.state.origin.as_ref().unwrap().id;
    let last = engine.executions().log(id).await.unwrap().pop().unwrap();
    let output = last.value().unwrap().as_str().to_owned();
    assert_eq!(output, r#"{"names":["ab","c","de"],"go":true}"#);
    check(&engine, id).await;
}

/// Twenty steps that end at once; a condition and the output read what all of them gave.
fn crowd() -> String {
    let steps: Vec<String> = (0..20).map(|n| format!("s{n:02}")).collect();
    let mut source = "id: crowd\noutput: { all: [".to_owned();
    let outputs = steps
        .iter()
        .map(|step| format!("\"${{steps.{step}.output.body.n}}\""));
    source += &outputs.collect::<Vec<_>>().join(", ");
    source += "] }\nsteps:\n";
    for step in &steps {
        source += &format!(
            "  - {{ id: {step}, type: http, needs: [], config: {{ url: \"https://t.example/{step}\", outputMapping: {{ {step}: \"$..n\" }} }} }}\n"
        );
    }
    let needs = steps.join(", ");
    source += &format!(
        "  - {{ id: last, type: http, needs: [{needs}], when: \"${{steps.s00.output.body.go}}\", config: {{ url: \"https://t.example/last\" }} }}\n"
    );
    source
}

#[tokio::test(flavor = "multi_thread")]
async fn steps_that_end_at_once_do_not_lose_what_was_decided_elsewhere() {
    let world = World::new();
    for n in 0..20 {
        let answer = format!(r#"{{"n":{n},"go":true}}"#);
        let answer = Answer::Ok(Box::leak(answer.into_boxed_str()));
        world.targets.script(&format!("/s{n:02}"), &[answer]);
    }
    // Nothing is searched where others wait: every decision that reads a value is handed in.
    let engine = world.engine_with(|builder| builder.search_bytes_max(0));
    let workflow = apply(&engine, &crowd()).await;
    let mut ids = Vec::new();
    for _ in 0..10 {
        ids.push(start(&engine, &workflow, "{}").await);
    }
    for id in ids {
        let stored = end(&engine, id).await;
        assert_eq!(stored.state.status, Status::Completed);
        let completed = log(&engine, id).await;
        let completed = completed
            .iter()
            .filter(|line| line.starts_with("STEP_COMPLETED"));
        assert_eq!(completed.count(), 21);
        check(&engine, id).await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_person_may_cancel_what_is_being_decided() {
    let world = World::new();
    world.targets.script("/ask", &[Answer::Ok(large())]);
    let engine = world.engine_with(|builder| builder.search_bytes_max(0));
    let workflow = apply(&engine, CONDITION).await;
    let mut cancelled = 0;
    for _ in 0..20 {
        let id = start(&engine, &workflow, "{}").await;
        world.targets.called("/ask", 1).await;
        let cancel = Command::Cancel(Cancel::by(Some("ada".to_owned())));
        cancelled += u32::from(
            within(engine.executions().command(id, cancel))
                .await
                .is_ok(),
        );
        end(&engine, id).await;
        check(&engine, id).await;
    }
    assert!(cancelled > 0, "some were not over yet");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_mapping_that_is_too_costly_is_a_dead_letter_with_its_name() {
    let world = World::new();
    let values = format!("[{}1]", "\"ab\",".repeat(200));
    let values: &'static str = Box::leak(values.into_boxed_str());
    world.targets.script("/ask", &[Answer::Ok(values)]);
    let engine = world.engine();
    let source = "id: costly
steps:
  - id: ask
    type: http
    config: { url: \"https://t.example/ask\", outputMapping: { k: \"$.body[?match(@, '[a-z]{2,40}')]\" } }
";
    let workflow = apply(&engine, source).await;
    let stored = run(&engine, &workflow, "{}").await;
    assert_eq!(stored.state.status, Status::Dlq);
    let error = stored.state.error.clone().unwrap();
    assert_eq!(error.class, ErrorClass::Mapping);
    assert!(
        error.message.starts_with("`outputMapping.k`: "),
        "{}",
        error.message
    );
    let id = stored.state.origin.as_ref().unwrap().id;
    let events = engine.executions().log(id).await.unwrap();
    let kept = events.iter().find_map(|event| match &event.kind {
        EventKind::StepFailed(failed) => failed.error.response.clone(),
        _ => None,
    });
    assert!(
        kept.is_some_and(|text| text.contains("\"ab\"")),
        "a person sees the answer"
    );
    check(&engine, id).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn what_was_undone_is_undone_whatever_its_mapping_costs() {
    let world = World::new();
    let values = format!("[{}1]", "\"ab\",".repeat(200));
    let values: &'static str = Box::leak(values.into_boxed_str());
    world.targets.script("/undo", &[Answer::Ok(values)]);
    world.targets.script("/fail", &[Answer::Status(400)]);
    let engine = world.engine();
    let source = "id: undone
steps:
  - { id: book, type: http, compensate: unbook, config: { url: \"https://t.example/book\" } }
  - { id: pay, type: http, config: { url: \"https://t.example/fail\" } }
  - id: unbook
    type: http
    config: { url: \"https://t.example/undo\", outputMapping: { k: \"$.body[?match(@, '[a-z]{2,40}')]\" } }
";
    let workflow = apply(&engine, source).await;
    let stored = run(&engine, &workflow, "{}").await;
    let id = stored.state.origin.as_ref().unwrap().id;
    let log = log(&engine, id).await;
    let undone = |line: &&String| line.starts_with("COMPENSATION_");
    let undone: Vec<_> = log.iter().filter(undone).collect();
    assert!(
        undone
            .iter()
            .any(|line| line.starts_with("COMPENSATION_COMPLETED")),
        "{log:#?}"
    );
    assert!(
        !undone
            .iter()
            .any(|line| line.starts_with("COMPENSATION_FAILED")),
        "{log:#?}"
    );
    check(&engine, id).await;
}
