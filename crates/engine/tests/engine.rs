//! The engine on a real SQLite file, with targets that follow a script; several nodes on a model.
#![expect(clippy::unwrap_used, reason = "a test that cannot go on should panic")]

#[path = "engine/fixture.rs"]
mod fixture;

#[path = "engine/alerts.rs"]
mod alerts;
#[path = "engine/bounds.rs"]
mod bounds;
#[path = "engine/breakers.rs"]
mod breakers;
#[path = "engine/equal_requests.rs"]
mod equal_requests;
#[path = "engine/flow.rs"]
mod flow;
#[path = "engine/letters.rs"]
mod letters;
#[path = "engine/limits.rs"]
mod limits;
#[path = "engine/local.rs"]
mod local;
#[path = "engine/nodes.rs"]
mod nodes;
#[path = "engine/payloads.rs"]
mod payloads;
#[path = "engine/planned.rs"]
mod planned;
#[path = "engine/refused_requests.rs"]
mod refused_requests;
#[path = "engine/restart.rs"]
mod restart;
#[path = "engine/retention.rs"]
mod retention;
#[path = "engine/scheduled.rs"]
mod scheduled;
#[path = "engine/steering.rs"]
mod steering;
#[path = "engine/tasks.rs"]
mod tasks;
#[path = "engine/triggers.rs"]
mod triggers;
#[path = "engine/trouble.rs"]
mod trouble;
#[path = "engine/troubled.rs"]
mod troubled;
