//! Targets and the circuit breakers before them.

use super::{BreakerForced, BreakerState};

shapes! {
    /// A service that workflows call.
    pub struct Target {
        /// Its host, with the port unless that is the scheme's own.
        pub host: String,
        /// Where its circuit breaker stands.
        pub state: BreakerState,
        /// What a person has said; it stays so until somebody says otherwise.
        pub forced: Option<BreakerForced>,
        /// When calls were last stopped; kept when they are made again.
        pub opened_at: Option<String>,
        /// Open: no call tries the target before. Null while a person keeps it open.
        pub until: Option<String>,
        /// How often it has opened since it was last closed.
        pub openings: u32,
        /// Why it opened last.
        pub cause: Option<String>,
        /// When its breaker changed last.
        pub changed_at: Option<String>,
        /// Who changed it; null if the calls did.
        pub changed_by: Option<String>,
        /// The node whose call tries the target now.
        pub probing_node: Option<String>,
        /// Calls of the last 30 seconds, made by the node that answers.
        pub window: TargetWindow,
        /// Calls in flight on the node that answers.
        pub in_flight: u32,
        /// How many of them it may have at once while calls come back; null = as its limits say.
        pub in_flight_max: Option<u32>,
        /// Steps that are due and wait until it is called again. Those whose URL comes from a template are not
        /// among them.
        pub parked: u64,
        /// Whether those are all; they are counted up to 10,000.
        pub parked_exact: bool,
        /// Pending dead letters whose last call was to it.
        pub letters: u64,
        /// Whether those are all; they are counted up to 10,000.
        pub letters_exact: bool,
        /// Those of them that failed since five minutes before `opened_at`; null if it never opened.
        pub letters_since_opening: Option<u64>,
        /// Workflows that call it, by their newest definitions; none where the URL comes from a template.
        pub workflows: Vec<String>,
    }

    /// Calls of a short while.
    pub struct TargetWindow {
        /// All of them.
        pub calls: u32,
        /// Those that say that the target fails.
        pub failed: u32,
        /// Those that it answered with 429.
        pub limited: u32,
    }

    /// A page of targets.
    pub struct TargetPage {
        /// The targets, by host.
        pub items: Vec<Target>,
        /// Pass it as `cursor` to get the next page; null on the last.
        pub next_cursor: Option<String>,
        /// Whether circuit breakers are on.
        pub enabled: bool,
    }
}
