//! Black-box tests: the real binary over HTTP, against a scripted target on this machine.
#![expect(clippy::unwrap_used, reason = "a test that cannot go on should panic")]

mod alone;
mod auth;
mod bad_webhooks;
mod bodies;
mod commands;
mod crash;
mod cron_history;
mod database;
mod dead_letters;
mod definitions;
mod downtime;
mod executions;
mod expressions;
mod handshakes;
mod idempotency;
mod lists;
mod master_key;
mod process;
mod proxies;
mod replays;
mod retries;
mod secrets;
mod server;
mod sockets;
mod start;
mod stop;
mod target;
mod tester;
mod traces;
mod trigger_keys;
mod trigger_retries;
mod triggers;
mod undoing;
mod webhooks;
mod workflow;
