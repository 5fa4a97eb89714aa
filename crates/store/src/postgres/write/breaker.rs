//! Circuit breakers of targets.

use refire_core::breaker::Phase;

use super::link::{Link, Query, values};
use super::{Failed, notice};
use crate::breaker::BREAKERS_MAX;
use crate::table::rows::BreakerRows;
use crate::table::signed;
use crate::table::statement::statements;
use crate::{ChangeBreaker, PartOutcome};

statements! {
    /// The first word about a target; whoever comes second finds the row.
    MAKE: postgres(breaker: BreakerRows) =
        "INSERT INTO breakers ({breaker.names}) SELECT * FROM {breaker}
     ON CONFLICT (host) DO NOTHING RETURNING host";

    PUT: postgres(breaker: BreakerRows) =
        "INSERT INTO breakers ({breaker.names}) SELECT * FROM {breaker}
     ON CONFLICT (host) DO UPDATE SET {breaker.replaced!host}";

    /// Of too many the closed ones that changed longest ago. What another node is at stays.
    CUT: postgres(closed, most) = "DELETE FROM breakers
     WHERE (SELECT count(*) FROM breakers) > {most}
       AND host IN (SELECT host FROM breakers WHERE state = {closed} AND forced IS NULL
        ORDER BY changed_at DESC, host OFFSET {most} FOR UPDATE SKIP LOCKED)";
}

/// Another node that changes it now is waited for.
const SEEN: &str = "SELECT host FROM breakers WHERE host = $1 AND rev = $2 FOR UPDATE";

pub(super) async fn change(link: &mut Link, change: &ChangeBreaker) -> Result<PartOutcome, Failed> {
    let mut rows = BreakerRows::default();
    rows.push(&change.breaker);
    let is_touched = match change.expected() {
        0 => !link.ask(Query::new(&MAKE, rows.values())).await?.is_empty(),
        expected => {
            let seen = values![change.breaker.host.as_str(), signed(expected)];
            let is_there = !link.ask(Query::new(SEEN, seen)).await?.is_empty();
            if is_there {
                link.ask(Query::new(&PUT, rows.values())).await?;
            }
            is_there
        }
    };
    if is_touched {
        let most = signed(BREAKERS_MAX as u64);
        let values = values![Phase::Closed as i16, most];
        link.ask(Query::new(&CUT, values)).await?;
        notice::append(link, &change.notices).await?;
    }
    Ok(PartOutcome::Touched(is_touched))
}
