//! `local` steps: a call of a function of the embedding program.

use std::time::Duration;

use super::super::keys::Known;
use super::super::parse::tree;
use super::{Config, Settings, StepKind, StepType, TIMEOUT_MIN};
use crate::template::{Reference, Tree};

const TIMEOUT_MAX: Duration = Duration::from_secs(24 * 60 * 60);

/// A call of a registered function.
#[derive(Debug, Clone, PartialEq)]
pub struct Local {
    /// The name it is registered under.
    pub task: String,
    /// What it is given; the execution's input if nothing is written.
    pub input: Option<Tree>,
    /// How long one attempt may take.
    pub timeout: Option<Duration>,
}

impl Local {
    pub(super) const TYPE: StepType = StepType {
        name: "local",
        does: "a function of the embedding program",
        keys: &[
            Known::new("task"),
            Known::new("input"),
            Known::new("timeout"),
            Known::new("outputMapping"),
        ],
        schema: SCHEMA,
        read: |config| read(config).map(StepKind::Local),
    };
}

impl Settings for Local {
    fn required(&self) -> Vec<&Reference> {
        self.input.iter().flat_map(Tree::required).collect()
    }
}

fn read(mut config: Config<'_, '_>) -> Option<Local> {
    let input = config.with_templates("input");
    let Config {
        fields: config,
        options,
        problems,
        ..
    } = config;
    let task = config.required("task", problems);
    let input = input.and_then(|field| tree(&field, problems));
    let timeout = config
        .get("timeout")
        .and_then(|field| field.duration(TIMEOUT_MIN..=TIMEOUT_MAX, problems));
    let field = task?;
    let task = field.text(problems)?.to_owned();
    if task.is_empty() {
        problems.push(field.problem("`task` is empty"));
    }
    if options.local_tasks.is_some_and(|known| !known(&task)) {
        problems.push(field.problem(format!("no local task is registered as \"{task}\"")));
    }
    Some(Local {
        task,
        input,
        timeout,
    })
}

const SCHEMA: &str = r##"{
      "type": "object",
      "required": ["task"],
      "properties": {
        "task": { "type": "string", "minLength": 1, "description": "The name the function is registered under." },
        "input": { "description": "What the function is given, with `${…}` in its strings. Default: the execution's input." },
        "timeout": { "$ref": "#/$defs/duration", "description": "How long one attempt may take, 100ms to 1d. Default: no limit." },
        "outputMapping": { "$ref": "#/$defs/outputMapping" },
        "output_mapping": { "$ref": "#/$defs/local/properties/outputMapping" }
      },
      "additionalProperties": false
    }"##;
