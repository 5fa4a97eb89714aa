//! The calls of the API, a line each: method and path, the name here with what stands in the path, what
//! else is given, the answer, and what is sent along (parameters, a JSON body, a text, a worker's lock, the version that is changed).

use std::fmt::Display;

use percent_encoding::{NON_ALPHANUMERIC, utf8_percent_encode};
use reqwest::{Method, RequestBuilder};
use serde_json::value::RawValue;

use super::Client;
use crate::error::Error;
use crate::model::{
    Alert, AlertRule, AlertRulePreview, Attempt, BackfillRequest, BackfillResult, BatchItem,
    BatchResult, BulkDeadLetters, BulkExecutions, BulkItem, BulkJob, BulkPreview, BulkStarted,
    CallbackBody, Channel, ChannelPreview, CronHistory, DeadLetter, DeadLetterDetail,
    DeadLetterRetried, DeadLetterSummary, EnableTrigger, Event, Execution, ExecutionCount,
    ExecutionPage, ExecutionRunAgain, ExtendTask, FailTask, Heartbeat, LedgerEntry, MinuteStats,
    Node, Notification, NotificationStarted, Overview, Page, PlannedSlot, PreviewChannel,
    PreviewWebhook, PreviewedWebhook, RecheckRequests, RecheckedRequests, ReplayRequest,
    ReplayResult, RequestSummary, RetriedExecution, RetryLetter, RetryTimeline, RotateSecret,
    SchedulePreview, ScheduledTask, ScheduledTaskCreated, ScheduledTaskPage, SearchResult, Session,
    SessionLink, Silence, Target, TargetPage, Task, TaskHistory, TaskPage, TaskRun,
    TaskStatusAnswer, TaskSummary, TestWebhook, TestedWebhook, TimeZone, Trigger, TroubleList,
    UpcomingFire, Version, WebhookAnswer, WebhookRequest, WorkerPage, WorkerRemoved, Workflow,
    WorkflowDeleted, WorkflowDiff, WorkflowSaved, WorkflowVersion,
};
use crate::query::{
    AlertQuery, BulkItemQuery, BulkQuery, CancelQuery, CancelTaskQuery, ChangeQuery, DiffQuery,
    EventQuery, ExecutionQuery, HistoryQuery, LetterQuery, NextQuery, NotificationQuery,
    OfWorkflow, OverviewQuery, Paging, RangeQuery, RecheckQuery, RequestQuery, RetriedQuery,
    RetryNowQuery, ScheduledQuery, SearchQuery, SlotQuery, StatsQuery, TargetQuery,
    TaskHistoryQuery, TaskQuery, TriggerQuery, UpcomingQuery, WorkerQuery, WorkflowQuery,
};

/// A part of a path, whatever characters it has.
pub(super) fn segment(text: impl Display) -> String {
    utf8_percent_encode(&text.to_string(), NON_ALPHANUMERIC).to_string()
}

/// In a header and not in the address, so that it stands in no log of a proxy.
fn held_by(request: RequestBuilder, token: Option<&str>) -> RequestBuilder {
    match token {
        Some(token) => request.header("X-Lock-Token", token),
        None => request,
    }
}

/// Only what has this version is changed.
fn over(request: RequestBuilder, version: Option<u32>) -> RequestBuilder {
    match version {
        Some(version) => request.header("If-Match", format!("\"{version}\"")),
        None => request,
    }
}

