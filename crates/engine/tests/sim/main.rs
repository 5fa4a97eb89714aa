//! The simulation: the engine as it is, in a world that is not real.
//!
//! # What is simulated
//! The production code of intake, commit, dispatch, timers, recovery, limits, letters, triggers and
//! membership runs unchanged. Around it everything is replaced: the store is the model (`refire_store::model`),
//! time is virtual, dice are seeded, targets, people and workers follow a script that is rolled from
//! the seed.
//!
//! A seed has one node, two or three. One node has its disk to itself, as a file is had (`run`): a
//! part of it a crash keeps and a part it drops. A process is a runtime of one thread, and a crash
//! drops it with every task at whatever it waits for, before or after any effect. Several nodes
//! share a disk, as a database server is shared (`fleet`), in one runtime; each has a clock of its
//! own that is wrong, and each crashes, is paused past its lease and goes on with what it knew, is
//! cut off from the database, stops and comes back by itself. Answers of the database are lost, and
//! what became of the commit is found out later or never; batches arrive when nobody waits for them
//! any more; news are lost and late. Clients go to any node, and to several at once.
//!
//! A run has two phases. In the first there are faults, of the kinds and at the rates that the seed
//! has (`plan`); in the second everything is well, and within two simulated hours all that is open
//! must have come to its end. The `judge` looks at every commit the moment it is durable, at every
//! start, call and answer, and makes up the account at the end. What it knows by heart:
//!
//! - one execution per answer, none per refusal, and no answer before it is durable;
//! - one end and nothing after it; times that never go back;
//! - attempts without gaps, and no more of them than the policy and the losses explain;
//! - the fold of a log is the stored state, and its replay is identical;
//! - the same key, the same execution;
//! - letters, their executions and their retries agree at every moment;
//! - calls: none before its commit, before its time, for what is over, or twice in one life;
//! - live steps have their work rows; limits are never exceeded; a deadly step is given up;
//! - everybody is answered, also when the process must end; and nothing panics that was not told to;
//! - tasks: one worker has a task at a time, by a lock that is durable before it is handed out; only
//!   who has it ends it, and whoever repeats that is told the same; no clock runs out early or is
//!   forgotten; a heartbeat counts; no task is ready beside somebody who waits for it; what reaches
//!   nobody goes back, and that is no attempt; every poll is answered;
//! - callbacks: whoever is answered with yes is recorded, for the attempt that was called; one last
//!   word ends an attempt, and nothing counts after it; no window ends early or is forgotten;
//! - cycles: what a trigger starts is counted from one on, without a gap and none twice;
//! - bulk jobs: each thing is done once by each, its row is in the commit that does it, and counts are
//!   those rows; jobs come to their end;
//! - triggers: every planned time is in the ledger exactly once, with a reason that is true and with
//!   its one execution if it was started; none starts before its time, by any clock; policies of
//!   overlap and misfire are kept; an accepted request has one execution per key.
//!
//! And where nodes share a disk:
//!
//! - nothing is written without a lease, no id is used twice, only the silent are removed and only
//!   the dead lose their work;
//! - no call begins late in a lease, a lost lease ends calls, a node calls what it owns, and no two
//!   call for one attempt unless the first is gone or gave it back;
//! - a result counts for its own attempt only, no timer fires before its time by the database's
//!   clock, and what was saved through one node is what starts through another;
//! - what a dead node had begins elsewhere within its lease and five seconds.
//!
//! - triggers are looked at in time whichever node dies, also when the oldest is killed every ten
//!   seconds and clocks are thirty seconds off.
//!
//! # When it fails
//! The output has the seed, the check that failed, the last lines of what happened, and the command
//! that runs the seed again, alone (`SEED=n`; with `--nocapture` it says everything also when it
//! does not fail). A line begins with the number of the life and the milliseconds that processes
//! have lived so far, or the world, where nodes share one. Put the seed into `regressions.rs` when the defect is mended.
//!
//! `SEEDS=n` sets how many seeds are run, `FIRST=n` where they begin. Each is run twice and must do
//! the same both times; of very many, some are.
//!
//! # Is it any good?
//! `mark.rs` lists situations that a thousand seeds must get into; add a line there and a `reach`
//! where it is seen. `planted.rs` switches defects on that the seeds must find.
#![expect(clippy::unwrap_used, reason = "a test that cannot go on should panic")]

mod alarms;
mod called_back;
mod clients;
mod dice;
mod due;
mod fleet;
mod flow;
mod judge;
mod ledger;
mod life;
mod mark;
mod notices;
mod outage;
mod panics;
mod plan;
mod planted;
mod process;
mod regressions;
mod run;
mod scenes;
mod seeds;
mod store_faults;
mod target;
mod watch;
mod worker;
mod world;
