//! Starting many executions in one commit, with a result for each.

use axum::Json;
use axum::response::{IntoResponse, Response};
use http::{HeaderMap, StatusCode};
use refire_client::model::{BatchItem, BatchResult, Page};
use refire_core::definition::WorkflowId;
use refire_core::duration;
use refire_core::execution::Trigger;
use refire_core::json::{Elements, Json as Text, Kind};
use refire_core::limit::{PRIORITY_DEFAULT, PRIORITY_LAST};
use refire_engine::Submission;

use super::body::decode;
use super::execute::{self, DELAY_MAX};
use super::problem::wrong;
use super::{Actor, App, Content, Id, Params, Problem, page};
use crate::codes;

/// Items of one batch.
pub(super) const ITEMS_MAX: usize = 1_000;

/// Starts up to 1,000 executions in one commit; each item has its own result, in order.
#[utoipa::path(
    post,
    path = "/api/workflows/{id}/execute-batch",
    params(
        ("traceparent" = Option<String>, Header, description = "The caller's trace (W3C); the calls of the steps belong to it"),
    ),
    request_body(
        content = Vec<BatchItem>, description = "1 to 1000 items",
        example = json!([{"input": {"customer_id": 1}, "idempotency_key": "a"}, {"input": {"customer_id": 2}, "delay": "30s"}]),
    ),
    responses(
        (status = 202, description = "A result for each item", body = Page<BatchResult>),
        (status = 400, description = "The body is not a list of 1 to 1000 items"),
    ),
)]
pub(super) async fn execute_workflow_batch(
    app: App,
    actor: Actor,
    id: Id<WorkflowId>,
    _: Params<()>,
    headers: HeaderMap,
    body: Content,
) -> Result<Response, Problem> {
    let workflow = id.known()?;
    let items = items(&body.json()?)?;
    if app.engine.catalog().newest(&workflow).await?.is_none() {
        return Err(id.missing());
    }
    let trace = execute::trace(&headers);
    let drafts: Vec<Result<Submission, Problem>> = items
        .iter()
        .map(|item| {
            Ok(Submission {
                trace: trace.clone(),
                ..submission(&workflow, &actor, item)?
            })
        })
        .collect();
    let submissions = drafts.iter().flatten().cloned().collect();
    let outcomes = app.engine.executions().submit_all(submissions).await;
    let mut outcomes = outcomes.into_iter();
    let mut results = Vec::with_capacity(drafts.len());
    for draft in drafts {
        let outcome = match draft {
            Err(problem) => Err(problem),
            Ok(_) => match outcomes.next() {
                Some(Ok(accepted)) => execute::settle(&accepted, &workflow),
                Some(Err(error)) => Err(error.into()),
                None => Err(Problem::internal("a batch has fewer results than items")),
            },
        };
        results.push(outcome);
    }
    answer(&app, results).await
}

/// If the server could take none of them, the whole request failed and may be repeated as it is.
async fn answer(
    app: &App,
    results: Vec<Result<execute::Started, Problem>>,
) -> Result<Response, Problem> {
    let failed = |result: &Result<_, Problem>| match result {
        Err(problem) => problem.code().status >= 500,
        Ok(_) => false,
    };
    if results.iter().all(failed) {
        let unknown = |problem: &Problem| problem.code() == &codes::OUTCOME_UNKNOWN;
        let mut problems: Vec<Problem> = results.into_iter().filter_map(Result::err).collect();
        let worst = problems.iter().position(unknown).unwrap_or(0);
        return Err(problems.swap_remove(worst));
    }
    let mut items = Vec::with_capacity(results.len());
    for result in results {
        items.push(match result {
            Ok(started) => BatchResult {
                accepted: Some(execute::model(app, &started).await),
                problem: None,
            },
            Err(problem) => BatchResult {
                accepted: None,
                problem: Some(problem.to_model(None)),
            },
        });
    }
    Ok((StatusCode::ACCEPTED, Json(page::whole(items))).into_response())
}

fn items(body: &Text) -> Result<Vec<Text>, Problem> {
    if body.kind() != Kind::Array {
        let detail = "the body is not a list; send [{\"input\": …}, …]";
        return Err(Problem::new(&codes::INVALID_BODY, detail));
    }
    let items: Vec<&str> = Elements::of(body.as_str()).collect();
    if items.is_empty() || items.len() > ITEMS_MAX {
        let detail = format!("the list has {} items; send 1 to {ITEMS_MAX}", items.len());
        return Err(Problem::new(&codes::INVALID_BODY, detail));
    }
    items
        .into_iter()
        .map(|item| Ok(Text::parse(item)?))
        .collect()
}

fn submission(workflow: &WorkflowId, actor: &Actor, item: &Text) -> Result<Submission, Problem> {
    let item: BatchItem = decode(item)?;
    let mut problems = Vec::new();
    let mut refuse = |field: &str, message: String| problems.push(wrong(field, message));
    let input = match item.input {
        None => Text::empty_object(),
        Some(raw) => execute::not_null(Text::parse(raw.get())?)?,
    };
    let priority = item.priority.unwrap_or(PRIORITY_DEFAULT);
    if !(1..=PRIORITY_LAST).contains(&priority) {
        let message = format!("{priority} is not between 1 and {PRIORITY_LAST}");
        refuse("priority", message);
    }
    let delay = item.delay.as_deref().map(duration::parse).transpose();
    let delay = match delay.map_err(|error| error.to_string()) {
        Ok(Some(delay)) if delay > DELAY_MAX => Err("is longer than a year".to_owned()),
        other => other,
    };
    let delay = delay.unwrap_or_else(|message| {
        refuse("delay", message);
        None
    });
    let key = item.idempotency_key.as_deref().map(execute::checked_key);
    let key = key.transpose().unwrap_or_else(|message| {
        refuse("idempotency_key", message.to_owned());
        None
    });
    if !problems.is_empty() {
        return Err(Problem::fields(&codes::INVALID_BODY, problems));
    }
    Ok(Submission {
        workflow: workflow.clone(),
        input,
        trigger: Trigger::manual(Some(actor.name())),
        idempotency_key: key,
        priority,
        delay,
        retry: None,
        trace: None,
    })
}
