//! The rows of tables as both backends write them, column by column.

use refire_core::breaker::Breaker;
use refire_core::bulk::JobState;
use refire_core::dead_letter::{Letter, LetterState, LetterStatus};
use refire_core::definition::{StepId, WorkflowId};
use refire_core::execution::{EventRow, Status};
use refire_core::id::{BulkId, DlqId, ExecutionId, NodeId, TriggerId};
use refire_core::minute::OfWorkflow;
use refire_core::time::Timestamp;
use refire_core::trigger::{Entry, State};

use super::column::{Due, Foreign, Id, rows};
use super::{signed, signed_small};
use crate::checksum;
use crate::{
    AlertRow, AlertRuleRow, BulkItemRow, CallbackRow, ChangeTrigger, ChannelRow, CreateTrigger,
    ExecutionRow, GroupRow, IdempotencyClaim, LetterRetry, NewBulk, NewNotice, PutWorkflow,
    RequestRow, RowUpdate, ScheduledRow, SessionRow, SettleLetter, SilenceRow, TaskRow, WorkRow,
    WorkerRow,
};

/// The phase of an execution whose completed steps are being undone.
const COMPENSATING: &str = "compensating";

rows! {
    /// Versions of definitions.
    pub(crate) struct Versions(key: i64, version: u32, put: &'a PutWorkflow, now: Timestamp) {
        workflow: i64 = key,
        version: i32 = signed_small(version),
        content_hash: &'a [u8] = &put.content_hash,
        created_at: i64 = now.as_micros(),
        created_by: Foreign<'a> = Foreign(&put.by),
        crc: i64 = checksum::definition(&put.id, version, &put.source).into(),
        source: Foreign<'a> = Foreign(&put.source),
    }
}

rows! {
    /// What of a new execution no later commit changes.
    pub(crate) struct Starts(workflow: Option<i64>, row: &'a ExecutionRow) {
        id: Id = row.id.into(),
        workflow: Option<i64> = workflow,
        workflow_version: i32 = signed_small(row.workflow_version),
        trigger: &'static str = row.trigger,
        trigger_id: Option<Id> = row.trigger_id.map(Id::from),
        priority: i16 = row.priority.into(),
        created_at: i64 = row.created_at.as_micros(),
        parent: Option<Id> = row.parent.map(Id::from),
        root: Id = row.root.into(),
    }
}

rows! {
    /// The part of executions that every commit rewrites.
    pub(crate) struct Updates(id: ExecutionId, update: &'a RowUpdate) {
        version: i64 = signed(update.version),
        status: &'static str = update.status.name(),
        phase: Option<&'static str> = update.compensating.then_some(COMPENSATING),
        updated_at: i64 = update.updated_at.as_micros(),
        retry_count: i32 = signed_small(update.retry_count),
        next_retry_at: Option<i64> = update.next_retry_at.map(Timestamp::as_micros),
        snapshot_crc: Option<i64> = update.snapshot.as_deref().map(|snapshot| {
            checksum::snapshot(id, update.version, snapshot).into()
        }),
        snapshot: Option<&'a [u8]> = update.snapshot.as_deref(),
    }
}

rows! {
    /// Events.
    pub(crate) struct Events(id: ExecutionId, event: &'a EventRow) {
        execution: Id = id.into(),
        sequence: i64 = signed(event.sequence),
        r#type: &'a str = &event.name,
        v: i32 = event.v.into(),
        at: i64 = event.at.as_micros(),
        step: Option<&'a str> = event.step.as_deref(),
        attempt: Option<i32> = event.attempt.map(signed_small),
        backoff_ms: Option<i64> = event.backoff_ms.map(signed),
        reason: Option<Foreign<'a>> = event.reason.as_deref().map(Foreign),
        crc: i64 = checksum::event(id, event).into(),
        payload: &'a [u8] = &event.payload,
    }
}

rows! {
    /// Uses of idempotency keys.
    pub(crate) struct KeyClaims(claim: &'a IdempotencyClaim, execution: ExecutionId) {
        scope: &'a str = &claim.scope,
        key_hash: &'a [u8] = &claim.key_hash,
        body_hash: &'a [u8] = &claim.body_hash,
        execution: Id = execution.into(),
        expires_at: i64 = claim.expires_at.as_micros(),
    }
}

