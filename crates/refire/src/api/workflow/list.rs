//! Workflows in a list, and how each of them is doing.

use refire_client::model::{Page, Workflow, WorkflowStats};
use refire_client::query::{Paging, WorkflowQuery};
use refire_core::dead_letter::{LetterStatus, archived_before};
use refire_core::definition::WorkflowId;
use refire_engine::WorkflowOrder;
use refire_store::{LIMIT_MAX, LetterFilter, TriggerFilter};

use crate::api::{Answer, App, List, Params, Problem, Window, page, view};

/// Workflows by name, or the last saved first.
#[utoipa::path(
    get,
    path = "/api/workflows",
    params(WorkflowQuery, Paging),
    responses(
        (status = 200, description = "A page of workflows", body = Page<Workflow>),
        (status = 400, description = "A parameter is wrong"),
    ),
)]
pub(crate) async fn list_workflows(
    app: App,
    Params((query, paging)): Params<(WorkflowQuery, Paging)>,
) -> Answer<Page<Workflow>> {
    let order = match query.sort.as_deref() {
        Some("-updated") => WorkflowOrder::Change,
        _ => WorkflowOrder::Name,
    };
    let window = Window::new(List::Workflows, &(order, &query.q), &paging)?;
    let (definitions, words) = (app.engine.definitions(), query.q.as_deref());
    let rows = definitions.list(order, words, window.behind.clone(), window.rows);
    let page = window.page(rows.await?, |row| (row.updated_at, row.id.clone()));
    let has_stats = query.include.is_some();
    let app = &app;
    let view = |row| async move {
        let mut shown = view::workflow::listed(&app.engine, &row).await;
        if has_stats {
            shown.stats = Some(stats(app, &row.id).await?);
        }
        Ok(shown)
    };
    page::shown(page, view).await
}

async fn stats(app: &App, id: &WorkflowId) -> Result<WorkflowStats, Problem> {
    let store = app.engine.store();
    let triggers = TriggerFilter {
        workflow: Some(id.clone()),
        ..TriggerFilter::default()
    };
    let letters = LetterFilter {
        workflow: Some(id.clone()),
        statuses: vec![LetterStatus::Pending],
        from: Some(archived_before(app.engine.now())),
        ..LetterFilter::default()
    };
    let next = app.engine.triggers().next_of(id).await?;
    Ok(WorkflowStats {
        triggers: store.count_triggers(&triggers).await?,
        next_fire: next.map(|at| at.to_string()),
        open: store.open_executions(id, LIMIT_MAX).await?,
        dead_letters: store.letter_summary(&letters).await?.count,
    })
}
