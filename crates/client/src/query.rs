//! The parameters of calls, each in one place: a field here is sent by the client, read by the server, a
//! parameter in OpenAPI (its comment is the description there) and, where the struct is `Args`, a flag.

mod parameter;

pub use parameter::{Kind, Parameter, Value};

use crate::model::{
    AlertPhase, BreakerState, BulkOutcome, BulkState, ExecutionStatus, LetterStatus,
    NotificationStatus, RequestStatus, ScheduleType, SlotStatus, StartedBy, TaskExecutionStatus,
    TaskStatus, TriggerType, WorkerStatus,
};

/// The names of events, which are shouted.
#[cfg(feature = "cli")]
fn shouted(text: &str) -> Result<String, std::convert::Infallible> {
    Ok(text.to_ascii_uppercase())
}

/// The parameters of a call.
pub trait Query: Sized {
    /// The parameters that are given, by name.
    fn pairs(&self) -> Vec<(&'static str, String)>;

    /// Reads them one by one.
    fn read(reader: &mut impl ReadParameters) -> Self;

    /// Whether none is given.
    fn is_empty(&self) -> bool {
        self.pairs().is_empty()
    }
}

/// Where parameters come from.
pub trait ReadParameters {
    /// The parameter of that name; its default if it is absent or wrong.
    fn parameter<P: Parameter>(&mut self, name: &'static str) -> P;
}

macro_rules! queries {
    ($($(#[doc = $about:literal])* $name:ident $(: $flags:ident)? {
        $($(#[doc = $doc:literal])* $(#[cli($($cli:tt)*)])? $field:ident: $type:ty = $wire:literal,)*
    })*) => { $(
        $(#[doc = $about])*
        #[derive(Debug, Clone, Default, PartialEq, Eq)]
        $(#[cfg_attr(feature = "cli", derive(clap::$flags))])?
        pub struct $name {
            $($(#[doc = $doc])* $(#[cfg_attr(feature = "cli", arg($($cli)*))])? pub $field: $type,)*
        }

        impl Query for $name {
            fn pairs(&self) -> Vec<(&'static str, String)> {
                let all = [$(($wire, self.$field.text())),*];
                all.into_iter().filter_map(|(name, text)| Some((name, text?))).collect()
            }

            fn read(reader: &mut impl ReadParameters) -> Self {
                Self { $($field: reader.parameter($wire)),* }
            }
        }

        #[cfg(feature = "openapi")]
        impl utoipa::IntoParams for $name {
            fn into_params(
                _: impl Fn() -> Option<utoipa::openapi::path::ParameterIn>,
            ) -> Vec<utoipa::openapi::path::Parameter> {
                vec![$(<$type as Parameter>::described($wire, concat!($($doc),*))),*]
            }
        }
    )* };
}

queries! {
    /// Which part of a list.
    Paging {
        /// Rows, 1 to 1000; default 50
        limit: Option<u32> = "limit",
        /// `next_cursor` of the previous page
        cursor: Option<String> = "cursor",
    }

    /// Which workflows, and in which order.
    WorkflowQuery: Args {
        /// With this text in their name
        #[cli(long = "search", value_name = "TEXT", help = "Only workflows with this text in their id or name")]
        q: Option<String> = "q",
        /// By `name` (default), or by `-updated`: the last saved first
        #[cli(long, value_name = "ORDER", default_value = "name", value_parser = ["name", "-updated"], allow_hyphen_values = true, help = "By name, or the last saved first (-updated)")]
        sort: Option<String> = "sort",
        /// `stats`: triggers, next planned time, open executions and dead letters of each
        #[cli(skip)]
        include: Option<String> = "include",
    }

    /// Which executions.
    ExecutionQuery: Args {
        /// Of one of these workflows; repeat it or separate by commas. A `*` at the end stands for any rest of a
        /// name, such as `ship_*`
        #[cli(long, value_name = "ID", value_delimiter = ',', help = "Only executions of this workflow; several are separated by commas, and a * at the end stands for any rest")]
        workflow: Vec<String> = "workflow",
        /// With one of these statuses; repeat it or separate by commas, such as `running,retrying`
        #[cli(long, value_delimiter = ',', help = "Only executions with this status; several are separated by commas")]
        status: Vec<ExecutionStatus> = "status",
        /// Started by this trigger, `trg_…`
        #[cli(long, value_name = "ID", help = "Only executions that this trigger started (trg_…)")]
        trigger: Option<String> = "trigger",
        /// Started in one of these ways; repeat it or separate by commas, such as `cron,webhook`
        #[cli(long, value_name = "TYPE", value_delimiter = ',', help = "Only executions started in this way, e.g. webhook; several are separated by commas")]
        trigger_type: Vec<StartedBy> = "trigger_type",
        /// Created at or after this time, such as `2026-11-08T00:00:00Z`
        #[cli(long, value_name = "TIME", help = "Only executions since this time (2026-11-15T09:30:00Z), day (from 0:00 UTC), or how long ago (24h)")]
        from: Option<String> = "from",
        /// Created before this time, such as `2026-11-15T00:00:00Z`
        #[cli(long, value_name = "TIME", help = "Only executions before this time")]
        to: Option<String> = "to",
        /// Started with this idempotency key, as long as that is remembered
        #[cli(long, value_name = "KEY", help = "Only executions started with this idempotency key")]
        key: Option<String> = "key",
        /// These executions, at most 100; repeat it or separate by commas
        #[cli(long = "id", value_name = "ID", value_delimiter = ',', help = "Only these executions (exec_…); several are separated by commas")]
        ids: Vec<String> = "ids",
        /// Of this version of their workflow
        #[cli(long = "workflow-version", value_name = "N", help = "Only executions of this version of their workflow")]
        version: Option<u32> = "version",
        /// That failed with one of these classes of error, or wait for a retry after one; repeat it or separate by
        /// commas, such as `http_status,read_timeout`
        #[cli(long, value_name = "TYPE", value_delimiter = ',', help = "Only this kind of error, e.g. http_status or read_timeout; several are separated by commas")]
        error_type: Vec<String> = "error_type",
        /// The id of an execution or an idempotency key, exactly; else a text in the error's message, its code, or
        /// the workflow's id
        #[cli(long, value_name = "TEXT", help = "The execution with this id or idempotency key; else executions whose error, error code or workflow contains this text")]
        q: Option<String> = "q",
    }

    /// Which executions that were retried.
    RetriedQuery: Args {
        /// Of one of these workflows; repeat it or separate by commas. A `*` at the end stands for any rest of a name
        #[cli(long, value_name = "ID", value_delimiter = ',', help = "Only executions of this workflow; several are separated by commas, and a * at the end stands for any rest")]
        workflow: Vec<String> = "workflow",
        /// With one of these statuses; repeat it or separate by commas, such as `running,retrying`
        #[cli(long, value_delimiter = ',', help = "Only executions with this status; several are separated by commas")]
        status: Vec<ExecutionStatus> = "status",
    }

    /// What to look for everywhere.
    SearchQuery {
        /// An id, an idempotency key or a trace id, exactly; else a part of a name
        q: Option<String> = "q",
    }

    /// Which events of an execution.
    EventQuery: Args {
        /// About this attempt, such as 2
        #[cli(long, value_name = "N", help = "Only events of this attempt")]
        attempt: Option<u32> = "attempt",
        /// Of one of these types; repeat it or separate by commas, such as `STEP_FAILED,RETRY_SCHEDULED`
        #[cli(long = "type", value_name = "TYPE", value_delimiter = ',', value_parser = shouted, help = "Only events of this type, e.g. RETRY_SCHEDULED; several are separated by commas")]
        event_type: Vec<String> = "type",
        /// About this step
        #[cli(long, value_name = "ID", help = "Only events of this step")]
        step: Option<String> = "step",
    }

    /// Which dead letters.
    LetterQuery: Args {
        /// Of this workflow
        #[cli(long, value_name = "ID", help = "Only dead letters of this workflow")]
        workflow: Option<String> = "workflow_id",
        /// With one of these classes of error; repeat it or separate by commas, such as
        /// `http_status,read_timeout`
        #[cli(long, value_name = "TYPE", value_delimiter = ',', help = "Only this kind of error, e.g. http_status or read_timeout; several are separated by commas")]
        error_type: Vec<String> = "error_type",
        /// With one of these statuses; repeat it or separate by commas, such as `pending,resolved`
        #[cli(long, value_delimiter = ',', help = "Only dead letters with this status; several are separated by commas [default: pending,retrying]")]
        status: Vec<LetterStatus> = "status",
        /// That failed at or after this time, such as `2026-11-08T00:00:00Z`
        #[cli(long, value_name = "TIME", help = "Only failures since this time (2026-11-15T09:30:00Z), day (from 0:00 UTC), or how long ago (24h)")]
        from: Option<String> = "from",
        /// That failed before this time, such as `2026-11-15T00:00:00Z`
        #[cli(long, value_name = "TIME", help = "Only failures before this time")]
        to: Option<String> = "to",
        /// Whose message, workflow, code or step contains this; or the id of a letter or an execution (`dlq_…`, `exec_…`)
        #[cli(long, value_name = "TEXT", help = "Only dead letters whose error, workflow or step contains this text, or with this dlq_… or exec_… id")]
        q: Option<String> = "q",
        /// With this cause, such as `00c0ffee00c0ffee`
        #[cli(skip)]
        fingerprint: Option<String> = "fingerprint",
        /// Whose last call was to this host, such as `api.example.com` or `10.0.0.7:8080`
        #[cli(long, value_name = "HOST", help = "Only dead letters whose last call was to this host")]
        target: Option<String> = "target",
        /// `true`: only those that failed more than 30 days ago; `all`: those, too; default `false`
        #[cli(long, value_name = "WHICH", num_args = 0..=1, default_missing_value = "true", value_parser = ["true", "false", "all"], help = "Only failures of more than 30 days ago; --archived=all shows those, too")]
        archived: Option<String> = "archived",
    }

    /// Which bulk jobs.
    BulkQuery: Args {
        /// In one of these states; repeat it or separate by commas, such as `running,paused`
        #[cli(long, value_delimiter = ',', help = "Only jobs in this state; several are separated by commas")]
        state: Vec<BulkState> = "state",
    }

    /// Which things of a bulk job.
    BulkItemQuery: Args {
        /// With one of these outcomes; repeat it or separate by commas, such as `failed,skipped`
        #[cli(long, value_delimiter = ',', help = "Only things with this outcome; several are separated by commas")]
        outcome: Vec<BulkOutcome> = "outcome",
    }

    /// Of which workflow.
    OfWorkflow: Args {
        /// Of this workflow
        #[cli(long, value_name = "ID", help = "Only triggers of this workflow")]
        workflow: Option<String> = "workflow",
    }

    /// Which triggers.
    TriggerQuery: Args {
        /// Of one of these types; repeat it or separate by commas, such as `cron,schedule`
        #[cli(long = "type", value_name = "TYPE", value_delimiter = ',', help = "Only triggers of this type; several are separated by commas")]
        trigger_type: Vec<TriggerType> = "type",
        /// Only enabled ones, or only disabled ones
        #[cli(long, num_args = 0, default_missing_value = "true", help = "Only enabled triggers")]
        enabled: Option<bool> = "enabled",
        /// Only triggers that have missed an expected success, or only the others
        #[cli(long, num_args = 0, default_missing_value = "true", help = "Only triggers that have missed an expected success")]
        overdue: Option<bool> = "overdue",
        /// Whose workflow, name, expression or webhook id contains this
        #[cli(long = "search", value_name = "TEXT", help = "Only triggers whose workflow, name, expression or webhook id contains this text")]
        q: Option<String> = "q",
    }

    /// How many planned times of all triggers.
    UpcomingQuery {
        /// How many triggers, 1 to 1000; default 50
        limit: Option<u32> = "limit",
    }

    /// Which alerts.
    AlertQuery: Args {
        /// In one of these phases; repeat it or separate by commas, such as `pending,firing`
        #[cli(long, value_delimiter = ',', help = "Only alerts in this phase; several are separated by commas [default: pending,firing]")]
        phase: Vec<AlertPhase> = "phase",
        /// Of this rule, `rule_…`
        #[cli(long = "rule", value_name = "ID", help = "Only alerts of this rule (rule_…)")]
        rule_id: Option<String> = "rule_id",
        /// About this: a workflow, a trigger, a worker or a host
        #[cli(long, value_name = "NAME", help = "Only alerts about this workflow, trigger, worker or host")]
        subject: Option<String> = "subject",
    }

    /// Which minutes, and how they are added up.
    StatsQuery: Args {
        /// Only of this workflow
        #[cli(long, value_name = "ID", help = "Only executions of this workflow")]
        workflow: Option<String> = "workflow",
        /// From this time on, such as `2026-11-08T00:00:00Z`; default a day before the end. Minutes are kept for 14 days
        #[cli(long, value_name = "TIME", help = "From this time on (2026-11-15T09:30:00Z), day (from 0:00 UTC), or how long ago (24h) [default: 24h]")]
        from: Option<String> = "from",
        /// Up to this time; default now
        #[cli(long, value_name = "TIME", help = "Up to this time [default: now]")]
        to: Option<String> = "to",
        /// The length of a step in whole minutes, such as `5m`, at most `1d`, and at most 1500 steps; default one that gives about 100
        #[cli(long, value_name = "TIME", help = "How long a step is, such as 5m; default one that gives about 24 lines")]
        step: Option<String> = "step",
    }

    /// How far back an overview looks.
    OverviewQuery {
        /// A length of time such as `15m` or `7d`, at most `30d`; default `24h`
        range: Option<String> = "range",
    }

    /// Which time.
    RangeQuery {
        /// At or after this time, such as `2026-11-08T00:00:00Z`
        from: Option<String> = "from",
        /// Before this time
        to: Option<String> = "to",
    }

    /// Which planned times.
    SlotQuery: Args {
        /// With one of these statuses; repeat it or separate by commas, such as `late,skipped`
        #[cli(long, value_delimiter = ',', help = "Only planned times with this status; several are separated by commas")]
        status: Vec<SlotStatus> = "status",
        /// Planned at or after this time, such as `2026-11-08T00:00:00Z`
        #[cli(long, value_name = "TIME", help = "Only planned times since this time (2026-11-15T09:30:00Z), day (from 0:00 UTC), or how long ago (24h)")]
        from: Option<String> = "from",
        /// Planned before this time
        #[cli(long, value_name = "TIME", help = "Only planned times before this time")]
        to: Option<String> = "to",
    }

    /// Which requests to a webhook.
    RequestQuery: Args {
        /// With one of these statuses; repeat it or separate by commas, such as `auth_failed,error`
        #[cli(long, value_delimiter = ',', help = "Only requests with this status; several are separated by commas")]
        status: Vec<RequestStatus> = "status",
        /// Only tests, or only others
        #[cli(long, num_args = 0, default_missing_value = "true", help = "Only test requests")]
        test: Option<bool> = "test",
        /// That arrived at or after this time, such as `2026-11-08T00:00:00Z`
        #[cli(long, value_name = "TIME", help = "Only requests since this time (2026-11-15T09:30:00Z), day (from 0:00 UTC), or how long ago (24h)")]
        from: Option<String> = "from",
        /// That arrived before this time
        #[cli(long, value_name = "TIME", help = "Only requests before this time")]
        to: Option<String> = "to",
    }

    /// Which executions of a cron trigger.
    HistoryQuery {
        /// Executions, 1 to 1000; default 50
        limit: Option<u32> = "limit",
        /// Of this trigger, `trg_…`
        trigger_id: Option<String> = "trigger_id",
    }

    /// How many planned times.
    NextQuery {
        /// How many, 1 to 1000; default 2
        count: Option<u32> = "count",
    }

    /// Which versions to compare.
    DiffQuery {
        /// The older version, such as 1
        from: Option<u32> = "from",
        /// The newer version, such as 2
        to: Option<u32> = "to",
    }

    /// How to start an execution.
    ExecuteQuery {
        /// How long to wait for the end, such as `30s`; at most `60s`
        wait: Option<String> = "wait",
        /// 1 (first) to 10 (last); default 5
        priority: Option<u32> = "priority",
        /// Start after this delay, such as `5m`
        delay: Option<String> = "delay",
    }

    /// How to cancel an execution.
    CancelQuery {
        /// Undo completed steps first
        compensate: Option<bool> = "compensate",
    }

    /// Which retries to make now.
    RetryNowQuery {
        /// Only that of this step; without it, all that wait
        step: Option<String> = "step",
    }

    /// How to change a trigger.
    ChangeQuery {
        /// If this enables the trigger: whether the times planned during the pause are started
        catch_up: Option<bool> = "catch_up",
    }

    /// How to check a request again.
    RecheckQuery {
        /// For checking many: requests without an idempotency key that are equal byte for byte count as one, which is started once, or not at all if the sender has repeated it with success
        equal_once: Option<bool> = "equal_once",
    }

    /// Which tasks a worker fetches.
    PollQuery {
        /// Types of tasks, with commas; a `*` at the end stands for any rest of a name
        task_type: Vec<String> = "taskType",
        /// The worker's name, up to 200 characters
        worker_id: Option<String> = "workerId",
        /// What kind of worker it is
        worker_type: Option<String> = "workerType",
        /// How many to fetch at most, 1 to 100; default 1
        max_tasks: Option<u32> = "maxTasks",
        /// How long to wait for the first, 0 to 300; default 30
        wait_seconds: Option<u32> = "waitSeconds",
    }

    /// By which lock a worker has a task.
    LockQuery {
        /// The `lockToken` of the task; the header `X-Lock-Token` does as well
        lock_token: Option<String> = "lockToken",
    }

    /// Which tasks.
    TaskQuery: Args {
        /// In one of these states; repeat it or separate by commas, such as `PENDING,LOCKED`
        #[cli(long, value_delimiter = ',', ignore_case = true, help = "Only tasks with this status; several are separated by commas")]
        status: Vec<TaskStatus> = "status",
        /// Of this type
        #[cli(long = "type", value_name = "TYPE", help = "Only tasks of this type")]
        task_type: Option<String> = "taskType",
        /// That this worker has, or had last
        #[cli(long = "worker", value_name = "NAME", help = "Only tasks that this worker has, or had last")]
        worker_id: Option<String> = "workerId",
        /// Of this execution
        #[cli(long = "execution", value_name = "ID", help = "Only tasks of this execution (exec_…)")]
        execution_id: Option<String> = "executionId",
    }

    /// Which workers.
    WorkerQuery: Args {
        /// With one of these statuses; repeat it or separate by commas, such as `ACTIVE,IDLE`
        #[cli(long, value_delimiter = ',', ignore_case = true, help = "Only workers with this status; several are separated by commas")]
        status: Vec<WorkerStatus> = "status",
        /// Of this kind, such as `n8n`
        #[cli(long = "type", value_name = "TYPE", help = "Only workers of this type, such as n8n")]
        worker_type: Option<String> = "workerType",
        /// Whose name, kind or task types contain this
        #[cli(long, value_name = "TEXT", help = "Only workers whose name, type or task types contain this text")]
        q: Option<String> = "q",
    }

    /// Which targets.
    TargetQuery: Args {
        /// Whose circuit breaker stands so; repeat it or separate by commas, such as `open,closing`
        #[cli(long, value_delimiter = ',', help = "Only targets whose breaker stands so; several are separated by commas")]
        state: Vec<BreakerState> = "state",
        /// Whose host contains this
        #[cli(long, value_name = "TEXT", help = "Only targets whose host contains this text")]
        q: Option<String> = "q",
    }

    /// Which scheduled tasks.
    ScheduledQuery: Args {
        /// Of this kind, such as `report`
        #[cli(long = "type", value_name = "TYPE", help = "Only tasks of this kind, e.g. report")]
        task_type: Option<String> = "taskType",
        /// With this kind of schedule
        #[cli(long = "schedule", value_name = "TYPE", help = "Only tasks with this kind of schedule")]
        schedule_type: Option<ScheduleType> = "scheduleType",
        /// Only those that are neither paused nor cancelled, or only the others
        #[cli(long = "active", value_name = "BOOL", help = "Only tasks that are neither paused nor cancelled (true), or only the others (false)")]
        is_active: Option<bool> = "isActive",
        /// Only those of which no cycle will begin any more, or only the others
        #[cli(long = "finished", value_name = "BOOL", help = "Only tasks that are finished (true), or only the others (false)")]
        is_finished: Option<bool> = "isFinished",
        /// With these words in their name
        #[cli(long = "search", value_name = "TEXT", help = "Only tasks with this text in their name")]
        q: Option<String> = "q",
    }

    /// Which attempts of a scheduled task.
    TaskHistoryQuery: Args {
        /// Of this cycle
        #[cli(long, value_name = "N", help = "Only attempts of this cycle")]
        cycle: Option<u32> = "cycle",
        /// That came to one of these; repeat it or separate by commas, such as `failed,timeout`
        #[cli(long, value_name = "STATUS", value_delimiter = ',', help = "Only attempts that came to this; several are separated by commas")]
        status: Vec<TaskExecutionStatus> = "status",
        /// Only retries, or only first attempts
        #[cli(long = "retries", value_name = "BOOL", help = "Only retries (true), or only first attempts (false)")]
        is_retry: Option<bool> = "isRetry",
    }

    /// Which messages to people.
    NotificationQuery: Args {
        /// Of this channel
        #[cli(long, value_name = "ID", help = "Only messages of this channel (chn_…)")]
        channel: Option<String> = "channel",
        /// With one of these statuses; repeat it or separate by commas, such as `failed,retrying`
        #[cli(long, value_name = "STATUS", value_delimiter = ',', help = "Only messages with this status; several are separated by commas")]
        status: Vec<NotificationStatus> = "status",
    }

    /// How to cancel a scheduled task.
    CancelTaskQuery {
        /// Let open executions go on
        keep_running: Option<bool> = "keepRunning",
    }
}

impl Query for () {
    fn pairs(&self) -> Vec<(&'static str, String)> {
        Vec::new()
    }

    fn read(_: &mut impl ReadParameters) -> Self {}
}

impl<A: Query, B: Query> Query for (A, B) {
    fn pairs(&self) -> Vec<(&'static str, String)> {
        [self.0.pairs(), self.1.pairs()].concat()
    }

    fn read(reader: &mut impl ReadParameters) -> Self {
        (A::read(reader), B::read(reader))
    }
}

impl Paging {
    /// The first rows of a list.
    #[must_use]
    pub fn first(limit: u32) -> Self {
        Self {
            limit: Some(limit),
            cursor: None,
        }
    }
}
