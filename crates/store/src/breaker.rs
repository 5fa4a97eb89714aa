//! Circuit breakers of targets: their rows, and how they change. What a breaker does next is for core to say;
//! a change counts only if the row is still the one that it was decided on.

use refire_core::breaker::{Breaker, Forced, Phase, Probe};
use refire_core::id::NodeId;
use refire_core::time::Timestamp;

use crate::column::{Columns, Cursor, Field, read_from};
use crate::layer::store_trait;
use crate::task::numbered;
use crate::{NewNotice, ReadError};

/// Breakers that are kept; of more the closed ones that changed longest ago go.
pub const BREAKERS_MAX: usize = 10_000;

numbered!(Phase, Forced);

impl Field for Option<Probe> {
    fn take<R: Columns>(cursor: &mut Cursor<'_, R>) -> Result<Self, ReadError> {
        let probe: Option<(NodeId, Timestamp)> = cursor.next()?;
        Ok(probe.map(|(owner, until)| Probe { owner, until }))
    }
}

read_from! {
    Breaker {
        host: "host",
        phase: "state",
        opened_at: "opened_at",
        until: "until",
        times: "times",
        probe: "probe_owner, probe_until",
        forced: "forced",
        cause: "cause",
        changed_at: "changed_at",
        changed_by: "changed_by",
        rev: "rev"
    }
}

/// A breaker moves. Refused unless the row's revision is one less than the new one's; a row that is not there
/// has none.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ChangeBreaker {
    /// As it shall be.
    pub breaker: Breaker,
    /// What people are told of it.
    pub notices: Vec<NewNotice>,
}

impl ChangeBreaker {
    /// The revision that it follows.
    pub(crate) fn expected(&self) -> u64 {
        self.breaker.rev.saturating_sub(1)
    }
}

store_trait! {
    /// Circuit breakers of targets.
    pub trait Breakers {
        /// The breaker of a target, if it ever opened or was spoken of.
        async fn breaker(&self, host: &str) -> Result<Option<Breaker>, ReadError>;

        /// Breakers after this host, in the order of their hosts.
        async fn breakers(
            &self,
            after: Option<&str>,
            limit: u32,
        ) -> Result<Vec<Breaker>, ReadError>;

        /// Those that are not simply closed: few, and asked for often.
        async fn standing_breakers(&self) -> Result<Vec<Breaker>, ReadError>;
    }
}
