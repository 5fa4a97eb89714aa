//! Words of closed lists: where something stands, and what kind of thing it is.

/// Makes an enum of the words of a list, and everything that is read or said of it: JSON, text, the
/// schema, and the values that a flag of the command line takes.
macro_rules! words {
    ($($(#[doc = $about:literal])* $name:ident { $($variant:ident = $word:literal,)* })*) => { $(
        $(#[doc = $about])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
        pub enum $name {
            $(#[doc = concat!("`", $word, "`")] #[serde(rename = $word)] $variant,)*
            /// A word of a newer server.
            #[serde(other, rename = "unknown")]
            Unknown,
        }

        impl $name {
            /// Every word that is known here.
            pub const ALL: &'static [Self] = &[$(Self::$variant),*];

            /// The word on the wire.
            #[must_use]
            pub const fn name(self) -> &'static str {
                match self {
                    $(Self::$variant => $word,)*
                    Self::Unknown => "unknown",
                }
            }

            /// The value with this name.
            #[must_use]
            pub fn from_name(name: &str) -> Self {
                let known = Self::ALL.iter().find(|known| known.name() == name);
                known.copied().unwrap_or(Self::Unknown)
            }
        }

        impl std::fmt::Display for $name {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str(self.name())
            }
        }

        impl std::str::FromStr for $name {
            type Err = String;

            fn from_str(text: &str) -> Result<Self, String> {
                match Self::from_name(text) {
                    Self::Unknown => {
                        let known: Vec<_> = Self::ALL.iter().map(|known| known.name()).collect();
                        Err(format!("`{text}` is not one of {}", known.join(", ")))
                    }
                    known => Ok(known),
                }
            }
        }

        #[cfg(feature = "cli")]
        impl clap::ValueEnum for $name {
            fn value_variants<'a>() -> &'a [Self] {
                Self::ALL
            }

            fn to_possible_value(&self) -> Option<clap::builder::PossibleValue> {
                Some(clap::builder::PossibleValue::new(self.name()))
            }
        }

        #[cfg(feature = "openapi")]
        impl utoipa::PartialSchema for $name {
            fn schema() -> utoipa::openapi::RefOr<utoipa::openapi::Schema> {
                utoipa::openapi::ObjectBuilder::new()
                    .schema_type(utoipa::openapi::Type::String)
                    .description(Some(concat!($($about),*).trim()))
                    .enum_values(Some(Self::ALL.iter().map(|known| known.name())))
                    .into()
            }
        }

        #[cfg(feature = "openapi")]
        impl utoipa::ToSchema for $name {}

        impl crate::query::Value for $name {
            #[cfg(feature = "openapi")]
            fn schema() -> utoipa::openapi::RefOr<utoipa::openapi::Schema> {
                utoipa::openapi::Ref::from_schema_name(stringify!($name)).into()
            }
        }
    )* };
}

words! {
    /// What a bulk job does.
    BulkAction {
        Retry = "retry",
        Delete = "delete",
        Purge = "purge",
        Cancel = "cancel",
        Pause = "pause",
        Resume = "resume",
        RunAgain = "run_again",
    }

    /// Where a bulk job stands.
    BulkState {
        Running = "running",
        Paused = "paused",
        Cancelled = "cancelled",
        Completed = "completed",
    }

    /// What became of a thing of a bulk job.
    BulkOutcome {
        Ok = "ok",
        Failed = "failed",
        Skipped = "skipped",
    }

    /// Where an execution stands.
    ExecutionStatus {
        Pending = "pending", Running = "running", Retrying = "retrying", Waiting = "waiting",
        Paused = "paused", Completed = "completed", Failed = "failed", Dlq = "dlq",
        Cancelled = "cancelled",
    }

    /// Where a step stands; `skipped` is also one whose turn never came, and `cancelled` one that was cut
    /// off by a cancel.
    StepStatus {
        Pending = "pending", Running = "running", Retrying = "retrying", Waiting = "waiting",
        Completed = "completed", Failed = "failed", Skipped = "skipped",
        Compensated = "compensated", Cancelled = "cancelled",
    }

    /// Where an attempt stands: `planned` is to come, `waiting` is for a worker or a callback, and `lost` died
    /// with its node.
    AttemptStatus {
        Planned = "planned", Waiting = "waiting", Running = "running", Completed = "completed",
        Failed = "failed", Lost = "lost", Cancelled = "cancelled",
    }

    /// What started an execution.
    StartedBy {
        Manual = "manual", ManualDlqRetry = "manual_dlq_retry", Cron = "cron",
        Schedule = "schedule", Webhook = "webhook", Amqp = "amqp",
    }

    /// Where a dead letter stands.
    LetterStatus {
        Pending = "pending", Retrying = "retrying", Resolved = "resolved", Deleted = "deleted",
    }

    /// Why an execution became a dead letter.
    LetterReason {
        Exhausted = "exhausted", NonRetryable = "non_retryable", Timeout = "timeout",
        NodeLost = "node_lost", LockExpired = "lock_expired", HeartbeatMissed = "heartbeat_missed",
        CompensationFailed = "compensation_failed", HistoryLimit = "history_limit",
    }

    /// Where a task for workers stands.
    TaskStatus {
        Pending = "PENDING", Locked = "LOCKED", Completed = "COMPLETED", Failed = "FAILED",
        Cancelled = "CANCELLED",
    }

    /// What a target says when it calls back.
    CallbackWord {
        Processing = "processing", Success = "success", Failed = "failed",
    }

    /// What a target has said so far: nothing yet is `pending`.
    CallbackStatus {
        Pending = "pending", Processing = "processing", Success = "success", Failed = "failed",
    }

    /// Whether a worker is there.
    WorkerStatus {
        Active = "ACTIVE", Idle = "IDLE", Dead = "DEAD",
    }

    /// Where the circuit breaker of a target stands: calls are made; none is; one tries the target; they come
    /// back by and by.
    BreakerState {
        Closed = "closed", Open = "open", HalfOpen = "half_open", Closing = "closing",
    }

    /// What a person has said of a circuit breaker.
    BreakerForced {
        Open = "open", Closed = "closed",
    }

    /// What a trigger waits for.
    TriggerType {
        Cron = "cron", Schedule = "schedule", Webhook = "webhook",
    }

    /// What became of a planned time; `overdue` and `recovered` are of the dead-man check.
    SlotStatus {
        Fired = "fired", Late = "late", Skipped = "skipped", Overdue = "overdue",
        Recovered = "recovered",
    }

    /// How a planned time relates to the clock: `moved` when the local time does not exist on that day,
    /// `repeated` when it comes for the second time.
    SlotKind {
        Normal = "normal", Moved = "moved", Repeated = "repeated",
    }

    /// What became of a request to a webhook.
    RequestStatus {
        Triggered = "triggered", Filtered = "filtered", AuthFailed = "auth_failed",
        Duplicate = "duplicate", TooLarge = "too_large", RateLimited = "rate_limited",
        IpRefused = "ip_refused", Disabled = "disabled", Error = "error",
    }

    /// What a search finds.
    Found {
        Execution = "execution", DeadLetter = "dead_letter", Trigger = "trigger",
        Workflow = "workflow", ScheduledTask = "scheduled_task", ExternalTask = "external_task",
        Worker = "worker", Node = "node",
    }

    /// What is wrong.
    TroubleKind {
        DeadLetters = "dead_letters", TriggerOverdue = "trigger_overdue",
        TriggerUnreadable = "trigger_unreadable", WorkerDead = "worker_dead", NodeLost = "node_lost",
        Quarantine = "quarantine", TaskWaitingWithoutWorker = "task_waiting_without_worker",
        ChannelBroken = "channel_broken", AlertFiring = "alert_firing",
    }

    /// Where a channel's messages go.
    ChannelType {
        Teams = "teams", Slack = "slack", Email = "email", Webhook = "webhook", PagerDuty = "pagerduty",
    }

    /// The language of a channel's messages.
    ChannelLanguage {
        English = "en", Chinese = "zh-TW",
    }

    /// What people are told of.
    NoticeKind {
        DeadLetterCreated = "dead_letter.created", DeadLetterResolved = "dead_letter.resolved",
        TriggerOverdue = "trigger.overdue", TriggerRecovered = "trigger.recovered",
        TriggerMissed = "trigger.missed", BreakerOpened = "breaker.opened",
        BreakerClosed = "breaker.closed", AlertFiring = "alert.firing",
        AlertResolved = "alert.resolved",
    }

    /// Which message of its group it is.
    NotificationPhase {
        First = "first", More = "more", Reminder = "reminder", Over = "over", Digest = "digest",
        Test = "test",
    }

    /// How far a message is.
    NotificationStatus {
        Sending = "sending", Retrying = "retrying", Accepted = "accepted", Failed = "failed",
        Cancelled = "cancelled",
    }

    /// What a rule of alerts watches.
    AlertKind {
        FailureRate = "failure_rate", DlqGrowth = "dlq_growth", DeadWorkers = "dead_workers",
        MissedSlots = "missed_slots", DeadMan = "dead_man",
        ScheduledTaskFailed = "scheduled_task_failed", LongProcessing = "long_processing",
        BreakerOpen = "breaker_open",
    }

    /// How far an alert is: `pending` is bad, but not for long enough.
    AlertPhase {
        Pending = "pending", Firing = "firing", Resolved = "resolved",
    }

    /// What the value of an alert is.
    AlertUnit {
        Percent = "percent", Count = "count", Seconds = "seconds",
    }

    /// Whether a silence has begun, and is not over.
    SilenceState {
        Planned = "planned", Active = "active", Over = "over",
    }

    /// How bad it is.
    TroubleSeverity {
        Critical = "critical", Warning = "warning", Info = "info",
    }

    /// What kind of schedule a task has.
    ScheduleType {
        Immediate = "immediate", Once = "once", Daily = "daily", Weekly = "weekly",
        Monthly = "monthly", Cron = "cron",
    }

    /// How the call of a scheduled task went.
    TaskTriggerStatus {
        Success = "success", Failed = "failed", Timeout = "timeout",
    }

    /// How a scheduled task went, as far as anybody knows.
    TaskExecutionStatus {
        Pending = "pending", Processing = "processing", Success = "success", Failed = "failed",
        Timeout = "timeout", TriggerFailed = "trigger_failed",
    }

    /// What became of an execution of a trigger: its status, or `removed` if it is no longer kept.
    RunStatus {
        Pending = "pending", Running = "running", Retrying = "retrying", Waiting = "waiting",
        Paused = "paused", Completed = "completed", Failed = "failed", Dlq = "dlq",
        Cancelled = "cancelled", Removed = "removed",
    }
}

impl ExecutionStatus {
    /// Those in which something may still happen.
    pub const OPEN: [Self; 5] = [
        Self::Pending,
        Self::Running,
        Self::Retrying,
        Self::Waiting,
        Self::Paused,
    ];

    /// Whether nothing more will happen.
    #[must_use]
    pub fn is_over(self) -> bool {
        matches!(
            self,
            Self::Completed | Self::Failed | Self::Dlq | Self::Cancelled
        )
    }
}
