//! What OpenAPI says of the API as a whole, and what follows from rules for every call: the answers
//! that any call may get, the bounds of parameters that mean the same everywhere, and which bodies may
//! be left out. A handler describes only what is its own.

use refire_core::execution::EventKind;
use utoipa::OpenApi;
use utoipa::openapi::path::{Operation, Parameter, ParameterBuilder, ParameterIn, PathItem};
use utoipa::openapi::request_body::RequestBody;
use utoipa::openapi::schema::{
    AnyOfBuilder, Array, ArrayBuilder, ArrayItems, Components, KnownFormat, ObjectBuilder,
    SchemaFormat, SchemaType, Type,
};
use utoipa::openapi::security::{ApiKey, ApiKeyValue, HttpAuthScheme, HttpBuilder, SecurityScheme};
use utoipa::openapi::{Content, ContentBuilder, Object, Ref, RefOr, Required, Response, Schema};
use utoipa_axum::router::OpenApiRouter;

use super::App;
use super::batch::ITEMS_MAX;
use super::execute::KEY_LENGTH_MAX;
use super::page::LIMIT_DEFAULT;
use super::query::{NAMED_MAX, numbers};
use super::task::WORKER_CHARS_MAX;

/// Everything that is said about the API as a whole.
#[derive(OpenApi)]
#[openapi(
    info(
        title = "Refire",
        description = "Durable workflows, retries and dead letters.\n\nSend the API key as `Authorization: Bearer <key>` or `X-API-Key: <key>`. Errors are RFC 9457 problems with a stable `code`; `/docs/errors/{code}` explains each. Lists answer `{items, next_cursor}`. A 2xx answer to a call that starts something means that it is on disk; 503 means that certainly nothing was written.",
        license(name = "MIT OR Apache-2.0"),
    ),
    tags(
        (name = "Workflows", description = "Definitions and their versions"),
        (name = "Executions", description = "Runs of workflows"),
        (name = "Triggers", description = "What starts executions automatically: cron, schedules and webhooks"),
        (name = "Retries", description = "Recent retries and the simulator"),
        (name = "Tasks", description = "Work that workers outside fetch, do and report"),
        (name = "Targets", description = "Services that workflows call, and the circuit breakers before them"),
        (name = "Callbacks", description = "What targets say later about the calls that they accepted"),
        (name = "Scheduled tasks", description = "Services that are called at certain times, and what became of each call"),
        (name = "Dead letters", description = "Executions that failed permanently, and how to run them again"),
        (name = "Alerts", description = "Rules by which people are alerted, what fires, and silences"),
        (name = "Bulk jobs", description = "What is done with many dead letters or executions at once"),
        (name = "Console", description = "Logging in to the web console"),
        (name = "Server", description = "Health, version, nodes, backup"),
    ),
    security(("bearer" = []), ("api_key" = []), ("session" = [])),
)]
struct Description;

/// Where keys come from, for whoever is asked for one.
const KEYS: &str = "The API key; one of the two ways is enough. The first start of a server leaves \
                    its key in `admin.key` in the data directory.";

/// How the console calls.
const SESSIONS: &str = "A session of the web console, which `POST /api/session` begins; where the public address \
                        is `https`, the cookie is `__Host-refire_session`. Calls that change something also \
                        need `X-Refire-Console: 1` and come from the console's own origin.";

/// The name of a workflow.
const NAME: &str = "^[A-Za-z0-9_][A-Za-z0-9_.-]{0,127}$";
/// The same where an empty one counts as none.
const NAME_OR_NONE: &str = "^([A-Za-z0-9_][A-Za-z0-9_.-]{0,127})?$";

/// The name of a workflow, or the beginning of several.
const NAMES: &str = "^([A-Za-z0-9_][A-Za-z0-9_.-]{0,127})?\\*?$";
/// The id of an execution.
const EXECUTION: &str = "^exec_[0-7][0-9a-hjkmnp-tv-z]{25}$";
/// The id of a trigger; an empty one counts as none.
const TRIGGER_OR_NONE: &str = "^(trg_[0-7][0-9a-hjkmnp-tv-z]{25})?$";

/// Calls that only work something out, so that a full disk does not concern them.
const WRITES_NOTHING: [&str; 8] = [
    "preview_alert_rule",
    "validate_workflow",
    "diff_workflow",
    "simulate_retries",
    "preview_schedule",
    "preview_webhook",
    "replay_execution",
    "back_up",
];
/// Calls that take any JSON, or none.
const TAKES_NOTHING: [&str; 4] = [
    "execute_workflow",
    "run_trigger",
    "simulate_retries",
    "receive_webhook",
];