rows! {
    /// Work to be put. Without the workflow there is no execution either, so that cannot be: the
    /// statement fails on the missing key instead of inventing one.
    pub(crate) struct Work(workflow: Option<i64>, row: &'a WorkRow) {
        execution: Id = row.execution.into(),
        step: &'a str = &row.step,
        attempt: i32 = signed_small(row.attempt),
        is_retry: bool = row.is_retry,
        workflow: Option<i64> = workflow,
        priority: i16 = row.priority.into(),
        due_at: Due = Due(row.due_at),
        limit_key: Option<Foreign<'a>> = row.limit_key.as_deref().map(Foreign),
        owner: Option<Id> = row.owner.map(Id::from),
        begun: bool = row.begun,
        begun_at: Option<i64> = row.begun_at.map(Timestamp::as_micros),
    }
}

rows! {
    /// Attempts that begin.
    pub(crate) struct Beginnings(execution: ExecutionId, step: &'a str, attempt: u32, node: NodeId) {
        execution: Id = execution.into(),
        step: &'a str = step,
        attempt: i32 = signed_small(attempt),
        owner: Id = node.into(),
    }
}

rows! {
    /// Work that is given back.
    pub(crate) struct GivenBack(
        execution: ExecutionId, step: &'a str, node: NodeId, due_at: Option<Timestamp>
    ) {
        execution: Id = execution.into(),
        step: &'a str = step,
        owner: Id = node.into(),
        due_at: Option<i64> = due_at.map(Timestamp::as_micros),
    }
}

rows! {
    /// New dead letters.
    pub(crate) struct Letters(workflow: Option<i64>, letter: &'a Letter, now: Timestamp) {
        id: Id = letter.id.into(),
        execution: Id = letter.execution.into(),
        workflow: Option<i64> = workflow,
        workflow_name: Foreign<'a> = Foreign(&letter.workflow_name),
        step: Option<&'a str> = letter.step.as_ref().map(StepId::as_str),
        reason: &'static str = letter.reason.name(),
        error_type: &'static str = letter.failure.class.name(),
        error_code: Option<Foreign<'a>> = letter.failure.code.as_deref().map(Foreign),
        error_message: Foreign<'a> = Foreign(&letter.failure.message),
        fingerprint: i64 = letter.fingerprint.cast_signed(),
        retry_count: i32 = signed_small(letter.retry_count),
        max_retries: i32 = signed_small(letter.max_retries),
        failed_at: i64 = letter.failed_at.as_micros(),
        created_at: i64 = now.as_micros(),
        // A plain struct of texts and numbers: writing it as JSON cannot fail.
        failure: Vec<u8> = serde_json::to_vec(&letter.failure).unwrap_or_default(),
        target: Option<&'a str> = letter.failure.target.as_deref(),
        status: &'static str = LetterStatus::default().name(),
    }
}

/// Who did something to a letter, and when.
type Done = Option<(Timestamp, String)>;

fn at(done: &Done) -> Option<i64> {
    done.as_ref().map(|(at, _)| at.as_micros())
}

fn by(done: &Done) -> Option<Foreign<'_>> {
    done.as_ref().map(|(_, by)| Foreign(by))
}

rows! {
    /// Where letters stand.
    pub(crate) struct LetterStates(id: DlqId, state: &'a LetterState) {
        id: Id = id.into(),
        status: &'static str = state.status.name(),
        generation: i32 = signed_small(state.generation),
        retry_attempted_at: Option<i64> = at(&state.retry_attempted),
        retry_attempted_by: Option<Foreign<'a>> = by(&state.retry_attempted),
        resolution_execution: Option<Id> = state.resolution_execution.map(Id::from),
        resolved_at: Option<i64> = at(&state.resolved),
        resolved_by: Option<Foreign<'a>> = by(&state.resolved),
        deleted_at: Option<i64> = at(&state.deleted),
        deleted_by: Option<Foreign<'a>> = by(&state.deleted),
    }
}

