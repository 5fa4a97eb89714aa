//! Seeds that failed once. They are always run.

/// With what they found. A change of the plan makes other runs of them, so they are kept for a
/// while, not for ever.
pub(crate) const SEEDS: &[u64] = &[
    // After a start nobody was told when the second task of a type could be fetched.
    134,
    // A cancel that was decided beside the committer did not record the calls that it aborted.
    183,
    // A task's retry that was waiting when its execution was resumed was told to nobody in time.
    196, // Other nodes were not told when a task's retry could be fetched.
    385,
    // A timeout without a worker made a task forget which call had ended the lock before.
    412, // Nobody was told of a task whose worker gave it back and hung up.
    706, // A heartbeat cut an extended lock, and nobody looked at its clock.
    865,
    // A heartbeat that arrived after a later one, through another node, set back when the worker was heard.
    4_815,
    // A type that was marked twice for one task sent two to look, in whatever order.
    10_874, // A poll that was looking lost its turn to one that came later.
    8_300,  // Nobody looked at a task that was given back while its execution failed.
    12_539,
];
