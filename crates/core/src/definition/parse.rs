//! From text to a workflow: the top of the definition.
//!
//! Problems are collected along the way; a workflow comes out only if there are none.

use std::time::Duration;

use super::check::{self, Owner, Sites};
use super::fields::{Field, Fields};
use super::keys;
use super::name::{NameError, WorkflowId};
use super::problem::{Problem, Problems};
use super::retry::RetrySettings;
use super::source::{Content, Node};
use super::step::{self, Draft};
use super::workflow::{Concurrency, DeadLetterMode, RateLimit, Workflow};
use crate::template::{Template, Tree};

/// The most steps a workflow may have.
pub const STEPS_MAX: usize = 500;

/// The longest name and description, in characters.
const NAME_CHARS_MAX: usize = 200;
const DESCRIPTION_CHARS_MAX: usize = 10_000;

/// The largest limits that concurrency and rate may have.
const LIMIT_MAX: u64 = 1_000_000;
const RATE_PER_MIN: Duration = Duration::from_millis(100);
const RATE_PER_MAX: Duration = Duration::from_secs(31 * 24 * 60 * 60);

/// What the surroundings know about a definition that is being read.
#[derive(Default, Clone, Copy)]
pub struct ParseOptions<'a> {
    /// The id in the URL: a definition with another id is refused, one without takes this.
    pub expected_id: Option<&'a str>,
    /// Whether a `local` task of that name is registered; `None` = do not check.
    pub local_tasks: Option<&'a dyn Fn(&str) -> bool>,
    /// Whether it was accepted before: then what is refused only since then is no problem.
    pub stored: bool,
}

impl std::fmt::Debug for ParseOptions<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("ParseOptions")
            .field("expected_id", &self.expected_id)
            .field("checks_local_tasks", &self.local_tasks.is_some())
            .field("stored", &self.stored)
            .finish()
    }
}

impl Workflow {
    /// Reads and checks a definition in YAML or JSON.
    ///
    /// # Errors
    /// Everything that is wrong with it, in the order of the text.
    pub fn parse(source: &str, options: &ParseOptions<'_>) -> Result<Self, Problems> {
        Self::from_node(&Node::parse(source)?, options)
    }

    /// The same from a tree that was read before.
    ///
    /// # Errors
    /// As [`Self::parse`].
    pub fn from_node(node: &Node, options: &ParseOptions<'_>) -> Result<Self, Problems> {
        let mut problems = Problems::new();
        let workflow = read(node, options, &mut problems);
        match workflow {
            Some(workflow) if problems.is_empty() => Ok(workflow),
            _ => Err(problems.sorted()),
        }
    }
}

fn read(node: &Node, options: &ParseOptions<'_>, problems: &mut Problems) -> Option<Workflow> {
    let root = Field::new("", node);
    if !matches!(node.content, Content::Mapping(_)) {
        let message = format!(
            "a definition is a mapping with `id` and `steps`, not {}",
            node.kind()
        );
        problems.push(root.problem(message));
        return None;
    }
    // Otherwise every one of its keys would be unknown.
    if node.get("trigger_type").is_some() && node.get("steps").is_none() {
        let problem = root.problem("this is a trigger, not a workflow");
        problems.push(problem.with_hint("use `refire trigger create <workflow> -f <file>`"));
        return None;
    }
    let fields = root.fields(keys::WORKFLOW, problems)?;
    let mut sites = Sites::default();
    let id = id(&fields, &root, options, problems);
    let limited = |name: &'static str, max: usize, problems: &mut Problems| {
        let field = fields.get(name)?;
        let text = field.text(problems)?;
        if text.chars().count() > max {
            problems.push(field.problem(format!("longer than {max} characters")));
        }
        Some(text.to_owned())
    };
    let name = limited("name", NAME_CHARS_MAX, problems);
    let description = limited("description", DESCRIPTION_CHARS_MAX, problems);
    let retry = match fields.get("retry") {
        Some(field) => RetrySettings::read(&field, problems),
        None => RetrySettings::default(),
    };
    let modes = [
        ("all", DeadLetterMode::All),
        ("exhausted", DeadLetterMode::Exhausted),
    ];
    let dead_letter = fields
        .get("deadLetter")
        .and_then(|field| field.word(&modes, problems));
    let concurrency = match fields.get("concurrency") {
        Some(field) => concurrency(&field, &mut sites, problems),
        None => Concurrency::default(),
    };
    let rate_limit = fields
        .get("rateLimit")
        .and_then(|field| rate_limit(&field, &mut sites, problems));
    let drafts = steps(&fields, options, &mut sites, problems);
    let output = fields.any("output").and_then(|field| {
        sites.add_all(Owner::Output, &field);
        tree(&field, problems)
    });
    let steps = check::resolve(drafts, &sites, problems)?;
    let id = id?;
    Some(Workflow {
        name: name.unwrap_or_else(|| id.to_string()),
        id,
        description,
        retry,
        steps,
        output,
        dead_letter: dead_letter.unwrap_or_default(),
        concurrency,
        rate_limit,
    })
}