/// The start: what all calls are added to.
pub(super) fn description() -> utoipa::openapi::OpenApi {
    let mut document = Description::openapi();
    let components = document.components.get_or_insert_default();
    let bearer = HttpBuilder::new()
        .scheme(HttpAuthScheme::Bearer)
        .description(Some(KEYS))
        .build();
    components.add_security_scheme("bearer", SecurityScheme::Http(bearer));
    let header = ApiKey::Header(ApiKeyValue::with_description("X-API-Key", KEYS));
    components.add_security_scheme("api_key", SecurityScheme::ApiKey(header));
    let cookie = ApiKey::Cookie(ApiKeyValue::with_description("refire_session", SESSIONS));
    components.add_security_scheme("session", SecurityScheme::ApiKey(cookie));
    for answer in &ANSWERS {
        let mut response = Response::new(answer.description);
        hold_a_problem(&mut response);
        let name = answer.name.to_owned();
        components.responses.insert(name, response.into());
    }
    document
}

/// Calls of one subject, which stands above them in the documentation.
pub(super) fn tagged(subject: &str, mut calls: OpenApiRouter<App>) -> OpenApiRouter<App> {
    for item in calls.get_openapi_mut().paths.paths.values_mut() {
        for (_, operation) in operations(item) {
            operation.tags = Some(vec![subject.to_owned()]);
        }
    }
    calls
}

/// Every refusal is a problem unless a handler says otherwise.
fn hold_a_problem(response: &mut Response) {
    let content = ContentBuilder::new().schema(Some(Ref::from_schema_name("Problem")));
    let content = content.build().into();
    let kind = "application/problem+json".to_owned();
    response.content.insert(kind, content);
}

/// The end: what follows from rules is added to every call.
pub(super) fn complete(document: &mut utoipa::openapi::OpenApi) {
    let components = document.components.get_or_insert_default();
    for (path, item) in &mut document.paths.paths {
        for (is_read, operation) in operations(item) {
            let call = Call::of(path, is_read, operation);
            if call.is_of_entity {
                describe_entity(path, operation);
            }
            for (status, answer) in &mut operation.responses.responses {
                if let RefOr::T(answer) = answer
                    && status.as_str() >= "400"
                    && answer.content.is_empty()
                {
                    hold_a_problem(answer);
                }
            }
            for answer in ANSWERS.iter().filter(|answer| (answer.is_of)(&call)) {
                let response = Ref::from_response_name(answer.name);
                let answers = &mut operation.responses.responses;
                let status = answer.status.to_string();
                answers.entry(status).or_insert_with(|| response.into());
            }
            for parameter in operation.parameters.iter_mut().flatten() {
                if let RefOr::T(parameter) = parameter {
                    bound(path, parameter);
                }
            }
            let id = operation.operation_id.as_deref().unwrap_or_default();
            if let Some(RefOr::T(body)) = &mut operation.request_body {
                say_what_it_is(body, id);
                if TAKES_NOTHING.contains(&id) || has_nothing_required(body, components) {
                    body.required = Some(Required::False);
                }
            }
        }
    }
}

/// The operations of a path, and whether each only reads.
fn operations(item: &mut PathItem) -> impl Iterator<Item = (bool, &mut Operation)> {
    let reading = [&mut item.get].into_iter().flatten();
    let writing = [
        &mut item.put,
        &mut item.post,
        &mut item.delete,
        &mut item.patch,
    ];
    let writing = writing.into_iter().flatten();
    reading
        .map(|one| (true, one))
        .chain(writing.map(|one| (false, one)))
}

/// What the rules look at.
struct Call {
    /// Whether it asks for a key.
    is_guarded: bool,
    /// Whether it needs the store, and so the whole server.
    needs_store: bool,
    /// Whether its method only reads.
    is_read: bool,
    /// Whether it changes something.
    writes: bool,
    /// Whether it reads a body.
    has_body: bool,
    /// Whether its path names what it is about.
    is_of_entity: bool,
}

