//! Lists of executions, and counts, by everything that can be asked of them.

use axum::Json;
use refire_client::model::{ExecutionCount, ExecutionPage, Page};
use refire_client::query::{ExecutionQuery, Paging};
use refire_core::execution::{Status, TriggerKind};
use refire_core::id::ExecutionId;
use refire_core::time::Timestamp;
use refire_engine::key_hash;
use refire_store::{COUNTED_MAX, ExecutionFilter, OfWorkflow, Stretch, Summary};

use crate::api::query::{meant, parsed};
use crate::api::{Answer, App, List, Params, Problem, Window, page, view};

/// Executions, newest first, without input, output and steps.
///
/// By workflow, status, trigger, time, id and key they are found at once. Any other filter looks at 10,000 of them,
/// says with `searched_to` how far it came, and goes on from `next_cursor`.
#[utoipa::path(
    get,
    path = "/api/executions",
    params(ExecutionQuery, Paging),
    responses(
        (status = 200, description = "A page of executions", body = ExecutionPage),
        (status = 400, description = "A parameter is wrong"),
    ),
)]
pub(in crate::api) async fn list_executions(
    app: App,
    Params((query, paging)): Params<(ExecutionQuery, Paging)>,
) -> Answer<ExecutionPage> {
    let filter = filter(&app, &query).await?;
    let (rows, searched_to) = rows(&app, List::Executions, (&query, &filter), &paging).await?;
    let engine = &app.engine;
    let view = |row| async move { view::execution::listed(engine, &row).await };
    let Json(page) = page::shown(rows, view).await?;
    Ok(Json(ExecutionPage {
        items: page.items,
        next_cursor: page.next_cursor,
        searched_to: searched_to.map(told),
    }))
}

/// How many executions there are: exactly up to 10,000, else at least.
#[utoipa::path(
    get,
    path = "/api/executions/count",
    params(ExecutionQuery),
    responses(
        (status = 200, description = "The count", body = ExecutionCount),
        (status = 400, description = "A parameter is wrong"),
    ),
)]
pub(in crate::api) async fn count_executions(
    app: App,
    Params(query): Params<ExecutionQuery>,
) -> Answer<ExecutionCount> {
    let filter = filter(&app, &query).await?;
    let store = app.engine.store();
    let counted = store.count_executions(&filter, COUNTED_MAX).await?;
    let by_status = counted.by_status.iter();
    Ok(Json(ExecutionCount {
        total: counted.total(),
        exact: counted.is_exact,
        by_status: by_status
            .map(|(status, count)| (status.to_string(), *count))
            .collect(),
        searched_to: counted.searched_to.map(told),
    }))
}

/// A page of a list of executions, and how far it was searched for, if that was not to the end. `asked` is
/// what tells this list from one with another filter.
pub(in crate::api) async fn rows(
    app: &App,
    list: List,
    (asked, filter): (&impl std::fmt::Debug, &ExecutionFilter),
    paging: &Paging,
) -> Result<(Page<Summary>, Option<ExecutionId>), Problem> {
    let window = Window::new(list, asked, paging)?;
    let stretch = Stretch::new(window.behind, window.rows);
    let found = app.engine.store().executions(filter, &stretch).await?;
    let searched_to = found.searched_to;
    let page = window.page(found.rows, |row| row.id);
    Ok((window.going_on(page, searched_to), searched_to))
}

/// The workflows that are asked for, each by its name or by the beginning of several.
pub(in crate::api) fn workflows(names: &[String]) -> Result<Vec<OfWorkflow>, Problem> {
    let workflow = |name: &String| match name.strip_suffix('*') {
        Some(beginning) => Ok(OfWorkflow::Beginning(beginning.to_owned())),
        None => Ok(OfWorkflow::Named(name.parse().map_err(Problem::internal)?)),
    };
    names.iter().map(workflow).collect()
}

/// What a query means. Keys are looked up: what was started with one is known by its id then.
pub(in crate::api) async fn filter(
    app: &App,
    query: &ExecutionQuery,
) -> Result<ExecutionFilter, Problem> {
    let ids: Vec<ExecutionId> = (query.ids.iter())
        .map(|id| id.parse().map_err(Problem::internal))
        .collect::<Result<_, _>>()?;
    let mut filter = ExecutionFilter {
        workflows: workflows(&query.workflow)?,
        statuses: meant(&query.status, Status::from_name),
        trigger: parsed(query.trigger.as_deref())?,
        trigger_kinds: meant(&query.trigger_type, TriggerKind::from_name),
        from: parsed(query.from.as_deref())?,
        to: parsed(query.to.as_deref())?,
        ids: (!ids.is_empty()).then_some(ids),
        version: query.version,
        error_types: query.error_type.clone(),
        ..ExecutionFilter::default()
    };
    if let Some(key) = &query.key {
        narrow(&mut filter, started_with(app, key).await?);
    }
    if let Some(text) = query.q.as_deref().map(str::trim) {
        let found = match text.parse() {
            Ok(id) => vec![id],
            Err(_) => started_with(app, text).await?,
        };
        match found.is_empty() {
            true => filter.text = Some(text.to_owned()),
            false => narrow(&mut filter, found),
        }
    }
    Ok(filter)
}

/// The executions that were started with a key.
pub(in crate::api) async fn started_with(
    app: &App,
    key: &str,
) -> Result<Vec<ExecutionId>, Problem> {
    let store = app.engine.store();
    Ok(store.executions_by_key(key_hash(key)).await?)
}

/// Only those of these.
fn narrow(filter: &mut ExecutionFilter, mut to: Vec<ExecutionId>) {
    if let Some(before) = &filter.ids {
        to.retain(|id| before.contains(id));
    }
    filter.ids = Some(to);
}

/// When an execution came, as its id says.
fn told(id: ExecutionId) -> String {
    let millis = i64::try_from(id.unix_ms()).unwrap_or(i64::MAX);
    Timestamp::from_millis(millis).to_string()
}
