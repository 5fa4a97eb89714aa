//! Defects to be switched on, so that a simulation can show that it would find them. Compiled only
//! with the feature `planted`; off unless a test chooses one, for its own thread.

use std::cell::Cell;

/// A defect.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Defect {
    /// Admissions are answered before they are committed.
    AnswerBeforeCommit,
    /// The row of a timer is not written.
    TimerRowLost,
    /// A timer is written but not waited for.
    TimerForgotten,
    /// That an attempt has begun is recorded later than it begins.
    AttemptCountedLate,
    /// The snapshot does not say what the log says.
    SnapshotBesideLog,
    /// A dead letter is written by a transaction of its own.
    LetterInSecondCommit,
    /// Jitter is rolled anew whenever it is asked for.
    JitterRolledAgain,
    /// A commit whose outcome is unknown is answered as if it were not written.
    UnknownSaysRefused,
    /// An attempt that died with its process is not counted.
    LossForgotten,
    /// Nobody is told that work waits in the store.
    WakeUpLost,
    /// Commits do not name the lease that they hang on.
    FenceDropped,
    /// The work of nodes that live counts as left behind.
    LivingOrphaned,
    /// Nodes are removed whose lease is not over.
    LivingReaped,
    /// The result of an attempt that was given up counts as that of the next one.
    LostResultTaken,
    /// The nodes go by their own clocks.
    ClockOffsetIgnored,
    /// A node that lost its lease joins again under the same id.
    IdUsedAgain,
    /// A node that shares the store calls before it knows that the work is still its own.
    CalledUnconfirmed,
    /// What is begun ahead of its time is called ahead of it too.
    CalledAhead,
    /// Targets are called although the lease may be over.
    CalledWithoutLease,
    /// Nodes whose lease is over are removed, but late.
    ReapedLate,
    /// A node that lost its lease goes on with its calls.
    CallsKept,
    /// A node keeps its id although it does not know what it committed.
    UnknownForgotten,
    /// Now and then a node forgets what it has just claimed.
    ClaimForgotten,
    /// The same, and nothing looks for what was forgotten.
    ClaimForgottenForGood,
    /// Now and then a node forgets an attempt that the store knows as begun.
    AttemptForgotten,
    /// A cancel does not record the calls that it aborts.
    AbortUnrecorded,
    /// A slot is fired whatever has become of its trigger since that was decided.
    FireUncompared,
    /// A slot is fired without a word in the ledger.
    SlotForgotten,
    /// A trigger is not told that its execution has ended.
    TriggerEndForgotten,
    /// The key of a request is not claimed.
    RequestKeyDropped,
    /// Whoever names a task ends it, by whichever lock.
    TokenIgnored,
    /// A task is handed out before its lock is durable.
    LockAnsweredEarly,
    /// A heartbeat is answered and not written.
    HeartbeatUnwritten,
    /// A clock ends an attempt whatever its worker has said since.
    ExpiryUncompared,
    /// What a worker that is gone was given does not go back.
    GoneClientKeepsLock,
    /// Nobody who waits is told that there is a task.
    TaskWakeLost,
    /// A task is given out before its time.
    DelayIgnored,
    /// A task is given out although its execution is paused.
    HeldHandedOut,
    /// A pause counts as time of a task.
    TimeoutNotMoved,
    /// The row of a task is written by a transaction of its own.
    TaskInSecondCommit,
    /// Nobody looks at tasks of failing executions.
    RetiredForgotten,
    /// Nobody knows which call ended a lock.
    PrevTokenForgotten,
    /// A callback counts although the last word was said.
    FinalTwice,
    /// Nobody looks whether a callback's window is over.
    WindowForgotten,
    /// A callback for an attempt that was lost or replaced counts for the one that lives.
    LostTokenTaken,
    /// How far a target is, is written although its attempt waits no more.
    ProgressAfterEnd,
    /// What was told of an alert is forgotten.
    FiringTwice,
    /// A scheduled task is run by hand whatever has become of it since that was decided.
    CycleTwice,
    /// A node tries an open target whether others do or not.
    ProbeTwice,
    /// What an open breaker holds back counts as an attempt.
    ParkedCounted,
    /// Nobody is told what came of trying an open target, and nobody tries it again.
    ProbeNeverReported,
    /// A target that is back gets all calls at once.
    RampIgnored,
    /// What a bulk job retries is recorded by a transaction of its own.
    BulkItemTwice,
    /// A bulk job passes things before anything has become of them.
    CursorBeforeItems,
    /// A notice is taken from the queue and counted in no group.
    NoticeLost,
    /// A group's turn passes without a message.
    GroupForgotten,
}

/// One time in so many something is forgotten.
const FORGOTTEN_EVERY: u64 = 3;

thread_local! {
    static CHOSEN: Cell<Option<Defect>> = const { Cell::new(None) };
    static ROLLS: Cell<u64> = const { Cell::new(0) };
}

/// Switches a defect on, or all of them off, for this thread.
pub fn choose(defect: Option<Defect>) {
    CHOSEN.set(defect);
    ROLLS.set(0);
}

/// Whether this defect is on.
#[must_use]
pub fn is(defect: Defect) -> bool {
    CHOSEN.get() == Some(defect)
}

/// Whether this defect is on, and its turn has come: the first time, and then now and then.
#[must_use]
pub fn forgets(defect: Defect) -> bool {
    if !is(defect) {
        return false;
    }
    ROLLS.set(ROLLS.get().wrapping_add(1));
    ROLLS.get() % FORGOTTEN_EVERY == 1
}

/// Whether what was claimed is forgotten.
#[must_use]
pub fn forgets_claim() -> bool {
    forgets(Defect::ClaimForgotten) || forgets(Defect::ClaimForgottenForGood)
}

/// Nothing, unless jitter is to be rolled anew: then something else each time.
pub(crate) fn roll() -> u64 {
    if !is(Defect::JitterRolledAgain) {
        return 0;
    }
    ROLLS.set(ROLLS.get().wrapping_add(1));
    ROLLS.get()
}
