//! The same black-box stories on PostgreSQL, and what only several nodes can show. The server of the
//! tests is named by `REFIRE_TEST_POSTGRES`; each test has a database of its own.
#![expect(clippy::unwrap_used, reason = "a test that cannot go on should panic")]

#[path = "../it/auth.rs"]
mod auth;
#[path = "../it/bad_webhooks.rs"]
mod bad_webhooks;
#[path = "../it/bodies.rs"]
mod bodies;
#[path = "../it/commands.rs"]
mod commands;
#[path = "../it/crash.rs"]
mod crash;
#[path = "../it/cron_history.rs"]
mod cron_history;
#[path = "../it/dead_letters.rs"]
mod dead_letters;
#[path = "../it/definitions.rs"]
mod definitions;
#[path = "../it/downtime.rs"]
mod downtime;
#[path = "../it/executions.rs"]
mod executions;
#[path = "../it/idempotency.rs"]
mod idempotency;
#[path = "../it/lists.rs"]
mod lists;
#[path = "../it/master_key.rs"]
mod master_key;
#[path = "../it/process.rs"]
mod process;
#[path = "../it/replays.rs"]
mod replays;
#[path = "../it/retries.rs"]
mod retries;
#[path = "../it/secrets.rs"]
mod secrets;
#[path = "../it/server.rs"]
mod server;
#[path = "../it/stop.rs"]
mod stop;
#[path = "../it/target.rs"]
mod target;
#[path = "../it/tester.rs"]
mod tester;
#[path = "../it/traces.rs"]
mod traces;
#[path = "../it/trigger_keys.rs"]
mod trigger_keys;
#[path = "../it/trigger_retries.rs"]
mod trigger_retries;
#[path = "../it/triggers.rs"]
mod triggers;
#[path = "../it/undoing.rs"]
mod undoing;
#[path = "../it/webhooks.rs"]
mod webhooks;
#[path = "../it/workflow.rs"]
mod workflow;

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
mod tls;