impl Call {
    fn of(path: &str, is_read: bool, operation: &Operation) -> Self {
        let id = operation.operation_id.as_deref().unwrap_or_default();
        let bases = [
            "/api/",
            "/webhooks/",
            "/task-callback/",
            "/schedule-task",
            "/task-history/",
        ];
        let needs_store = bases.iter().any(|base| path.starts_with(base));
        Self {
            is_guarded: operation.security.is_none(),
            needs_store,
            is_read,
            writes: needs_store && !is_read && !WRITES_NOTHING.contains(&id),
            has_body: operation.request_body.is_some(),
            is_of_entity: path.starts_with("/api/") && path.contains("/{id}"),
        }
    }
}

/// The id in a path, and the answer where there is nothing by it, unless the handler says otherwise.
fn describe_entity(path: &str, operation: &mut Operation) {
    let parameters = operation.parameters.get_or_insert_default();
    let is_id = |one: &RefOr<Parameter>| matches!(one, RefOr::T(one) if one.name == "id");
    if !parameters.iter().any(is_id) {
        let (_, collection) = path.split_at("/api/".len());
        let (description, example) = match collection.split('/').next() {
            Some("workflows") => ("The workflow's name", Some("customer_360_view".into())),
            Some("executions") => ("`exec_…`", None),
            Some("dlq") => ("`dlq_…`", None),
            Some("external-tasks") => ("`xt_…`", None),
            Some("workers") => ("The worker's name", Some("n8n-worker-1".into())),
            Some("scheduled-tasks") => ("`task-…`", None),
            Some("channels") => ("`chn_…`", None),
            Some("notifications") => ("`ntf_…`", None),
            Some("targets") => (
                "The host, with its port unless that is the scheme's own",
                Some("api.example.com".into()),
            ),
            _ => ("`trg_…`", None),
        };
        let id = ParameterBuilder::new()
            .name("id")
            .parameter_in(ParameterIn::Path)
            .required(Required::True)
            .description(Some(description))
            .schema(Some(ObjectBuilder::new().schema_type(Type::String)))
            .example(example);
        parameters.insert(0, RefOr::T(id.build()));
    }
    let is_made = operation.operation_id.as_deref() == Some("save_workflow");
    if !is_made {
        let missing = match path.starts_with("/api/workflows/{id}/") {
            true => "There is no such workflow",
            false => "There is none",
        };
        let answers = &mut operation.responses.responses;
        let answer = answers.entry("404".to_owned());
        answer.or_insert_with(|| Response::new(missing).into());
    }
}

/// An answer that many calls may get.
struct Answer {
    status: u16,
    name: &'static str,
    description: &'static str,
    is_of: fn(&Call) -> bool,
}

const ANSWERS: [Answer; 9] = [
    Answer {
        status: 400,
        name: "NotValid",
        description: "A parameter, a header or the body is wrong; `errors` has every one",
        is_of: |_| true,
    },
    Answer {
        status: 401,
        name: "Unauthorized",
        description: "The API key is missing or wrong",
        is_of: |call| call.is_guarded,
    },
    Answer {
        status: 403,
        name: "NotFromConsole",
        description: "A cookie would allow it, but it does not come from the console",
        is_of: |call| call.is_guarded && !call.is_read,
    },
    Answer {
        status: 408,
        name: "TooSlow",
        description: "The body did not arrive in time",
        is_of: |call| call.has_body,
    },
    Answer {
        status: 413,
        name: "TooLarge",
        description: "The body is too large",
        is_of: |call| call.has_body,
    },
    Answer {
        status: 431,
        name: "HeadersTooLarge",
        description: "There are too many headers, or they are too large",
        is_of: |_| true,
    },
    Answer {
        status: 500,
        name: "Internal",
        description: "Something went wrong on the server's side, or the outcome is not known: `code` says which",
        is_of: |_| true,
    },
    Answer {
        status: 503,
        name: "Unavailable",
        description: "The server is stopping, overloaded or without its database: certainly nothing was written",
        is_of: |call| call.needs_store,
    },
    Answer {
        status: 507,
        name: "DiskFull",
        description: "The disk is full: nothing was written",
        is_of: |call| call.writes,
    },
];