rows! {
    /// Retries of letters by people.
    pub(crate) struct Retries(retry: &'a LetterRetry, execution: ExecutionId, now: Timestamp) {
        letter: Id = retry.id.into(),
        execution: Id = execution.into(),
        retried_at: i64 = now.as_micros(),
        retried_by: Foreign<'a> = Foreign(&retry.by),
        retried_from: &'static str = retry.from.name(),
        edited: bool = retry.edited,
    }
}

rows! {
    /// How those retries ended.
    pub(crate) struct RetryEnds(settle: &SettleLetter, status: Status, now: Timestamp) {
        letter: Id = settle.id.into(),
        execution: Id = settle.execution.into(),
        ended_as: &'static str = status.name(),
        ended_at: i64 = now.as_micros(),
    }
}

rows! {
    /// New triggers.
    pub(crate) struct Triggers(workflow: i64, create: &'a CreateTrigger, now: Timestamp) {
        id: Id = create.id.into(),
        workflow: i64 = workflow,
        kind: &'static str = create.kind.name(),
        enabled: bool = create.enabled,
        version: i32 = 1,
        settings: &'a [u8] = &create.settings,
        crc: i64 = checksum::settings(create.id, &create.settings).into(),
        secrets: Option<&'a [u8]> = create.secrets.as_deref(),
        webhook: Option<Id> = create.webhook.map(Id::from),
        created_at: i64 = now.as_micros(),
        updated_at: i64 = now.as_micros(),
    }
}

rows! {
    /// What a change of triggers writes.
    pub(crate) struct TriggerChanges(change: &'a ChangeTrigger, now: Timestamp) {
        id: Id = change.id.into(),
        enabled: bool = change.enabled,
        settings: &'a [u8] = &change.settings,
        crc: i64 = checksum::settings(change.id, &change.settings).into(),
        secrets: Option<&'a [u8]> = change.secrets.as_deref(),
        updated_at: i64 = now.as_micros(),
    }
}

rows! {
    /// Where triggers stand.
    pub(crate) struct States(trigger: Id, state: &State) {
        trigger: Id = trigger,
        rev: i64 = signed(state.rev),
        cursor: i64 = state.cursor.as_micros(),
        due_at: Option<i64> = state.due_at.map(Timestamp::as_micros),
        running: Option<Id> = state.running.map(Id::from),
        buffered: Option<i64> = state.buffered.map(Timestamp::as_micros),
        watched_from: Option<i64> = state.watched_from.map(Timestamp::as_micros),
        alarmed_at: Option<i64> = state.alarmed_at.map(Timestamp::as_micros),
        success_at: Option<i64> = state.success_at.map(Timestamp::as_micros),
        success_slot: Option<i64> = state.success_slot.map(Timestamp::as_micros),
        cycles: i64 = signed(state.cycles),
    }
}

rows! {
    /// New rows of ledgers.
    pub(crate) struct Slots(trigger: TriggerId, seq: u64, slot: &'a Entry) {
        trigger: Id = trigger.into(),
        seq: i64 = signed(seq),
        nominal: i64 = slot.nominal.as_micros(),
        until: i64 = slot.to.as_micros(),
        count: i64 = signed(slot.count),
        status: &'static str = slot.outcome.status().name(),
        reason: Option<Foreign<'a>> = slot.outcome.reason().map(Foreign),
        execution: Option<Id> = slot.execution.map(Id::from),
        at: i64 = slot.at.as_micros(),
    }
}

rows! {
    /// What may go on with the newest row of a ledger.
    pub(crate) struct Stretches(trigger: TriggerId, slot: &'a Entry) {
        trigger: Id = trigger.into(),
        until: i64 = slot.to.as_micros(),
        count: i64 = signed(slot.count),
        status: &'static str = slot.outcome.status().name(),
        reason: Option<Foreign<'a>> = slot.outcome.reason().map(Foreign),
        at: i64 = slot.at.as_micros(),
    }
}

rows! {
    /// Requests to webhooks.
    pub(crate) struct Requests(request: &'a RequestRow) {
        id: Id = request.id.into(),
        trigger: Id = request.trigger.into(),
        at: i64 = request.at.as_micros(),
        status: &'static str = request.status.name(),
        source: Foreign<'a> = Foreign(&request.source),
        headers: &'a [u8] = &request.headers,
        body: Option<&'a [u8]> = request.body.as_deref(),
        body_bytes: i64 = signed(request.body_bytes),
        execution: Option<Id> = request.execution.map(Id::from),
        error: Option<Foreign<'a>> = request.error.as_deref().map(Foreign),
        is_test: bool = request.is_test,
        size: i64 = signed(request.size()),
    }
}

