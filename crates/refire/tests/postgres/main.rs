//! The black-box stories that may end otherwise on PostgreSQL, because they depend on who commits, owns or
//! begins work there, and what only several nodes can show. That the stores keep and find the same is
//! proven by their conformance suite. The server of the tests is named by `REFIRE_TEST_POSTGRES`; each
//! test has a database of its own.
#![expect(clippy::unwrap_used, reason = "a test that cannot go on should panic")]

#[path = "../it/alerts.rs"]
mod alerts;
#[path = "../it/bulk.rs"]
mod bulk;
#[path = "../it/callbacks.rs"]
mod callbacks;
#[path = "../it/commands.rs"]
mod commands;
#[path = "../it/crash.rs"]
mod crash;
#[path = "../it/dead_letters.rs"]
mod dead_letters;
#[path = "../it/downtime.rs"]
mod downtime;
#[path = "../it/executions.rs"]
mod executions;
#[path = "../it/idempotency.rs"]
mod idempotency;
#[path = "../it/master_key.rs"]
mod master_key;
#[path = "../it/process.rs"]
mod process;
#[path = "../it/replays.rs"]
mod replays;
#[path = "../it/scheduled.rs"]
mod scheduled;
#[path = "../it/server.rs"]
mod server;
#[path = "../it/sessions.rs"]
mod sessions;
#[path = "../it/stop.rs"]
mod stop;
#[path = "../it/target.rs"]
mod target;
#[path = "../it/triggers.rs"]
mod triggers;
#[path = "../it/webhooks.rs"]
mod webhooks;
#[path = "../it/workflow.rs"]
mod workflow;

mod alerts_of_nodes;
mod calling_back;
mod cluster;
mod database;
mod keys;
mod moving;
mod nodes;
mod one_key;
mod outage;
#[expect(dead_code, reason = "the tests of the store use all of it")]
#[path = "../../../store/tests/postgres/proxy.rs"]
mod proxy;
mod refusals;
mod sessions_of_nodes;
mod tasks;
mod tls;