/// The bounds of a parameter that means the same wherever it is.
fn bound(path: &str, parameter: &mut Parameter) {
    if path.ends_with("/events") && parameter.name == "type" {
        let word = ObjectBuilder::new()
            .schema_type(Type::String)
            .enum_values(Some(EventKind::NAMES.to_vec()));
        parameter.schema = Some(ArrayBuilder::new().items(word).into());
    }
    if let Some(RefOr::T(Schema::Array(list))) = &mut parameter.schema {
        bound_list(&parameter.name, list);
    }
    let Some(RefOr::T(Schema::Object(schema))) = &mut parameter.schema else {
        return;
    };
    // An optional one is left out; it is never null.
    if let SchemaType::Array(types) = &schema.schema_type {
        let one = types.iter().find(|one| **one != Type::Null).cloned();
        schema.schema_type = one.map_or(SchemaType::AnyValue, SchemaType::Type);
    }
    let is_number = schema.schema_type == SchemaType::Type(Type::Integer);
    if is_number {
        let range = numbers(&parameter.name);
        schema.minimum = Some((*range.start()).into());
        schema.maximum = Some((*range.end()).into());
        schema.format = None;
    }
    match (&parameter.parameter_in, parameter.name.as_str()) {
        (_, "limit") => schema.default = Some(LIMIT_DEFAULT.into()),
        (_, "Idempotency-Key") => {
            (schema.min_length, schema.max_length) = (Some(1), Some(KEY_LENGTH_MAX));
        }
        (_, "fingerprint") => schema.pattern = Some("^([0-9a-fA-F]{16})?$".to_owned()),
        (ParameterIn::Query, "workerId" | "workerType") => {
            schema.max_length = Some(WORKER_CHARS_MAX);
        }
        (ParameterIn::Query, "sort") => schema.pattern = Some("^(name|-updated)?$".to_owned()),
        (ParameterIn::Query, "include") => schema.pattern = Some("^(stats)?$".to_owned()),
        (ParameterIn::Query, "trigger") => schema.pattern = Some(TRIGGER_OR_NONE.to_owned()),
        (ParameterIn::Query, "workflow" | "workflow_id") => {
            schema.pattern = Some(NAME_OR_NONE.to_owned());
        }
        (ParameterIn::Path, "id") if path.starts_with("/api/workflows/") => {
            schema.pattern = Some(NAME.to_owned());
        }
        (_, "from" | "to") if !is_number => parameter.schema = Some(time_or_none()),
        _ => {}
    }
}

/// The same for a list of values.
fn bound_list(name: &str, list: &mut Array) {
    let pattern = match name {
        "workflow" => NAMES,
        "ids" => EXECUTION,
        _ => return,
    };
    let item = ObjectBuilder::new().schema_type(Type::String);
    list.items = ArrayItems::RefOrSchema(Box::new(item.pattern(Some(pattern)).into()));
    list.max_items = Some(NAMED_MAX);
}

/// A moment; an empty one counts as none.
fn time_or_none() -> RefOr<Schema> {
    let text = || ObjectBuilder::new().schema_type(Type::String);
    let time = SchemaFormat::KnownFormat(KnownFormat::DateTime);
    AnyOfBuilder::new()
        .item(text().format(Some(time)))
        .item(text().max_length(Some(0)))
        .into()
}

/// What is written in YAML or JSON is a mapping in both, and lists have bounds.
fn say_what_it_is(body: &mut RequestBody, id: &str) {
    let is_mapping = body.content.contains_key("application/yaml");
    for content in body.content.values_mut() {
        let RefOr::T(content) = content else { continue };
        if is_mapping {
            // The policy that is simulated may be nothing, for the default one, or false.
            let types: SchemaType = match TAKES_NOTHING.contains(&id) {
                true => SchemaType::from_iter([Type::Object, Type::Null, Type::Boolean]),
                false => Type::Object.into(),
            };
            content.schema = Some(ObjectBuilder::new().schema_type(types).into());
        }
        if let Some(RefOr::T(Schema::Array(list))) = &mut content.schema {
            (list.min_items, list.max_items) = (Some(1), Some(ITEMS_MAX));
        }
    }
}

/// Whether a body is an object of which every member may be left out, and so the whole.
fn has_nothing_required(body: &RequestBody, components: &Components) -> bool {
    let is_free = |content: &RefOr<Content>| {
        let RefOr::T(content) = content else {
            return false;
        };
        let Some(RefOr::Ref(to)) = &content.schema else {
            return false;
        };
        let name = to.ref_location.rsplit('/').next().unwrap_or_default();
        let schema = components.schemas.get(name);
        matches!(schema, Some(RefOr::T(Schema::Object(object))) if is_optional(object))
    };
    body.content.values().all(is_free)
}

fn is_optional(object: &Object) -> bool {
    object.required.is_empty() && !object.properties.is_empty()
}
