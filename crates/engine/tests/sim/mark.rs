//! Marks: situations that the simulation must get into. A thousand seeds that do not reach one of
//! them are too tame to prove anything about it.
//!
//! To add one: a line below, and `reach` where the situation is seen.

use std::collections::BTreeSet;

macro_rules! marks {
    ($($(#[doc = $doc:literal])+ $name:ident),+ $(,)?) => {
        /// A situation worth reaching.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
        pub(crate) enum Mark {
            $($(#[doc = $doc])+ $name),+
        }

        impl Mark {
            /// All of them.
            pub(crate) const ALL: &'static [Self] = &[$(Self::$name),+];
        }
    };
}

marks! {
    /// The process died with a commit on its way in.
    CrashBeforeCommit,
    /// The process died with a commit applied but not durable.
    CrashBeforeSync,
    /// The process died after a commit was durable and before its attempts could begin.
    CrashBetweenCommitAndDispatch,
    /// The process died before a call reached its target.
    CrashBeforeCall,
    /// The process died while a target was at work.
    CrashDuringCall,
    /// The process died while an execution was undoing completed steps.
    CrashDuringCompensation,
    /// The process died while an execution was paused.
    CrashWhilePaused,
    /// The process died while the retry of a dead letter was open.
    CrashDuringLetterRetry,
    /// The process died while it was stopping in order.
    CrashWhileStopping,
    /// It was not known whether a commit was written, and it was.
    UnknownButWritten,
    /// It was not known whether a commit was written, and it was not.
    UnknownAndLost,
    /// A defect took the committer down.
    CommitterPanicked,
    /// A defect took an attempt down.
    AttemptPanicked,
    /// A task of the program panicked.
    TaskPanicked,
    /// A commit was refused although its result could not be let go.
    ResultWaitedForTheStore,
    /// Reads failed for a while.
    ReadsFailed,
    /// A transaction that failed because of its data was split.
    BatchSplit,
    /// A result could not be stored and became a plain failure.
    ResultUnstorable,
    /// A command was decided on a state that its execution had left.
    DecidedOnThePast,
    /// Two parallel steps ended in one batch.
    ParallelResultsInOneBatch,
    /// An attempt died with its process.
    AttemptLost,
    /// A step killed the process so often that it was given up.
    NodeLost,
    /// A target answered after its attempt had timed out and the execution had moved on.
    LateAnswer,
    /// A target heard the same call twice.
    HeardTwice,
    /// A wait that the target asked for was kept.
    RetryAfter,
    /// An execution was paused while a step waited for its retry.
    PausedInRetryWait,
    /// A retry came due while its execution was paused.
    DueWhilePaused,
    /// An attempt ended while its execution was paused.
    ResultWhilePaused,
    /// An execution was cancelled while a call was in flight.
    CancelledDuringCall,
    /// An execution was cancelled and its completed steps were undone.
    CancelledWithCompensation,
    /// A step failed for good while another was in flight.
    FailedBesideRunning,
    /// A waiting retry was dropped because another step had failed for good.
    RetryDropped,
    /// A completed step was undone after a failure.
    Compensated,
    /// A completed step could not be undone.
    CompensationFailed,
    /// A process stopped in order and gave running attempts back.
    StopReleasedAttempts,
    /// Work that waited in the store was claimed by a later process.
    BacklogClaimedAfterRestart,
    /// A timer that was far away was taken over from the store.
    TimerTakenOver,
    /// A key was used again by somebody who had not been answered before a crash.
    SameKeyAcrossCrash,
    /// A key was used by several at the same moment.
    SameKeyAtOnce,
    /// A key was used again with another body.
    SameKeyOtherBody,
    /// Several people retried one dead letter at once; one of them did.
    LetterRetriedAtOnce,
    /// A dead letter was retried from its failed step and ended well.
    LetterResolved,
    /// The retry of a dead letter failed, and it waits again.
    LetterPendingAgain,
    /// A dead letter was given up.
    LetterDeleted,
    /// A definition was changed while executions of the older one were open.
    VersionsSideBySide,
    /// A state was so large that its snapshot was left out.
    SnapshotLeftOut,
    /// The clock was set forward.
    ClockForward,
    /// The clock was set back.
    ClockBack,
    /// A node was silent for so long that another removed it.
    NodeReaped,
    /// A node went and left work to the others.
    NodeLeftWork,
    /// An attempt that one node had begun was made again by another.
    CalledAgainElsewhere,
    /// After a loss another node made the next attempt.
    TakenOver,
    /// A retry was made by another node than the attempt before.
    TimerFiredElsewhere,
    /// An attempt was marked as begun ahead of its time.
    BegunAhead,
    /// An attempt that was begun ahead of its time was given back before it was called.
    GivenBackAhead,
    /// A node joined again under another id.
    JoinedAgain,
    /// A node that had lost its lease gave up a call.
    CallGivenUp,
    /// A commit was refused because its node's lease was gone.
    CommitFenced,
    /// A node that had lost its lease in the middle of a call got the answer when the attempt had
    /// been recorded as lost.
    LateResult,
    /// It handed such a result in, and the store refused it.
    LateResultFenced,
    /// A node that was cut off tried to commit.
    CommitWhileCutOff,
    /// A node was stopped in order while others went on.
    StoppedAmongOthers,
    /// A key was used at two nodes at the same moment.
    SameKeyAtTwoNodes,
    /// An execution was steered through another node than the one that was calling for it.
    SteeredFromElsewhere,
    /// An execution was started by a definition that was saved through another node.
    StartedWhatAnotherSaved,
    /// A command was decided on a state that another node had changed.
    DecidedOnAnothersPast,
    /// The answer of a commit was lost, and it was written.
    AnswerLostButWritten,
    /// What became of a commit whose answer was lost was found out.
    AnswerFoundOut,
    /// What became of a commit could not be found out, and the process went on.
    UnknownAndGoesOn,
    /// A batch arrived when nobody waited for it any more.
    ArrivedLate,
    /// The answer to a reap was lost: nobody knows that somebody is gone.
    ReapUnheard,
    /// News were lost.
    NewsLost,
    /// A slot was about to be fired that somebody else had dealt with meanwhile.
    FireLostTheRace,
    /// A slot was about to be fired on a state that its trigger had left.
    FireDecidedOnThePast,
    /// It was not known whether a slot was fired, and it was.
    FireUnknownButWritten,
    /// It was not known whether a slot was fired, and it was not.
    FireUnknownAndLost,
    /// What a trigger starts arrived when nobody waited for it any more.
    TriggeredLate,
    /// It was not known whether a request had started something, and it had.
    RequestUnknownButWritten,
    /// A request was sent again because the answer was lost, and found what it had started.
    RequestRepeatedUnanswered,
    /// A request was sent to two nodes at the same moment.
    RequestAtTwoNodes,
    /// The oldest node, which looks first, was killed.
    OldestFell,
    /// A slot was fired by another node than the one before.
    FiredByAnother,
    /// A slot was fired by a node whose machine's clock is as wrong as can be.
    FiredByAWrongClock,
    /// A slot was fired somewhat late.
    FiredBehind,
    /// A slot was fired later by its jitter.
    FiredWithJitter,
    /// A slot that had been missed was caught up with.
    CaughtUp,
    /// Slots that had been missed were left out.
    MissedSkipped,
    /// A slot was left out because the execution before it ran.
    SkippedForOverlap,
    /// A slot began to wait for the execution before it.
    Buffered,
    /// A slot that waited was fired when the execution before it had ended.
    BufferedFired,
    /// A slot that waited was given up for a newer one.
    BufferedGivenUp,
    /// A slot was fired after the execution before it had been cancelled for it.
    PreviousCancelled,
    /// Slots of a pause were written down.
    PausedStretch,
    /// A trigger was changed or paused when slots were owed, or waited.
    ChangedWhileOwing,
    /// A trigger was deleted while its execution ran.
    TriggerDeletedWhileRunning,
    /// A slot of the past was run.
    Backfilled,
    /// A worker said how its task ended when a clock had run out, and came first.
    EndBeforeItsClock,
    /// A worker was about to say how its task ended when a clock ran out, and came second.
    EndLostToAClock,
    /// A worker said that it is there when a clock had run out, and came first.
    HeartbeatBeforeItsClock,
    /// A worker was about to say that it is there when a clock ran out, and came second.
    HeartbeatLostToAClock,
    /// A task that nobody had was held back by a pause.
    TaskHeld,
    /// A task had its time moved by a pause.
    TaskTimeMoved,
    /// A worker's lock ended while the execution was paused.
    TaskEndedWhilePaused,
    /// A task that nobody had was withdrawn because another step had failed for good.
    TaskRetired,
    /// A worker said how its task ended when another step had failed for good.
    TaskEndedWhileFailing,
    /// A worker gave a task back.
    TaskGivenBack,
    /// A worker hung up while it waited.
    HungUpWaiting,
    /// A worker hung up while its lock was being written.
    HungUpInCommit,
    /// A worker did not take the tasks that it was answered with.
    HungUpDelivered,
    /// A task that was made for somebody who waited was not written, and he waited on.
    BornLockRefused,
    /// What became of a commit that gives tasks to workers was found out.
    LockFoundOut,
    /// What became of a commit that gives tasks to workers could not be found out.
    LockUnknown,
    /// The process died when workers had tasks.
    CrashWithLocks,
    /// The process died when attempts waited for callbacks.
    CrashWhileWaiting,
    /// A target called back before its answer was recorded.
    CalledBackEarly,
    /// A target answered after it had called back.
    AnsweredAfterWord,
    /// A target answered that it will not do what it had begun to do.
    RefusedAfterWord,
    /// A callback was taken by another node than the one that had called.
    WordElsewhere,
    /// Fifty callbacks came at the same moment.
    ManyWordsAtOnce,
    /// A callback was taken while its execution was paused.
    WordWhilePaused,
    /// A callback came for an attempt that had died with its process.
    WordOfLostAttempt,
    /// A callback came when its window was over.
    WordAfterWindow,
    /// A callback came when its window was about to end, and came second.
    WordLostToWindow,
    /// Two last words came at once, and one of them counted.
    LastWordLostTheRace,
    /// Nobody called back in time.
    WindowOver,
    /// Several people ran a scheduled task at once.
    RunAtOnce,
    /// A retry of a dead letter was of a cycle.
    CycleRetried,
    /// A bulk job was made.
    JobMade,
    /// A bulk job was paused, resumed or cancelled.
    JobSteered,
    /// A bulk job did something.
    JobDone,
    /// A bulk job found something that was not to be done any more.
    JobSkipped,
    /// It was told that a success is missing.
    SuccessMissing,
    /// A success came that had been missing.
    SuccessCameBack,
}

/// The marks that were reached.
#[derive(Debug, Clone, Default)]
pub(crate) struct Marks(BTreeSet<Mark>);

impl Marks {
    pub(crate) fn reach(&mut self, mark: Mark) {
        self.0.insert(mark);
    }

    pub(crate) fn add(&mut self, others: &Self) {
        self.0.extend(&others.0);
    }

    pub(crate) fn missing(&self) -> Vec<Mark> {
        Mark::ALL
            .iter()
            .filter(|mark| !self.0.contains(mark))
            .copied()
            .collect()
    }
}
