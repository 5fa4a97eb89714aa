//! The fold: any events in any order give a state that can be stored, read and decided on.

use std::sync::LazyLock;

use refire_core::definition::{ParseOptions, Workflow};
use refire_core::execution::replay::replay;
use refire_core::execution::{
    Began, Cancel, Command, Event, Execution, Lost, Outcome, Report, RetryNow, apply, decide, fold,
};

use super::choices::Choices;
use super::events::{BEGINNING, event, failure, step, value};

/// Events in one log; more of the same find nothing new.
const EVENTS_MAX: usize = 40;

static WORKFLOW: LazyLock<Workflow> = LazyLock::new(|| {
    let source = "id: w\noutput: '${workflow.context.x}'\nretry: {maxElapsed: 1m}\nsteps:\n\
        - {id: a, type: local, config: {task: t}, compensate: undo_a, outputMapping: {x: $.a}}\n\
        - {id: b, type: local, config: {task: t}, when: '${workflow.context.go ?? true}'}\n\
        - {id: undo_a, type: local, config: {task: t}}\n";
    Workflow::parse(source, &ParseOptions::default()).expect("it is right")
});

pub fn run(data: &[u8]) {
    let mut choices = Choices::new(data);
    let mut log: Vec<Event> = Vec::new();
    let mut state = Execution::empty();
    let mut ended = false;
    while !choices.is_empty() && log.len() < EVENTS_MAX {
        let next = event(&mut choices, log.last());
        state = apply(state, &next);
        ended |= next.is_terminal();
        log.push(next);
        check(&state, log.last(), ended);
    }
    assert_eq!(fold(&log), state, "in one go or event by event");
    let text = serde_json::to_string(&state).expect("a state has a text");
    let read: Execution = serde_json::from_str(&text).expect("its text is read");
    assert_eq!(read, state);
    ask(&state, &mut choices);
    // A log like this is not ours; saying so must not take a panic.
    let _ = replay(&WORKFLOW, &log);
}

fn check(state: &Execution, last: Option<&Event>, ended: bool) {
    if let Some(last) = last {
        assert_eq!((state.version, state.updated_at), (last.sequence, last.at));
    }
    assert_eq!(state.status.is_terminal(), ended, "an end stays the end");
    if !ended {
        assert_eq!(state.status, state.derive_status());
    }
}

/// Whatever is asked of such a state, the answer follows from events that fold to it.
fn ask(state: &Execution, choices: &mut Choices<'_>) {
    let by = || Some("ada".to_owned());
    let report = |step, attempt, outcome| {
        Command::Report(Report {
            step,
            attempt,
            began: Began::Called(BEGINNING),
            duration_ms: 0,
            outcome,
            mapped: None,
        })
    };
    let mut commands = vec![
        Command::Pause { by: by() },
        Command::Resume { by: by() },
        Command::RetryNow(RetryNow {
            step: None,
            by: by(),
        }),
        Command::Cancel(Cancel {
            by: by(),
            compensate: false,
            begun: Vec::new(),
        }),
        Command::Cancel(Cancel {
            by: by(),
            compensate: true,
            begun: Vec::new(),
        }),
    ];
    let live: Vec<_> = state
        .steps
        .iter()
        .filter(|(_, step)| step.is_live())
        .collect();
    for (id, step) in live {
        commands.push(report(
            (*id).clone(),
            step.attempt,
            Outcome::Succeeded(value(choices)),
        ));
        commands.push(report(
            (*id).clone(),
            step.attempt,
            Outcome::Failed(failure(choices)),
        ));
        commands.push(Command::Lost(Lost {
            step: (*id).clone(),
            attempt: step.attempt,
            node: None,
            begun: choices.flag(),
        }));
    }
    commands.push(report(
        step(choices),
        choices.small(),
        Outcome::Succeeded(value(choices)),
    ));
    for command in commands {
        let now = choices.moment(state.updated_at);
        let Ok(decision) = decide(&WORKFLOW, state, command, now) else {
            continue;
        };
        let folded = decision.events.iter().fold(state.clone(), apply);
        assert_eq!(folded, decision.state);
    }
}
