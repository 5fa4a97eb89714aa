//! Targets: who is called, how that goes, and the circuit breakers before them.

use std::convert::Infallible;
use std::str::FromStr;

use axum::Json;
use refire_client::model::{self, TargetPage, TargetWindow};
use refire_client::query::{Paging, TargetQuery};
use refire_core::breaker::Phase;
use refire_core::time::Timestamp;
use refire_engine::breaker::{ActError, Target, TargetAct, TargetFilter};

use super::id::Entity;
use super::{Actor, Answer, App, Id, List, Params, Problem, Window};
use crate::codes::{self, Code};

/// A target's name, as somebody wrote it.
pub(super) struct Host(String);

impl FromStr for Host {
    type Err = Infallible;

    fn from_str(text: &str) -> Result<Self, Infallible> {
        Ok(Self(text.to_owned()))
    }
}

impl Entity for Host {
    const MISSING: &'static Code = &codes::NO_TARGET;
    const NOUN: &'static str = "target";
}

/// Targets by host: those that workflows name, and those that were called lately or have a breaker.
///
/// The figures of calls are those of the node that answers.
#[utoipa::path(
    get,
    path = "/api/targets",
    params(TargetQuery, Paging),
    responses(
        (status = 200, description = "A page of targets", body = TargetPage),
        (status = 400, description = "A parameter is wrong"),
    ),
)]
pub(super) async fn list_targets(
    app: App,
    Params((query, paging)): Params<(TargetQuery, Paging)>,
) -> Answer<TargetPage> {
    let filter = TargetFilter {
        phases: query.state.iter().filter_map(meant).collect(),
        text: query.q.clone(),
    };
    let window: Window<String> = Window::new(List::Targets, &filter, &paging)?;
    let (behind, rows) = (window.behind.as_deref(), window.rows);
    let rows = app.engine.targets().list(&filter, behind, rows).await?;
    let page = window.page(rows, |target| target.breaker.host.clone());
    Ok(Json(TargetPage {
        items: page.items.into_iter().map(shown).collect(),
        next_cursor: page.next_cursor,
        enabled: app.engine.targets().are_breakers_on(),
    }))
}

/// One target.
#[utoipa::path(
    get,
    path = "/api/targets/{id}",
    responses(
        (status = 200, description = "The target", body = model::Target),
        (status = 400, description = "That cannot be a host"),
    ),
)]
pub(super) async fn get_target(app: App, id: Id<Host>, _: Params<()>) -> Answer<model::Target> {
    let host = found(&app, &id).await?;
    Ok(Json(shown(app.engine.targets().target(&host).await?)))
}

/// Stops all calls to a target, until somebody closes or resets its breaker. What is due waits.
#[utoipa::path(
    post,
    path = "/api/targets/{id}/open",
    responses(
        (status = 200, description = "The target", body = model::Target),
        (status = 400, description = "That cannot be a host"),
        (status = 409, description = "Circuit breakers are turned off"),
    ),
)]
pub(super) async fn open_target(
    app: App,
    id: Id<Host>,
    _: Params<()>,
    actor: Actor,
) -> Answer<model::Target> {
    act(&app, &id, TargetAct::Open, &actor).await
}

/// Lets all calls to a target be made, whatever fails, until somebody opens or resets its breaker.
#[utoipa::path(
    post,
    path = "/api/targets/{id}/close",
    responses(
        (status = 200, description = "The target", body = model::Target),
        (status = 400, description = "That cannot be a host"),
        (status = 409, description = "Circuit breakers are turned off"),
    ),
)]
pub(super) async fn close_target(
    app: App,
    id: Id<Host>,
    _: Params<()>,
    actor: Actor,
) -> Answer<model::Target> {
    act(&app, &id, TargetAct::Close, &actor).await
}

/// Closes a target's breaker; from now on it opens by itself again.
#[utoipa::path(
    post,
    path = "/api/targets/{id}/reset",
    responses(
        (status = 200, description = "The target", body = model::Target),
        (status = 400, description = "That cannot be a host"),
        (status = 409, description = "Circuit breakers are turned off"),
    ),
)]
pub(super) async fn reset_target(
    app: App,
    id: Id<Host>,
    _: Params<()>,
    actor: Actor,
) -> Answer<model::Target> {
    act(&app, &id, TargetAct::Reset, &actor).await
}

/// Has the next call try now whether a target is back, and not only when its time comes.
#[utoipa::path(
    post,
    path = "/api/targets/{id}/probe",
    responses(
        (status = 200, description = "The target", body = model::Target),
        (status = 400, description = "That cannot be a host"),
        (status = 409, description = "Its breaker is not open, or a person keeps it open"),
    ),
)]
pub(super) async fn probe_target(
    app: App,
    id: Id<Host>,
    _: Params<()>,
    actor: Actor,
) -> Answer<model::Target> {
    act(&app, &id, TargetAct::Probe, &actor).await
}

async fn act(app: &App, id: &Id<Host>, act: TargetAct, actor: &Actor) -> Answer<model::Target> {
    let host = found(app, id).await?;
    let acted = app.engine.targets().act(&host, act, &actor.name()).await;
    let acted = acted.map_err(|error| match error {
        ActError::Off => Problem::new(&codes::BREAKERS_OFF, error.to_string()),
        ActError::NotOpen(_) | ActError::KeptOpen => {
            Problem::new(&codes::NOTHING_TO_PROBE, error.to_string())
        }
        ActError::Read(error) => error.into(),
        ActError::Failed(failure) => failure.into(),
    });
    Ok(Json(shown(acted?)))
}

/// The target that is meant.
async fn found(app: &App, id: &Id<Host>) -> Result<String, Problem> {
    let Host(text) = id.known()?;
    match app.engine.targets().find(&text).await? {
        Ok(Some(host)) => Ok(host),
        Ok(None) => Err(id.missing()),
        Err(wrong) => Err(Problem::new(
            &codes::INVALID_TARGET,
            format!("`{text}` cannot be a host: {wrong}"),
        )),
    }
}

/// The phase that a word of the API means.
fn meant(word: &model::BreakerState) -> Option<Phase> {
    Phase::ALL
        .into_iter()
        .find(|phase| phase.name() == word.name())
}

fn shown(target: Target) -> model::Target {
    let at = |time: Option<Timestamp>| time.map(|time| time.to_string());
    let breaker = target.breaker;
    let is_known = breaker.rev > 0;
    let probing = breaker.probe.map(|probe| probe.owner.to_string());
    model::Target {
        host: breaker.host,
        state: model::BreakerState::from_name(breaker.phase.name()),
        forced: breaker
            .forced
            .map(|forced| model::BreakerForced::from_name(forced.name())),
        opened_at: at(breaker.opened_at),
        until: at(breaker.until),
        openings: breaker.times,
        cause: breaker.cause,
        changed_at: is_known.then(|| breaker.changed_at.to_string()),
        changed_by: breaker.changed_by,
        probing_node: probing,
        window: TargetWindow {
            calls: target.figures.calls,
            failed: target.figures.failed,
            limited: target.figures.limited,
        },
        in_flight: target.in_flight,
        in_flight_max: target.ramp,
        parked: target.parked.count,
        parked_exact: !target.parked.is_more,
        letters: target.letters.count,
        letters_exact: !target.letters.is_more,
        letters_since_opening: target.letters_since_opening.map(|some| some.count),
        workflows: target.workflows.iter().map(ToString::to_string).collect(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_word_means_a_phase() {
        let words = model::BreakerState::ALL;
        assert_eq!(words.iter().filter_map(meant).count(), words.len());
    }
}
