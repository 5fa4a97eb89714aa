//! Whole histories carried from SQLite to PostgreSQL and back, and what is read of them there.
//!
//! They need a server: `REFIRE_TEST_POSTGRES` names it.

#![expect(clippy::unwrap_used, reason = "these are tests, their setup included")]

#[expect(dead_code, reason = "only some of it is needed here")]
#[path = "differential/alert.rs"]
mod alert;
#[path = "differential/breaker.rs"]
mod breaker;
#[path = "differential/bulk.rs"]
mod bulk;
#[path = "differential/callback.rs"]
mod callback;
#[path = "postgres/damage.rs"]
mod damage;
#[path = "differential/decision.rs"]
mod decision;
#[path = "differential/definition.rs"]
mod definition;
#[path = "differential/dice.rs"]
mod dice;
#[path = "postgres/equal.rs"]
mod equal;
#[path = "differential/history.rs"]
mod history;
#[expect(dead_code, reason = "only some of it is needed here")]
#[path = "differential/scheduled.rs"]
mod scheduled;
#[path = "postgres/server.rs"]
mod server;
#[path = "differential/session.rs"]
mod session;
#[path = "postgres/stage.rs"]
#[expect(dead_code, reason = "only some of it is needed here")]
mod stage;
#[path = "differential/task.rs"]
mod task;
#[path = "postgres/transfer.rs"]
mod transfer;
#[path = "differential/trigger.rs"]
mod trigger;
#[path = "postgres/windows.rs"]
mod windows;
#[path = "postgres/wire.rs"]
mod wire;
#[path = "differential/work.rs"]
mod work;
#[path = "differential/worker.rs"]
mod worker;