rows! {
    /// Tasks for workers.
    pub(crate) struct Tasks(row: &'a TaskRow) {
        execution: Id = row.execution.into(),
        step_no: i32 = row.step_no.into(),
        step: &'a str = &row.step,
        workflow: &'a str = row.workflow.as_str(),
        task_type: &'a str = &row.task_type,
        priority: i16 = row.priority.into(),
        status: i16 = row.status as i16,
        returns_to: i16 = row.returns_to as i16,
        rev: i64 = signed(row.rev),
        attempt: i64 = row.attempt.into(),
        attempts_max: i64 = row.attempts_max.into(),
        available_at: i64 = row.available_at.as_micros(),
        timeout_at: i64 = row.timeout_at.as_micros(),
        wake_at: Option<i64> = row.wake_at.map(Timestamp::as_micros),
        lock_ms: i64 = signed(row.lock_ms),
        heartbeat_ms: Option<i64> = row.heartbeat_ms.map(signed),
        silence_ms: Option<i64> = row.silence_ms.map(signed),
        require_token: bool = row.require_token,
        input_sequence: i64 = signed(row.input_sequence),
        input_bytes: i64 = signed(row.input_bytes),
        token: Option<Id> = row.token.map(Id::from),
        worker: Option<Foreign<'a>> = row.worker.as_deref().map(Foreign),
        worker_type: Option<Foreign<'a>> = row.worker_type.as_deref().map(Foreign),
        locked_at: Option<i64> = row.locked_at.map(Timestamp::as_micros),
        lock_until: Option<i64> = row.lock_until.map(Timestamp::as_micros),
        heartbeat_until: Option<i64> = row.heartbeat_until.map(Timestamp::as_micros),
        heartbeat_at: Option<i64> = row.heartbeat_at.map(Timestamp::as_micros),
        progress: Option<i16> = row.progress.map(i16::from),
        message: Option<Foreign<'a>> = row.message.as_deref().map(Foreign),
        ended_token: Option<Id> = row.ended_token.map(Id::from),
        ended_by: Option<i16> = row.ended_by.map(|call| call as i16),
        releases: i64 = row.releases.into(),
        error: Option<Foreign<'a>> = row.error.as_deref().map(Foreign),
        created_at: i64 = row.created_at.as_micros(),
        updated_at: i64 = row.updated_at.as_micros(),
        completed_at: Option<i64> = row.completed_at.map(Timestamp::as_micros),
    }
}

rows! {
    /// Callbacks of targets.
    pub(crate) struct CallbackRows(row: &'a CallbackRow) {
        execution: Id = row.execution.into(),
        step_no: i32 = row.step_no.into(),
        attempt: i64 = row.attempt.into(),
        step: &'a str = &row.step,
        workflow: &'a str = row.workflow.as_str(),
        status: i16 = row.status as i16,
        until: i64 = row.until.as_micros(),
        wake_at: Option<i64> = row.wake_at.map(Timestamp::as_micros),
        progress: Option<i16> = row.progress.map(i16::from),
        message: Option<Foreign<'a>> = row.message.as_deref().map(Foreign),
        extra: Option<Foreign<'a>> = row.extra.as_deref().map(Foreign),
        query_config: Option<&'a [u8]> = row.query_config.as_deref(),
        created_at: i64 = row.created_at.as_micros(),
        updated_at: i64 = row.updated_at.as_micros(),
    }
}

rows! {
    /// Workers.
    pub(crate) struct Workers(row: &'a WorkerRow) {
        worker_id: Foreign<'a> = Foreign(&row.id),
        worker_type: Option<Foreign<'a>> = row.worker_type.as_deref().map(Foreign),
        task_types: String = row.task_types.text(),
        last_poll_at: Option<i64> = row.polled_at.map(Timestamp::as_micros),
        last_heartbeat_at: Option<i64> = row.heartbeat_at.map(Timestamp::as_micros),
        tasks_completed: i64 = signed(row.completed),
        tasks_failed: i64 = signed(row.failed),
        created_at: i64 = row.created_at.as_micros(),
        updated_at: i64 = row.updated_at.as_micros(),
    }
}