macro_rules! calls {
    ($(
        $(#[doc = $about:literal])*
        $method:ident $path:literal $name:ident[$($part:ident: $part_type:ty),*]($($given:ident: $type:ty),*)
            -> $answer:ty $(, query $query:expr)? $(, json $json:expr)? $(, text $text:expr)? $(, lock $token:expr)?
            $(, over $version:expr)?;
    )*) => {
        impl Client { $(
            $(#[doc = $about])*
            pub async fn $name(
                &self,
                $($part: $part_type,)*
                $($given: $type,)*
            ) -> Result<$answer, Error> {
                $(let $part = segment($part);)*
                let request = self.request(Method::$method, &format!($path), &($($query)?));
                $(let request = request.json($json);)?
                $(let request = request.body($text.to_owned());)?
                $(let request = held_by(request, $token);)?
                $(let request = over(request, $version);)?
                self.send(request).await
            }
        )* }
    };
}

calls! {
    /// What runs there.
    GET "/version" version[]() -> Version;
    /// Who calls with this key, and where.
    GET "/api/session" session[]() -> Session;
    /// Makes a link that logs in to the console by itself, once.
    POST "/api/session/links" create_session_link[]() -> SessionLink;
    /// The nodes that share the server's store, the oldest first.
    GET "/api/nodes" nodes[]() -> Page<Node>;

    /// The whole at a glance, of so long a time, such as `24h`.
    GET "/api/overview" overview[](range: &str) -> Overview, query OverviewQuery { range: Some(range.to_owned()) };
    /// What is wrong at present, the worst first.
    GET "/api/trouble" trouble[]() -> TroubleList;

    /// What happened within a range, step by step.
    GET "/api/stats/minutes" minute_stats[](query: &StatsQuery) -> MinuteStats, query query.clone();
    /// Alerts, the newest first.
    GET "/api/alerts" alerts[](query: &AlertQuery, paging: &Paging) -> Page<Alert>,
        query (query.clone(), paging.clone());
    /// One alert.
    GET "/api/alerts/{id}" alert[id: &str]() -> Alert;
    /// Says that somebody is at it: nobody is reminded any more.
    POST "/api/alerts/{id}/ack" acknowledge_alert[id: &str]() -> Alert;
    /// Rules of alerts, those from the start first.
    GET "/api/alert-rules" alert_rules[]() -> Page<AlertRule>;
    /// Makes a rule from JSON or YAML text.
    POST "/api/alert-rules" create_alert_rule[](source: &str) -> AlertRule, text source;
    /// What a rule (JSON or YAML text) would say now, and would have said within the last day.
    POST "/api/alert-rules/preview" preview_alert_rule[](source: &str) -> AlertRulePreview, text source;
    /// One rule.
    GET "/api/alert-rules/{id}" alert_rule[id: &str]() -> AlertRule;
    /// Changes a rule by a merge patch (JSON or YAML text); if a version is given, only that one.
    PATCH "/api/alert-rules/{id}" change_alert_rule[id: &str](patch: &str, version: Option<u32>) -> AlertRule,
        text patch, over version;
    /// Removes a rule.
    DELETE "/api/alert-rules/{id}" delete_alert_rule[id: &str]() -> ();
    /// Silences, those that end last first.
    GET "/api/silences" silences[]() -> Page<Silence>;
    /// Makes a silence from JSON or YAML text.
    POST "/api/silences" create_silence[](source: &str) -> Silence, text source;
    /// One silence.
    GET "/api/silences/{id}" silence[id: &str]() -> Silence;
    /// Writes a silence anew.
    PUT "/api/silences/{id}" replace_silence[id: &str](source: &str) -> Silence, text source;
    /// Ends a silence.
    DELETE "/api/silences/{id}" delete_silence[id: &str]() -> ();

    /// Workflows by name, or as they were asked for.
    GET "/api/workflows" workflows[](query: &WorkflowQuery, paging: &Paging) -> Page<Workflow>,
        query (query.clone(), paging.clone());
    /// One workflow with its definition.
    GET "/api/workflows/{id}" workflow[id: &str]() -> Workflow;
    /// Saves a definition (YAML or JSON text); if a version is given, only over that one.
    PUT "/api/workflows/{id}" apply_workflow[id: &str](source: &str, version: Option<u32>) -> WorkflowSaved,
        text source, over version;
    /// Checks a definition without saving it.
    POST "/api/workflows/validate" validate_workflow[](source: &str) -> WorkflowSaved, text source;
    /// Compares a definition with the newest version of it.
    POST "/api/workflows/{id}/diff" diff_workflow[id: &str](source: &str) -> WorkflowDiff, text source;
    /// Compares two versions.
    GET "/api/workflows/{id}/diff" diff_versions[id: &str](from: u32, to: u32) -> WorkflowDiff,
        query DiffQuery { from: Some(from), to: Some(to) };
    /// Its versions, newest first.
    GET "/api/workflows/{id}/versions" workflow_versions[id: &str]() -> Page<WorkflowVersion>;
    /// One version with its text.
    GET "/api/workflows/{id}/versions/{version}" workflow_version[id: &str, version: u32]() -> WorkflowVersion;
    /// Deletes a workflow, and disables its triggers.
    DELETE "/api/workflows/{id}" delete_workflow[id: &str]() -> WorkflowDeleted;
    /// Starts many executions in one commit.
    POST "/api/workflows/{workflow}/execute-batch" execute_batch[workflow: &str](items: &[BatchItem])
        -> Page<BatchResult>, json items;

    /// Executions, newest first.
    GET "/api/executions" executions[](query: &ExecutionQuery, paging: &Paging) -> ExecutionPage,
        query (query.clone(), paging.clone());
    /// How many executions there are, up to 10,000.
    GET "/api/executions/count" count_executions[](query: &ExecutionQuery) -> ExecutionCount, query query.clone();
    /// What has this id, key or name.
    GET "/api/search" search[](text: &str) -> SearchResult, query SearchQuery { q: Some(text.to_owned()) };
    /// One execution with everything.
    GET "/api/executions/{id}" execution[id: &str]() -> Execution;
    /// Its log.
    GET "/api/executions/{id}/events" events[id: &str](query: &EventQuery, paging: &Paging) -> Page<Event>,
        query (query.clone(), paging.clone());
    /// Its attempts, in the order in which they were planned.
    GET "/api/executions/{id}/attempts" attempts[id: &str]() -> Page<Attempt>;
    /// `cancel`, `pause` or `resume`.
    POST "/api/executions/{id}/{command}" command[id: &str, command: &str](compensate: bool) -> Execution,
        query CancelQuery { compensate: compensate.then_some(true) };
    /// Makes retries that wait now: that of a step, or all.
    POST "/api/executions/{id}/retry-now" retry_now[id: &str](step: Option<&str>) -> Execution,
        query RetryNowQuery { step: step.map(str::to_owned) };
    /// Runs an execution again, as a new one.
    POST "/api/executions/{id}/run-again" run_again[id: &str]() -> ExecutionRunAgain;
    /// Does something with many executions.
    POST "/api/executions/bulk" bulk_executions[](bulk: &BulkExecutions) -> BulkStarted, json bulk;
    /// What that would do; it must be a dry run.
    POST "/api/executions/bulk" preview_bulk_executions[](bulk: &BulkExecutions) -> BulkPreview, json bulk;
    /// Replays an execution, against another definition if one is given.
    POST "/api/executions/{id}/replay" replay[id: &str](definition: Option<&str>) -> ReplayResult,
        json &ReplayRequest { definition: definition.map(str::to_owned) };
    /// Executions that were retried, newest first.
    GET "/api/retries" retries[](query: &RetriedQuery, paging: &Paging) -> Page<RetriedExecution>,
        query (query.clone(), paging.clone());
    /// When the retries of a policy (JSON or YAML text) would happen.
    POST "/api/retry/simulate" simulate[](policy: &str) -> RetryTimeline, text policy;

    /// Dead letters, newest first.
    GET "/api/dlq" dead_letters[](query: &LetterQuery, paging: &Paging) -> Page<DeadLetter>,
        query (query.clone(), paging.clone());
    /// An overview of dead letters.
    GET "/api/dlq/summary" dead_letter_summary[](query: &LetterQuery) -> DeadLetterSummary, query query.clone();
    /// One dead letter with everything about it.
    GET "/api/dlq/{id}" dead_letter[id: &str]() -> DeadLetterDetail;
    /// Retries a dead letter.
    POST "/api/dlq/{id}/retry" retry_dead_letter[id: &str](retry: &RetryLetter) -> DeadLetterRetried, json retry;
    /// Does something with many dead letters.
    POST "/api/dlq/bulk" bulk_dead_letters[](bulk: &BulkDeadLetters) -> BulkStarted, json bulk;
    /// What that would do; it must be a dry run.
    POST "/api/dlq/bulk" preview_bulk_dead_letters[](bulk: &BulkDeadLetters) -> BulkPreview, json bulk;
    /// Bulk jobs, newest first.
    GET "/api/bulk" bulk_jobs[](query: &BulkQuery, paging: &Paging) -> Page<BulkJob>,
        query (query.clone(), paging.clone());
    /// One bulk job.
    GET "/api/bulk/{id}" bulk_job[id: &str]() -> BulkJob;
    /// What became of the things of a bulk job.
    GET "/api/bulk/{id}/items" bulk_items[id: &str](query: &BulkItemQuery, paging: &Paging) -> Page<BulkItem>,
        query (query.clone(), paging.clone());
    /// `pause`, `resume` or `cancel`.
    POST "/api/bulk/{id}/{change}" change_bulk_job[id: &str, change: &str]() -> BulkJob;
    /// Gives a dead letter up.
    DELETE "/api/dlq/{id}" delete_dead_letter[id: &str]() -> ();

    /// Triggers, oldest first.
    GET "/api/triggers" triggers[](of: &OfWorkflow, query: &TriggerQuery, paging: &Paging) -> Page<Trigger>,
        query ((of.clone(), query.clone()), paging.clone());
    /// Makes a trigger of a workflow from JSON or YAML text.
    POST "/api/workflows/{workflow}/triggers" create_trigger[workflow: &str](source: &str) -> Trigger, text source;
    /// One trigger.
    GET "/api/triggers/{id}" trigger[id: &str]() -> Trigger;
    /// Changes a trigger by a merge patch (JSON or YAML text).
    PATCH "/api/triggers/{id}" change_trigger[id: &str](patch: &str, catch_up: bool) -> Trigger,
        query ChangeQuery { catch_up: catch_up.then_some(true) }, text patch;
    /// Gives a trigger new settings (JSON or YAML text) in place of all that it was told.
    PUT "/api/triggers/{id}" replace_trigger[id: &str](source: &str) -> Trigger, text source;
    /// Removes a trigger.
    DELETE "/api/triggers/{id}" delete_trigger[id: &str]() -> ();
    /// Enables a trigger.
    POST "/api/triggers/{id}/enable" enable_trigger[id: &str](catch_up: bool) -> Trigger,
        json &EnableTrigger { catch_up: Some(catch_up) };
    /// Disables a trigger.
    POST "/api/triggers/{id}/disable" disable_trigger[id: &str]() -> Trigger;
    /// Gives a webhook a new secret.
    POST "/api/triggers/{id}/rotate-secret" rotate_secret[id: &str](rotate: &RotateSecret) -> Trigger, json rotate;
    /// The next planned times.
    GET "/api/triggers/{id}/next" next_slots[id: &str](count: u32) -> Page<PlannedSlot>,
        query NextQuery { count: Some(count) };
    /// The next planned time of each trigger, the soonest first.
    GET "/api/triggers/upcoming" upcoming[](limit: u32) -> Page<UpcomingFire>,
        query UpcomingQuery { limit: Some(limit) };
    /// What became of its planned times, newest first.
    GET "/api/triggers/{id}/slots" slots[id: &str](query: &SlotQuery, paging: &Paging) -> Page<LedgerEntry>,
        query (query.clone(), paging.clone());
    /// Runs planned times of the past.
    POST "/api/triggers/{id}/backfill" backfill[id: &str](backfill: &BackfillRequest) -> BackfillResult, json backfill;
    /// Requests to a webhook, newest first.
    GET "/api/triggers/{id}/requests" webhook_requests[id: &str](query: &RequestQuery, paging: &Paging)
        -> Page<WebhookRequest>, query (query.clone(), paging.clone());
    /// What became of the requests to a webhook.
    GET "/api/triggers/{id}/requests/summary" request_summary[id: &str](range: &RangeQuery) -> RequestSummary,
        query range.clone();
    /// Checks refused requests again, and runs those that pass unless it is a dry run.
    POST "/api/triggers/{id}/requests/recheck" recheck_requests[id: &str](recheck: &RecheckRequests)
        -> RecheckedRequests, json recheck;
    /// One request to a webhook, with its body.
    GET "/api/triggers/{id}/requests/{request}" webhook_request[id: &str, request: &str]() -> WebhookRequest;
    /// Judges a refused request again, and runs it if it passes. With `equal_once` what has no name is
    /// the same as what is equal to it.
    POST "/api/triggers/{id}/requests/{request}/recheck" recheck_request[id: &str, request: &str](equal_once: bool)
        -> WebhookAnswer, query RecheckQuery { equal_once: equal_once.then_some(true) };
    /// Makes a request to a webhook and signs it as its sender would.
    POST "/api/triggers/{id}/test" test_webhook[id: &str](test: &TestWebhook) -> TestedWebhook, json test;
    /// When a schedule (JSON or YAML text) would fire that is not saved yet.
    POST "/api/schedule/preview" preview_schedule[](source: &str) -> SchedulePreview, text source;
    /// All time zones with their present offsets.
    GET "/api/time-zones" time_zones[]() -> Page<TimeZone>;
    /// What the settings of a webhook make of a request; nothing is sent or written.
    POST "/api/webhook/preview" preview_webhook[](preview: &PreviewWebhook) -> PreviewedWebhook, json preview;
    /// Says how a call went, or how far it is, as the target that was given this token. Needs no API key.
    PUT "/task-callback/{token}" call_back[token: &str](body: &CallbackBody) -> (), json body;
    /// The last executions of a cron trigger of a workflow: the oldest, unless one is named.
    GET "/api/workflows/{workflow}/cron-history"
        cron_history[workflow: &str](trigger: Option<&str>, limit: Option<u32>) -> CronHistory,
        query HistoryQuery { trigger_id: trigger.map(str::to_owned), limit };

    /// Tasks for workers, newest first.
    GET "/api/external-tasks" tasks[](query: &TaskQuery, paging: &Paging) -> TaskPage,
        query (query.clone(), paging.clone());
    /// Tasks by their type.
    GET "/api/external-tasks/summary" task_summary[]() -> TaskSummary;
    /// One task with its input, and its output when it is done.
    GET "/api/external-tasks/{id}" task[id: &str]() -> Task;
    /// Workers that have said who they are, by name.
    GET "/api/workers" workers[](query: &WorkerQuery, paging: &Paging) -> WorkerPage,
        query (query.clone(), paging.clone());
    /// Forgets a worker; others may fetch the tasks that it has.
    DELETE "/api/workers/{id}" remove_worker[id: &str]() -> WorkerRemoved;
    /// Targets and their circuit breakers, by host.
    GET "/api/targets" targets[](query: &TargetQuery, paging: &Paging) -> TargetPage,
        query (query.clone(), paging.clone());
    /// One target.
    GET "/api/targets/{host}" target[host: &str]() -> Target;
    /// Stops all calls to a target.
    POST "/api/targets/{host}/open" open_target[host: &str]() -> Target;
    /// Lets all calls to a target be made, whatever fails.
    POST "/api/targets/{host}/close" close_target[host: &str]() -> Target;
    /// Closes the breaker of a target; it opens by itself again.
    POST "/api/targets/{host}/reset" reset_target[host: &str]() -> Target;
    /// Has the next call try whether a target is back.
    POST "/api/targets/{host}/probe" probe_target[host: &str]() -> Target;
    /// A worker has done its task. Sent again with the same token, it is answered as the first time.
    POST "/api/external-tasks/{id}/complete" complete_task[id: &str](token: Option<&str>, output: &RawValue) -> (),
        json output, lock token;
    /// A worker could not do its task.
    POST "/api/external-tasks/{id}/fail" fail_task[id: &str](token: Option<&str>, failed: &FailTask) -> (),
        json failed, lock token;
    /// A worker is still at its task: its lock counts from now.
    POST "/api/external-tasks/{id}/heartbeat" beat_task[id: &str](token: Option<&str>, beat: &Heartbeat) -> (),
        json beat, lock token;
    /// A worker wants its task for so many seconds from now; the attempt's time is not exceeded.
    POST "/api/external-tasks/{id}/extend" extend_task[id: &str](token: Option<&str>, seconds: u64) -> (),
        json &ExtendTask { seconds }, lock token;
    /// A worker gives its task back, which is no attempt.
    POST "/api/external-tasks/{id}/unlock" unlock_task[id: &str](token: Option<&str>) -> (), lock token;
    /// Makes a scheduled task from JSON or YAML text.
    POST "/schedule-task" schedule_task[](source: &str) -> ScheduledTaskCreated, text source;
    /// Scheduled tasks, newest first.
    GET "/api/scheduled-tasks" scheduled_tasks[](query: &ScheduledQuery, paging: &Paging) -> ScheduledTaskPage,
        query (query.clone(), paging.clone());
    /// One scheduled task.
    GET "/api/scheduled-tasks/{id}" scheduled_task[id: &str]() -> ScheduledTask;
    /// Changes a scheduled task by a merge patch (JSON or YAML text) on the request that made it.
    PATCH "/api/scheduled-tasks/{id}" change_scheduled_task[id: &str](patch: &str) -> ScheduledTask, text patch;
    /// Pauses a scheduled task.
    POST "/api/scheduled-tasks/{id}/pause" pause_scheduled_task[id: &str]() -> ScheduledTask;
    /// Lets a paused task go on.
    POST "/api/scheduled-tasks/{id}/resume" resume_scheduled_task[id: &str]() -> ScheduledTask;
    /// Cancels a scheduled task, and what is open of it unless it may go on.
    POST "/api/scheduled-tasks/{id}/cancel" cancel_scheduled_task[id: &str](keep_running: bool) -> ScheduledTask,
        query CancelTaskQuery { keep_running: keep_running.then_some(true) };
    /// Begins a cycle of a scheduled task now.
    POST "/api/scheduled-tasks/{id}/run" run_scheduled_task[id: &str]() -> TaskRun;
    /// Cancels a scheduled task and hides it.
    DELETE "/api/scheduled-tasks/{id}" delete_scheduled_task[id: &str]() -> ();
    /// The attempts of a scheduled task, newest first.
    GET "/task-history/{id}" task_history[id: &str](query: &TaskHistoryQuery, paging: &Paging) -> TaskHistory,
        query (query.clone(), paging.clone());
    /// Asks the target of a scheduled task how an attempt goes.
    GET "/task-history/{id}/{execution}/status" task_status[id: &str, execution: &str]() -> TaskStatusAnswer;
    /// Makes a channel from JSON or YAML text.
    POST "/api/channels" create_channel[](source: &str) -> Channel, text source;
    /// All channels.
    GET "/api/channels" channels[]() -> Page<Channel>;
    /// One channel.
    GET "/api/channels/{id}" channel[id: &str]() -> Channel;
    /// Changes a channel by a merge patch (JSON or YAML text) on what is shown of it.
    PATCH "/api/channels/{id}" change_channel[id: &str](patch: &str, version: Option<u32>) -> Channel, text patch, over version;
    /// Removes a channel.
    DELETE "/api/channels/{id}" delete_channel[id: &str]() -> ();
    /// Sends a test message through a channel.
    POST "/api/channels/{id}/test" test_channel[id: &str]() -> NotificationStarted;
    /// What a message would look like; nothing is sent.
    POST "/api/channels/preview" preview_channel[](preview: &PreviewChannel) -> ChannelPreview, json preview;
    /// Messages to people, newest first.
    GET "/api/notifications" notifications[](query: &NotificationQuery, paging: &Paging) -> Page<Notification>,
        query (query.clone(), paging.clone());
    /// One message.
    GET "/api/notifications/{id}" notification[id: &str]() -> Notification;
    /// Sends a message once more.
    POST "/api/notifications/{id}/resend" resend_notification[id: &str]() -> NotificationStarted;
}
