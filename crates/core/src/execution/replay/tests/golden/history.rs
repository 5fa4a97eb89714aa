//! One history: what is started, what happens to it, and which changes of its definition must be
//! noticed when its log is derived again.

use super::super::histories::Scenario;
use super::file::{Changed, Recorded, Row, Snapshot};
use crate::execution::decide::tests::fixture::{Run, plain_start, read, source};
use crate::execution::decide::tests::text;
use crate::execution::replay::replay;
use crate::execution::{Event, Execution, Start, fold};

/// What replaces the workflow's name in every history: the log says which workflow it is of.
const ANOTHER_WORKFLOW: (&str, &str) = ("id: w\n", "id: other\n");

pub(super) struct History {
    name: &'static str,
    definition: String,
    start: Start,
    script: fn(&mut Run),
    /// What is done to the finished log: events that this build would not write.
    then: fn(&mut Vec<Event>),
    edits: Vec<(&'static str, &'static str)>,
}

impl History {
    /// A workflow of `local` steps, started with an empty input.
    pub(super) fn new(
        name: &'static str,
        head: &str,
        steps: &[&str],
        script: fn(&mut Run),
    ) -> Self {
        Self::of_source(name, source(head, steps), script)
    }

    /// Any definition, as text.
    pub(super) fn of_source(name: &'static str, definition: String, script: fn(&mut Run)) -> Self {
        Self {
            name,
            definition,
            start: plain_start("{}"),
            script,
            then: |_| {},
            edits: vec![ANOTHER_WORKFLOW],
        }
    }

    pub(super) fn of_scenario(scenario: &Scenario) -> Self {
        let head = "retry: {jitter: proportional}";
        Self::new(scenario.name, head, scenario.steps, scenario.script)
            .input(r#"{"n":1}"#)
            .starting(|start| start.seed = 7)
    }

    pub(super) fn input(mut self, input: &str) -> Self {
        self.start.input = plain_start(input).input;
        self
    }

    pub(super) fn starting(mut self, change: fn(&mut Start)) -> Self {
        change(&mut self.start);
        self
    }

    /// A change of the definition: its text, and what stands there instead.
    pub(super) fn edit(mut self, replace: &'static str, with: &'static str) -> Self {
        self.edits.push((replace, with));
        self
    }

    pub(super) fn then(mut self, then: fn(&mut Vec<Event>)) -> Self {
        self.then = then;
        self
    }

    /// `the last result, while paused` → `the-last-result-while-paused.json`
    pub(super) fn file_name(&self) -> String {
        let words: Vec<String> = self
            .name
            .split(|c: char| !c.is_ascii_alphanumeric())
            .filter(|word| !word.is_empty())
            .map(str::to_ascii_lowercase)
            .collect();
        format!("{}.json", words.join("-"))
    }

    pub(super) fn lines(&self) -> Vec<String> {
        self.definition.lines().map(str::to_owned).collect()
    }

    /// Plays it under those rules.
    pub(super) fn play(&self, rules: u16) -> Vec<Event> {
        let start = Start {
            rules,
            ..self.start.clone()
        };
        let mut run = Run::start(read(&self.definition), start);
        (self.script)(&mut run);
        let mut log = run.log;
        (self.then)(&mut log);
        log
    }

    /// Everything a file says about that log.
    pub(super) fn record(&self, log: &[Event]) -> Recorded {
        let state = fold(log);
        let found = replay(&read(&self.definition), log);
        Recorded {
            about: self.name.to_owned(),
            definition: self.lines(),
            events: log.iter().map(Row::of).collect(),
            snapshot: self.snapshot(log),
            ends: format!("{}: {}", state.status, text::steps(&state)),
            state: json(&state),
            replay: found
                .first_difference
                .map_or_else(|| "identical".to_owned(), |it| it.to_string()),
            changed: self
                .edits
                .iter()
                .map(|edit| self.changed(*edit, log))
                .collect(),
        }
    }

    /// The snapshot a store would hold after the commit that ends nearest to the middle.
    fn snapshot(&self, log: &[Event]) -> Snapshot {
        let workflow = read(&self.definition);
        let middle = log.len() / 2;
        let is_end = |end: &usize| replay(&workflow, &log[..*end]).is_identical();
        let version = (1..=log.len())
            .filter(is_end)
            .min_by_key(|end| end.abs_diff(middle))
            .unwrap_or(middle);
        Snapshot {
            version: version as u64,
            state: json(&fold(&log[..version])),
        }
    }

    /// What deriving the log again finds under the changed definition.
    fn changed(&self, (replace, with): (&str, &str), log: &[Event]) -> Changed {
        let name = self.name;
        assert_eq!(
            self.definition.matches(replace).count(),
            1,
            "{name}: {replace:?} must stand in the definition once"
        );
        let changed = read(&self.definition.replace(replace, with));
        let finds = replay(&changed, log).first_difference;
        Changed {
            replace: replace.to_owned(),
            with: with.to_owned(),
            finds: finds
                .unwrap_or_else(|| panic!("{name}: {with:?} must make a difference"))
                .to_string(),
        }
    }
}

fn json(state: &Execution) -> Box<serde_json::value::RawValue> {
    serde_json::value::to_raw_value(state).unwrap()
}