rows! {
    /// Sessions of the console. They are in no backup: who was logged out would be logged in again.
    pub(crate) struct SessionRows(row: &'a SessionRow) {
        id: &'a [u8] = &row.id,
        kind: i16 = row.kind as i16,
        key_hash: &'a [u8] = &row.key_hash,
        actor: Foreign<'a> = Foreign(&row.actor),
        created_at: i64 = row.created_at.as_micros(),
        ends_at: i64 = row.ends_at.as_micros(),
    }
}

rows! {
    /// Circuit breakers of targets.
    pub(crate) struct BreakerRows(row: &'a Breaker) {
        host: &'a str = &row.host,
        state: i16 = row.phase as i16,
        opened_at: Option<i64> = row.opened_at.map(Timestamp::as_micros),
        until: Option<i64> = row.until.map(Timestamp::as_micros),
        times: i32 = signed_small(row.times),
        probe_owner: Option<Id> = row.probe.map(|probe| probe.owner.into()),
        probe_until: Option<i64> = row.probe.map(|probe| probe.until.as_micros()),
        forced: Option<i16> = row.forced.map(|forced| forced as i16),
        cause: Option<&'a str> = row.cause.as_deref(),
        changed_at: i64 = row.changed_at.as_micros(),
        changed_by: Option<Foreign<'a>> = row.changed_by.as_deref().map(Foreign),
        rev: i64 = signed(row.rev),
    }
}

rows! {
    /// Notices that wait.
    pub(crate) struct Notices(notice: &'a NewNotice) {
        id: Id = notice.id.into(),
        kind: &'static str = notice.kind.name(),
        workflow: Option<&'a str> = notice.workflow.as_ref().map(WorkflowId::as_str),
        subject: Foreign<'a> = Foreign(&notice.subject),
        // Plain structs of texts: writing them as JSON cannot fail.
        facts: Vec<u8> = serde_json::to_vec(&notice.facts).unwrap_or_default(),
    }
}

rows! {
    /// Groups of notices.
    pub(crate) struct Groups(row: &'a GroupRow) {
        channel: Id = row.channel.into(),
        id: Id = row.id.into(),
        rev: i64 = signed(row.rev),
        due_at: i64 = row.due_at.as_micros(),
        state: &'a [u8] = &row.state,
    }
}

rows! {
    /// Channels.
    pub(crate) struct ChannelRows(row: &'a ChannelRow) {
        id: Id = row.id.into(),
        version: i32 = signed_small(row.version),
        enabled: bool = row.enabled,
        settings: &'a [u8] = &row.settings,
        crc: i64 = row.checksum().into(),
        secrets: Option<&'a [u8]> = row.secrets.as_deref(),
        created_at: i64 = row.created_at.as_micros(),
        updated_at: i64 = row.updated_at.as_micros(),
    }
}

rows! {
    /// Scheduled tasks. Without the workflow there is no task either: the statement fails on the missing
    /// key. What a change leaves as it was is not written by it.
    pub(crate) struct ScheduledTasks(workflow: Option<i64>, row: &'a ScheduledRow, now: Timestamp) {
        id: Id = row.id.into(),
        workflow: Option<i64> = workflow,
        name: Option<Foreign<'a>> = row.name.as_deref().map(Foreign),
        task_type: &'a str = &row.task_type,
        schedule_type: &'a str = &row.schedule_type,
        version: i32 = signed_small(row.version),
        key_hash: Option<&'a [u8]> = row.key_hash.as_ref().map(|key| &key[..]),
        body_hash: &'a [u8] = &row.body_hash,
        request: &'a [u8] = &row.request,
        crc: i64 = row.checksum().into(),
        created_at: i64 = now.as_micros(),
        updated_at: i64 = now.as_micros(),
        cancelled_at: Option<i64> = row.cancelled_at.map(Timestamp::as_micros),
        deleted_at: Option<i64> = row.deleted_at.map(Timestamp::as_micros),
    }
}

