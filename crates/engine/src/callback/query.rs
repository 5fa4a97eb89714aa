//! How a target can be asked how far it is: it says so itself, in its answer or in a callback. Its headers
//! may be credentials, so all of it is sealed in the row, and elsewhere their values are masked.

use refire_core::callback::body::{masked_answer, query_of_answer};
use refire_core::callback::token::TokenFor;
use refire_core::execution::Outcome;
use refire_core::json::Json;
use refire_store::{CallbackKey, CallbackRow, CallbackTouch, LIMIT_MAX};

use super::{CallbackError, Callbacks};
use crate::context::Context;
use crate::vault::{Belongs, Resealed, VaultError};

/// What the sealed bytes are for.
const PURPOSE: &str = "query config";

/// Why a `queryConfig` cannot be had.
#[derive(Debug, thiserror::Error)]
pub enum QueryError {
    /// There is no master key to open it with.
    #[error("there is no master key")]
    NoMasterKey,
    /// It does not open.
    #[error(transparent)]
    Sealed(#[from] VaultError),
    /// It is not what was sealed.
    #[error("the sealed text is not JSON")]
    Damaged,
}

fn owner(key: CallbackKey) -> [u8; 22] {
    let CallbackKey {
        execution,
        step_no,
        attempt,
    } = key;
    TokenFor {
        execution,
        step_no,
        attempt,
    }
    .bytes()
}

impl Context {
    /// Seals a `queryConfig`; none without a master key, when there is no token to call back with either.
    pub(super) fn seal_query(&self, key: CallbackKey, query: &Json) -> Option<Vec<u8>> {
        let belongs = Belongs {
            purpose: PURPOSE,
            owner: &owner(key),
        };
        let sealed = self
            .vault()?
            .seal(&*self.entropy, belongs, query.as_str().as_bytes());
        sealed.ok()
    }
}

/// What became of a call whose target will call back.
pub(crate) fn accepted(context: &Context, key: CallbackKey, outcome: Outcome) -> Outcome {
    let Outcome::Succeeded(answer) = outcome else {
        return outcome;
    };
    let query = query_of_answer(&answer);
    let sealed = query.and_then(|query| context.seal_query(key, &query));
    let answer = masked_answer(&answer);
    match sealed {
        Some(sealed) => Outcome::Accepted(answer, sealed),
        None => Outcome::Succeeded(answer),
    }
}

impl Callbacks {
    /// How the target of a row can be asked, if it has said so.
    ///
    /// # Errors
    /// When it cannot be opened.
    pub fn query_config(&self, row: &CallbackRow) -> Result<Option<Json>, QueryError> {
        let Some(sealed) = &row.query_config else {
            return Ok(None);
        };
        let vault = self.context.vault().ok_or(QueryError::NoMasterKey)?;
        let belongs = Belongs {
            purpose: PURPOSE,
            owner: &owner(row.key()),
        };
        let opened = vault.open(belongs, sealed)?;
        let query = Json::from_bytes(&opened.secret).map_err(|_| QueryError::Damaged)?;
        Ok(Some(query))
    }

    /// Seals anew what the previous master key had sealed. What opens with neither key is counted, and stays:
    /// only its target cannot be asked any more.
    ///
    /// # Errors
    /// When the store cannot be read or written.
    pub async fn reseal_queries(&self) -> Result<Resealed, CallbackError> {
        let mut resealed = Resealed::default();
        let Some(vault) = self.context.vault() else {
            return Ok(resealed);
        };
        let mut after = None;
        loop {
            let store = &self.context.store;
            let rows = store.sealed_callbacks(after, LIMIT_MAX).await?;
            let Some(last) = rows.last() else {
                return Ok(resealed);
            };
            after = Some(last.key());
            for row in rows {
                let (key, Some(from)) = (row.key(), row.query_config) else {
                    continue;
                };
                let belongs = Belongs {
                    purpose: PURPOSE,
                    owner: &owner(key),
                };
                match vault.reseal(&*self.context.entropy, belongs, &from) {
                    Ok(None) => {}
                    // If it is another by now, that one was sealed with the current key.
                    Ok(Some(to)) => {
                        let is_new = self.touch(key, CallbackTouch::Sealed { from, to }).await?;
                        resealed.sealed += u64::from(is_new);
                    }
                    Err(_) => resealed.closed += 1,
                }
            }
        }
    }
}
