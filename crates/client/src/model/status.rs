//! Words of closed lists: where something stands, and what kind of thing it is.

/// Makes an enum of the words of a list, and everything that is read or said of it: JSON, text, the
/// schema, and the values that a flag of the command line takes.
macro_rules! words {
    ($($(#[doc = $about:literal])* $name:ident { $($(#[doc = $doc:literal])* $variant:ident = $word:literal,)* })*) => { $(
        $(#[doc = $about])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
        pub enum $name {
            $($(#[doc = $doc])* #[serde(rename = $word)] $variant,)*
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
    /// Where an execution stands.
    ExecutionStatus {
        /// It has not begun.
        Pending = "pending",
        /// An attempt runs.
        Running = "running",
        /// The next attempt waits for its time.
        Retrying = "retrying",
        /// It waits for something else.
        Waiting = "waiting",
        /// A person paused it.
        Paused = "paused",
        /// It succeeded.
        Completed = "completed",
        /// It failed without a dead letter.
        Failed = "failed",
        /// It failed and is a dead letter.
        Dlq = "dlq",
        /// A person ended it.
        Cancelled = "cancelled",
    }

    /// Where a step stands; `skipped` is also one whose turn never came, and `cancelled` one that was cut
    /// off by a cancel.
    StepStatus {
        /// It has not begun.
        Pending = "pending",
        /// An attempt runs.
        Running = "running",
        /// The next attempt waits for its time.
        Retrying = "retrying",
        /// It waits for something else.
        Waiting = "waiting",
        /// It succeeded.
        Completed = "completed",
        /// It failed for good.
        Failed = "failed",
        /// It was not run.
        Skipped = "skipped",
        /// It succeeded and was undone.
        Compensated = "compensated",
        /// It was cut off.
        Cancelled = "cancelled",
    }

    /// What started an execution.
    StartedBy {
        /// A call of the API.
        Manual = "manual",
        /// A retry of a dead letter.
        ManualDlqRetry = "manual_dlq_retry",
        /// A cron trigger.
        Cron = "cron",
        /// A schedule.
        Schedule = "schedule",
        /// A webhook.
        Webhook = "webhook",
        /// A message.
        Amqp = "amqp",
    }

    /// Where a dead letter stands.
    LetterStatus {
        /// It waits for somebody.
        Pending = "pending",
        /// A retry by a person runs.
        Retrying = "retrying",
        /// A retry succeeded.
        Resolved = "resolved",
        /// A person gave it up.
        Deleted = "deleted",
    }

    /// Why an execution became a dead letter.
    LetterReason {
        /// Its retries were used up.
        Exhausted = "exhausted",
        /// Its error is not retried.
        NonRetryable = "non_retryable",
        /// Its time was over.
        Timeout = "timeout",
        /// Nodes died too often while it ran.
        NodeLost = "node_lost",
        /// A worker held it for too long.
        LockExpired = "lock_expired",
        /// A worker fell silent.
        HeartbeatMissed = "heartbeat_missed",
        /// Completed steps could not be undone.
        CompensationFailed = "compensation_failed",
        /// Its history reached the limit.
        HistoryLimit = "history_limit",
    }

    /// What a trigger waits for.
    TriggerType {
        /// Times of an expression.
        Cron = "cron",
        /// An interval, moments or times of day.
        Schedule = "schedule",
        /// Requests.
        Webhook = "webhook",
    }

    /// What became of a planned time; `overdue` and `recovered` are of the dead-man check.
    SlotStatus {
        /// It was started in time.
        Fired = "fired",
        /// It was started later.
        Late = "late",
        /// It was not started.
        Skipped = "skipped",
        /// An expected success was missing.
        Overdue = "overdue",
        /// The missing success came.
        Recovered = "recovered",
    }

    /// How a planned time relates to the clock: `moved` when the local time does not exist on that day,
    /// `repeated` when it comes for the second time.
    SlotKind {
        /// As on any day.
        Normal = "normal",
        /// Moved behind a gap.
        Moved = "moved",
        /// The second of two.
        Repeated = "repeated",
    }

    /// What became of a request to a webhook.
    RequestStatus {
        /// It started an execution.
        Triggered = "triggered",
        /// It is not what the trigger waits for.
        Filtered = "filtered",
        /// Its signature or key was wrong.
        AuthFailed = "auth_failed",
        /// An equal one had come before.
        Duplicate = "duplicate",
        /// Its body was too large.
        TooLarge = "too_large",
        /// There were too many.
        RateLimited = "rate_limited",
        /// Its address is not on the list.
        IpRefused = "ip_refused",
        /// The trigger was disabled.
        Disabled = "disabled",
        /// Something else was wrong.
        Error = "error",
    }

    /// What became of an execution of a trigger: its status, or `removed` if it is no longer kept.
    RunStatus {
        /// It has not begun.
        Pending = "pending",
        /// An attempt runs.
        Running = "running",
        /// The next attempt waits for its time.
        Retrying = "retrying",
        /// It waits for something else.
        Waiting = "waiting",
        /// A person paused it.
        Paused = "paused",
        /// It succeeded.
        Completed = "completed",
        /// It failed without a dead letter.
        Failed = "failed",
        /// It failed and is a dead letter.
        Dlq = "dlq",
        /// A person ended it.
        Cancelled = "cancelled",
        /// It is no longer kept.
        Removed = "removed",
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