/// What was saved may be the server's own.
fn named(text: &str, options: &ParseOptions<'_>) -> Result<WorkflowId, NameError> {
    match options.stored {
        true => WorkflowId::kept(text),
        false => WorkflowId::new(text),
    }
}

fn id(
    fields: &Fields<'_>,
    root: &Field<'_>,
    options: &ParseOptions<'_>,
    problems: &mut Problems,
) -> Option<WorkflowId> {
    let Some(field) = fields.get("id") else {
        let Some(expected) = options.expected_id else {
            let problem = Problem::new("id", root.node.mark, "`id` is required");
            problems.push(problem.with_hint("write for example `id: my_workflow`"));
            return None;
        };
        return root.keep(named(expected, options), problems);
    };
    let text = field.scalar(problems)?;
    let id = field.keep(named(text, options), problems)?;
    match options.expected_id {
        Some(expected) if expected != text => {
            let message = format!("the id is \"{text}\", but \"{expected}\" is being applied");
            problems.push(field.problem(message));
            None
        }
        _ => Some(id),
    }
}

fn steps<'a>(
    fields: &Fields<'a>,
    options: &ParseOptions<'_>,
    sites: &mut Sites,
    problems: &mut Problems,
) -> Vec<Draft> {
    let Some(field) = fields.required("steps", problems) else {
        return Vec::new();
    };
    let Content::Sequence(items) = &field.node.content else {
        problems.push(field.problem(format!(
            "expected a list of steps, found {}",
            field.node.kind()
        )));
        return Vec::new();
    };
    if items.is_empty() {
        problems.push(field.problem("a workflow has at least one step"));
    }
    if items.len() > STEPS_MAX {
        let message = format!("{} steps; a workflow has at most {STEPS_MAX}", items.len());
        problems.push(field.problem(message));
        return Vec::new();
    }
    field
        .items()
        .iter()
        .enumerate()
        .map(|(at, item)| step::read(at, item, options, sites, problems))
        .collect()
}

fn concurrency(field: &Field<'_>, sites: &mut Sites, problems: &mut Problems) -> Concurrency {
    if matches!(field.node.content, Content::Number(_)) {
        let max = field.whole(1..=LIMIT_MAX, problems).map(small);
        return Concurrency {
            max,
            ..Concurrency::default()
        };
    }
    let Some(fields) = field.fields(keys::CONCURRENCY, problems) else {
        return Concurrency::default();
    };
    let whole = |name, problems: &mut Problems| {
        fields
            .get(name)
            .and_then(|field| field.whole(1..=LIMIT_MAX, problems))
            .map(small)
    };
    let concurrency = Concurrency {
        max: whole("max", problems),
        max_per_key: whole("maxPerKey", problems),
        key: fields
            .get("key")
            .and_then(|field| limit_key(&field, sites, problems)),
    };
    match (fields.get("key"), fields.get("maxPerKey")) {
        (Some(key), None) => problems.push(key.problem("`key` needs `maxPerKey` beside it")),
        (None, Some(max)) => problems.push(max.problem("`maxPerKey` needs `key` beside it")),
        _ => {}
    }
    concurrency
}

fn rate_limit(field: &Field<'_>, sites: &mut Sites, problems: &mut Problems) -> Option<RateLimit> {
    let fields = field.fields(keys::RATE_LIMIT, problems)?;
    let max = fields.required("max", problems);
    let per = fields.required("per", problems);
    let key = fields
        .get("key")
        .and_then(|field| limit_key(&field, sites, problems));
    let max = max.and_then(|field| field.whole(1..=LIMIT_MAX, problems));
    let per = per.and_then(|field| field.duration(RATE_PER_MIN..=RATE_PER_MAX, problems));
    Some(RateLimit {
        max: small(max?),
        per: per?,
        key,
    })
}

fn limit_key(field: &Field<'_>, sites: &mut Sites, problems: &mut Problems) -> Option<Template> {
    sites.add_all(Owner::Limit, field);
    template(field, problems)
}

/// A string with templates in it.
pub(super) fn template(field: &Field<'_>, problems: &mut Problems) -> Option<Template> {
    let text = field.scalar(problems)?;
    Template::parse(text)
        .map_err(|error| {
            let problem = field.problem(format!("{} (at character {})", error.message, error.at));
            problems.push(match error.hint {
                Some(hint) => problem.with_hint(hint),
                None => problem,
            });
        })
        .ok()
}

/// Any value with templates in its strings.
pub(super) fn tree(field: &Field<'_>, problems: &mut Problems) -> Option<Tree> {
    match Tree::compile(field.node) {
        Ok(tree) => Some(tree),
        Err(errors) => {
            for error in errors {
                let path = format!("{}{}", field.path, error.path);
                let said = error.error;
                let message = format!("{} (at character {})", said.message, said.at);
                let problem = Problem::new(path, error.mark, message);
                problems.push(match said.hint {
                    Some(hint) => problem.with_hint(hint),
                    None => problem,
                });
            }
            None
        }
    }
}

/// Checked before to be small.
fn small(number: u64) -> u32 {
    u32::try_from(number).unwrap_or(u32::MAX)
}

#[cfg(test)]
mod tests;
