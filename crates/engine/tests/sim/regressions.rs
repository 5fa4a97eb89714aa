//! Seeds that failed once. They are always run.

/// With what they found. A change of the plan makes other runs of them, so they are kept for a
/// while, not for ever.
pub(crate) const SEEDS: &[u64] = &[];
