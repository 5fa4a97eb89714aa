//! Reading one step. What it says about other steps is kept as text here; `check` finds out who is
//! meant once all steps are read.

use refire_schedule::nearest;

use super::callback::Callback;
use super::check::{Owner, Sites};
use super::fields::{Elsewhere, Field, Fields};
use super::keys;
use super::name::StepId;
use super::parse::{ParseOptions, template};
use super::problem::Problems;
use super::retry::RetrySettings;
use super::source::Mark;
use super::step_type::{self, Config, StepKind};
use crate::json::Kind;
use crate::jsonpath::JsonPath;
use crate::template::Template;

/// Names that one step's output may be mapped to: each is looked for in the whole output, by the
/// thread that commits.
pub(super) const OUTPUT_MAPPING_MAX: usize = 100;

/// Another step's name, and where it is written.
#[derive(Debug, Clone)]
pub(super) struct Mention {
    pub(super) name: String,
    pub(super) path: String,
    pub(super) mark: Mark,
}

/// A step as read, before names are resolved. Parts that were wrong are missing.
#[derive(Debug)]
pub(super) struct Draft {
    pub(super) path: String,
    pub(super) mark: Mark,
    pub(super) id: Option<StepId>,
    pub(super) id_mark: Mark,
    pub(super) kind: Option<StepKind>,
    /// `None` when the key is absent, which is not the same as an empty list.
    pub(super) needs: Option<Vec<Mention>>,
    pub(super) when: Option<Template>,
    pub(super) has_when: bool,
    pub(super) retry: Option<RetrySettings>,
    pub(super) callback: Option<Callback>,
    pub(super) compensate: Option<Mention>,
    pub(super) output_mapping: Vec<(Mention, JsonPath)>,
}

pub(super) fn read(
    at: usize,
    field: &Field<'_>,
    options: &ParseOptions<'_>,
    sites: &mut Sites,
    problems: &mut Problems,
) -> Draft {
    let mut draft = Draft {
        path: field.path.clone(),
        mark: field.node.mark,
        id: None,
        id_mark: field.node.mark,
        kind: None,
        needs: None,
        when: None,
        has_when: false,
        retry: None,
        callback: None,
        compensate: None,
        output_mapping: Vec::new(),
    };
    let config = Elsewhere {
        table: step_type::ANY_KEYS.as_slice(),
        place: "under `config`",
    };
    let Some(fields) = field.fields_or(keys::STEP, &[config], problems) else {
        return draft;
    };
    if let Some(id) = fields.required("id", problems) {
        draft.id_mark = id.node.mark;
        draft.id = id
            .scalar(problems)
            .and_then(|text| id.keep(StepId::new(text), problems));
    }
    draft.needs = fields.get("needs").map(|needs| mentions(&needs, problems));
    if let Some(when) = fields.get("when") {
        sites.add_all(Owner::When(at), &when);
        draft.has_when = true;
        draft.when = condition(&when, problems);
    }
    draft.retry = fields
        .get("retry")
        .map(|retry| RetrySettings::read(&retry, problems));
    let callback = fields.get("callback");
    draft.callback = callback
        .as_ref()
        .map(|field| Callback::read(field, problems));
    draft.compensate = fields
        .get("compensate")
        .and_then(|field| mentions(&field, problems).into_iter().next());
    if let Some(mapping) = fields.get("outputMapping") {
        draft.output_mapping = output_mapping(&mapping, problems);
    }
    kind(at, &fields, &mut draft, options, sites, problems);
    if let (Some(kind), Some(callback)) = (&draft.kind, callback)
        && !kind.takes_callbacks()
    {
        let message = format!("a step of type `{}` has no callback", kind.type_name());
        problems.push(
            callback
                .problem(message)
                .with_hint(kind.instead_of_callbacks()),
        );
    }
    draft
}

fn mentions(field: &Field<'_>, problems: &mut Problems) -> Vec<Mention> {
    let mention = |item: Field<'_>| {
        let name = item.scalar(problems)?.to_owned();
        Some(Mention {
            name,
            mark: item.node.mark,
            path: item.path,
        })
    };
    field.items().into_iter().filter_map(mention).collect()
}

/// `when`: one `${…}` or a literal true/false; nothing else can give true or false.
fn condition(field: &Field<'_>, problems: &mut Problems) -> Option<Template> {
    let template = template(field, problems)?;
    if let Some(default) = template.defaults().flatten().next()
        && default.kind() != Kind::Bool
    {
        problems.push(field.problem("the default of `when` must be true or false"));
        return None;
    }
    if template.is_whole() || matches!(template.literal(), Some("true" | "false")) {
        return Some(template);
    }
    let problem = field.problem("`when` must give true or false");
    problems.push(problem.with_hint(
        "write exactly one `${…}`, for example \"${input.urgent}\" or \"${input.urgent ?? false}\"",
    ));
    None
}

fn output_mapping(field: &Field<'_>, problems: &mut Problems) -> Vec<(Mention, JsonPath)> {
    let mut mapping = Vec::new();
    let members = field.members(problems);
    if members.len() > OUTPUT_MAPPING_MAX {
        let message = format!("more than {OUTPUT_MAPPING_MAX} names for one step's output");
        problems.push(field.problem(message));
    }
    for (key, item) in members {
        if key.is_empty() {
            problems.push(item.problem("a context key cannot be empty"));
        }
        let Some(text) = item.text(problems) else {
            continue;
        };
        if text.contains("${") {
            problems.push(item.problem("a mapping is a JSONPath, it takes no `${…}`"));
        } else if let Some(path) = item.keep(JsonPath::parse(text), problems) {
            let mention = Mention {
                name: key.to_owned(),
                mark: item.node.mark,
                path: item.path.clone(),
            };
            mapping.push((mention, path));
        }
    }
    mapping
}

/// The type and what belongs to it.
fn kind(
    at: usize,
    fields: &Fields<'_>,
    draft: &mut Draft,
    options: &ParseOptions<'_>,
    sites: &mut Sites,
    problems: &mut Problems,
) {
    let Some(field) = fields.required("type", problems) else {
        return;
    };
    let Some(written) = field.text(problems) else {
        return;
    };
    let name = written.to_ascii_lowercase();
    let Some(step_type) = step_type::named(&name) else {
        let names = step_type::names();
        let available = names.join(", ");
        let mut problem = field.problem(format!("there is no step type `{written}`"));
        if step_type::LATER.contains(&name.as_str()) {
            problem = field.problem(format!(
                "step type `{name}` is not available in this version (available: {available})"
            ));
        } else if let near @ Some(_) = nearest(&name, names) {
            problem = problem.suggesting(near);
        } else {
            problem = problem.with_hint(format!("available: {available}"));
        }
        problems.push(problem);
        return;
    };
    let Some(config) = fields.required("config", problems) else {
        return;
    };
    let step = Elsewhere {
        table: keys::STEP,
        place: "on the step, beside `config`",
    };
    let Some(config) = config.fields_or(step_type.keys, &[step], problems) else {
        return;
    };
    if let Some(mapping) = config.get("outputMapping") {
        if fields.get("outputMapping").is_some() {
            problems.push(mapping.problem("`outputMapping` is given twice, here and on the step"));
        }
        draft.output_mapping = output_mapping(&mapping, problems);
    }
    draft.kind = (step_type.read)(Config {
        step: at,
        fields: &config,
        options,
        sites,
        problems,
    });
}
