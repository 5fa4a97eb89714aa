//! Reading one step. What it says about other steps is kept as text here; `check` finds out who is
//! meant once all steps are read.

use std::time::Duration;

use refire_schedule::nearest;

use super::check::{Owner, Sites};
use super::fields::{Elsewhere, Field, Fields};
use super::header;
use super::keys;
use super::name::StepId;
use super::parse::{ParseOptions, template, tree};
use super::problem::Problems;
use super::retry::{RetrySettings, read_statuses};
use super::source::{Content, Mark};
use super::status::StatusRange;
use super::url;
use super::workflow::{Http, Local, StepKind};
use crate::json::Kind;
use crate::jsonpath::JsonPath;
use crate::template::Template;

/// How long an HTTP attempt may take when nothing is written.
const HTTP_TIMEOUT_DEFAULT: Duration = Duration::from_secs(30);
const TIMEOUT_MIN: Duration = Duration::from_millis(100);
const HTTP_TIMEOUT_MAX: Duration = Duration::from_secs(60 * 60);
const LOCAL_TIMEOUT_MAX: Duration = Duration::from_secs(24 * 60 * 60);

const RESPONSE_BYTES_DEFAULT: u64 = 1024 * 1024;
/// An answer becomes part of the execution's history, which is bounded by 10 MiB.
const RESPONSE_BYTES_MAX: u64 = 8 * 1024 * 1024;

/// The most redirects that one attempt may follow; browsers stop at twenty, and few need two.
pub(super) const FOLLOW_REDIRECTS_MAX: u64 = 5;

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
        compensate: None,
        output_mapping: Vec::new(),
    };
    let config = Elsewhere {
        table: keys::CONFIG,
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
    draft.compensate = fields
        .get("compensate")
        .and_then(|field| mentions(&field, problems).into_iter().next());
    if let Some(mapping) = fields.get("outputMapping") {
        draft.output_mapping = output_mapping(&mapping, problems);
    }
    kind(at, &fields, &mut draft, options, sites, problems);
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
    if !keys::STEP_TYPES.contains(&name.as_str()) {
        let available = keys::STEP_TYPES.join(", ");
        let mut problem = field.problem(format!("there is no step type `{written}`"));
        if keys::STEP_TYPES_LATER.contains(&name.as_str()) {
            problem = field.problem(format!(
                "step type `{name}` is not available in this version (available: {available})"
            ));
        } else if let near @ Some(_) = nearest(&name, keys::STEP_TYPES.iter().copied()) {
            problem = problem.suggesting(near);
        } else {
            problem = problem.with_hint(format!("available: {available}"));
        }
        problems.push(problem);
        return;
    }
    let Some(config) = fields.required("config", problems) else {
        return;
    };
    let table = if name == "http" {
        keys::HTTP
    } else {
        keys::LOCAL
    };
    let step = Elsewhere {
        table: keys::STEP,
        place: "on the step, beside `config`",
    };
    let Some(config) = config.fields_or(table, &[step], problems) else {
        return;
    };
    if let Some(mapping) = config.get("outputMapping") {
        if fields.get("outputMapping").is_some() {
            problems.push(mapping.problem("`outputMapping` is given twice, here and on the step"));
        }
        draft.output_mapping = output_mapping(&mapping, problems);
    }
    draft.kind = if name == "http" {
        http(at, &config, options, sites, problems).map(StepKind::Http)
    } else {
        local(at, &config, options, sites, problems).map(StepKind::Local)
    };
}

fn http(
    at: usize,
    config: &Fields<'_>,
    options: &ParseOptions<'_>,
    sites: &mut Sites,
    problems: &mut Problems,
) -> Option<Http> {
    for name in ["url", "headers", "query", "body"] {
        if let Some(field) = config.get(name) {
            sites.add_all(Owner::Config(at), &field);
        }
    }
    let method = method(config, problems);
    let url = config.required("url", problems).and_then(|field| {
        let url = template(&field, problems)?;
        let host = field.keep(url::check(&url), problems)?;
        Some((url, host))
    });
    let headers = config
        .get("headers")
        .map(|field| header::read(&field, options, problems));
    let mut query = Vec::new();
    if let Some(field) = config.get("query") {
        for (name, item) in field.members(problems) {
            if matches!(item.node.content, Content::Mapping(_)) {
                problems.push(item.problem("a query value is a text, a number or a list of them"));
            }
            query.extend(tree(&item, problems).map(|tree| (name.to_owned(), tree)));
        }
    }
    let body = config.any("body").and_then(|field| tree(&field, problems));
    let timeout = config
        .get("timeout")
        .and_then(|field| field.duration(TIMEOUT_MIN..=HTTP_TIMEOUT_MAX, problems));
    let expected = config.get("expectedStatuses").map(|field| {
        let ranges = read_statuses(&field, problems);
        if ranges.is_empty() && field.items().is_empty() {
            problems.push(field.problem("at least one status must be expected"));
        }
        ranges
    });
    let max_response_bytes = config
        .get("maxResponseBytes")
        .and_then(|field| field.whole(1..=RESPONSE_BYTES_MAX, problems));
    let follow_redirects = config
        .get("followRedirects")
        .and_then(|field| field.whole(0..=FOLLOW_REDIRECTS_MAX, problems));
    let (url, static_host) = url?;
    Some(Http {
        method: method?,
        url,
        headers: headers.unwrap_or_default(),
        query,
        body,
        timeout: timeout.unwrap_or(HTTP_TIMEOUT_DEFAULT),
        expected: expected.unwrap_or_else(|| vec![StatusRange::SUCCESS]),
        max_response_bytes: max_response_bytes.unwrap_or(RESPONSE_BYTES_DEFAULT),
        follow_redirects: follow_redirects
            .and_then(|count| u8::try_from(count).ok())
            .unwrap_or_default(),
        static_host,
    })
}

fn method(config: &Fields<'_>, problems: &mut Problems) -> Option<String> {
    let Some(field) = config.get("method") else {
        return Some("GET".to_owned());
    };
    let method = field.text(problems)?.to_ascii_uppercase();
    if method == "CONNECT" || !header::is_token(&method) || method.len() > 32 {
        problems.push(field.problem(format!("`{method}` is not a method that can be used")));
        return None;
    }
    Some(method)
}

fn local(
    at: usize,
    config: &Fields<'_>,
    options: &ParseOptions<'_>,
    sites: &mut Sites,
    problems: &mut Problems,
) -> Option<Local> {
    let task = config.required("task", problems);
    let timeout = config
        .get("timeout")
        .and_then(|field| field.duration(TIMEOUT_MIN..=LOCAL_TIMEOUT_MAX, problems));
    let input = config.any("input").and_then(|field| {
        sites.add_all(Owner::Config(at), &field);
        tree(&field, problems)
    });
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
