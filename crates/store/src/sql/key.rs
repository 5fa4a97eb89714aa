//! Executions by the key that they were started with.

use refire_core::id::ExecutionId;

use super::{Database, Query};
use crate::ReadError;

/// Scopes that one statement looks into.
const SCOPES_PER_READ: u32 = 5_000;

/// See [`crate::Executions::executions_by_key`]. Keys are kept by what they are unique in, which the caller
/// does not name: one scope after the other is asked for the key, without a look at the other keys in it.
pub(crate) async fn executions_by_key(
    database: &impl Database,
    key_hash: [u8; 16],
) -> Result<Vec<ExecutionId>, ReadError> {
    let (mut found, mut after) = (Vec::new(), String::new());
    loop {
        let query = Query::new(
            "WITH RECURSIVE scopes (scope) AS (
                 SELECT (SELECT scope FROM idempotency WHERE ns = 1",
        )
        .with("AND scope > ? ORDER BY ns, scope LIMIT 1)", after.as_str())
        .end(
            "UNION ALL
             SELECT (SELECT later.scope FROM idempotency AS later
                      WHERE later.ns = 1 AND later.scope > scopes.scope
                      ORDER BY later.ns, later.scope LIMIT 1)
               FROM scopes WHERE scopes.scope IS NOT NULL)
             SELECT scopes.scope, (SELECT used.execution FROM idempotency AS used",
        )
        .with(
            "WHERE used.ns = 1 AND used.scope = scopes.scope AND used.key_hash = ?)",
            key_hash.to_vec(),
        )
        .with(
            "FROM scopes WHERE scopes.scope IS NOT NULL LIMIT ?",
            SCOPES_PER_READ,
        );
        let scopes: Vec<(String, Option<ExecutionId>)> = database.rows(query).await?;
        let is_last = scopes.len() < SCOPES_PER_READ as usize;
        found.extend(scopes.iter().filter_map(|(_, execution)| *execution));
        match scopes.into_iter().last() {
            Some((last, _)) if !is_last => after = last,
            _ => break,
        }
    }
    found.sort_unstable();
    found.dedup();
    Ok(found)
}
