//! Fires compared with other ways to find them: a slow walk over every minute, the table that it
//! made, and another library.
#![expect(clippy::unwrap_used, reason = "a test that cannot go on should panic")]

#[path = "fires/peer.rs"]
mod peer;
#[path = "fires/properties.rs"]
mod properties;
#[path = "fires/table.rs"]
mod table;
#[path = "fires/walk.rs"]
mod walk;