rows! {
    /// The numbers of a minute.
    pub(crate) struct MinuteRows(workflow: i64, row: &OfWorkflow) {
        workflow: i64 = workflow,
        minute: i64 = row.at.as_micros(),
        started: i64 = signed(row.minute.started),
        completed: i64 = signed(row.minute.completed),
        failed: i64 = signed(row.minute.failed),
        dead_lettered: i64 = signed(row.minute.dead_lettered),
        cancelled: i64 = signed(row.minute.cancelled),
        retries: i64 = signed(row.minute.retries),
        recovered: i64 = signed(row.minute.recovered),
        given_up: i64 = signed(row.minute.given_up),
        fired: i64 = signed(row.minute.fired),
        missed: i64 = signed(row.minute.missed),
        duration_ms: i64 = signed(row.minute.duration_ms),
        duration_max_ms: i64 = signed(row.minute.duration_max_ms),
    }
}

rows! {
    /// New bulk jobs.
    pub(crate) struct NewBulks(new: &'a NewBulk, now: Timestamp) {
        id: Id = new.id.into(),
        action: i16 = new.action as i16,
        state: i16 = JobState::Running as i16,
        wish: Vec<u8> = new.wish.text(),
        total: Option<i64> = new.total.map(signed),
        rate: i64 = new.rate.into(),
        created_by: Foreign<'a> = Foreign(&new.by),
        ok: i64 = 0,
        failed: i64 = 0,
        skipped: i64 = 0,
        rev: i64 = 1,
        created_at: i64 = now.as_micros(),
        updated_at: i64 = now.as_micros(),
    }
}

rows! {
    /// Rules of alerts.
    pub(crate) struct AlertRules(row: &'a AlertRuleRow) {
        id: Id = row.id.into(),
        name: Foreign<'a> = Foreign(&row.name),
        version: i32 = signed_small(row.version),
        settings: &'a [u8] = &row.settings,
        created_at: i64 = row.created_at.as_micros(),
        updated_at: i64 = row.updated_at.as_micros(),
        deleted_at: Option<i64> = row.deleted_at.map(Timestamp::as_micros),
    }
}

rows! {
    /// How far alerts are.
    pub(crate) struct AlertRows(row: &'a AlertRow) {
        rule: Id = row.rule.into(),
        subject: Foreign<'a> = Foreign(&row.subject),
        rev: i64 = signed(row.rev),
        name: Foreign<'a> = Foreign(&row.name),
        kind: &'static str = row.kind.name(),
        workflow: Option<&'a str> = row.workflow.as_ref().map(WorkflowId::as_str),
        threshold: Option<i64> = row.threshold,
        id: Id = row.alert.id.into(),
        phase: i16 = row.alert.phase as i16,
        began_at: i64 = row.alert.began_at.as_micros(),
        since: i64 = row.alert.since.as_micros(),
        value: i64 = row.alert.value,
        told: i16 = row.alert.told as i16,
        told_at: Option<i64> = row.alert.told_at.map(Timestamp::as_micros),
        is_muted: bool = row.alert.is_muted,
        acked_at: Option<i64> = at(&row.alert.acked),
        acked_by: Option<Foreign<'a>> = by(&row.alert.acked),
        updated_at: i64 = row.alert.updated_at.as_micros(),
    }
}

rows! {
    /// Silences.
    pub(crate) struct SilenceRows(row: &'a SilenceRow) {
        id: Id = row.id.into(),
        rule: Option<Id> = row.rule.map(Id::from),
        subject: Option<Foreign<'a>> = row.subject.as_deref().map(Foreign),
        starts_at: i64 = row.starts_at.as_micros(),
        ends_at: i64 = row.ends_at.as_micros(),
        comment: Option<Foreign<'a>> = row.comment.as_deref().map(Foreign),
        created_by: Foreign<'a> = Foreign(&row.created_by),
        created_at: i64 = row.created_at.as_micros(),
    }
}

rows! {
    /// What became of things of bulk jobs.
    pub(crate) struct BulkItems(job: BulkId, row: &'a BulkItemRow) {
        job: Id = job.into(),
        item: Id = row.item.into(),
        outcome: i16 = row.outcome as i16,
        execution: Option<Id> = row.execution.map(Id::from),
        detail: Option<Foreign<'a>> = row.detail.as_deref().map(Foreign),
        at: i64 = row.at.as_micros(),
    }
}
