//! Everything that can be asked of a store, asked of all: the answers must be equal.

use refire_core::bulk::{ItemOutcome, JobState};
use refire_core::dead_letter::LetterStatus;
use refire_core::definition::WorkflowId;
use refire_core::execution::{EventKind, Status, TriggerKind};
use refire_core::failure::ErrorClass;
use refire_core::id::{AlertId, BulkId, DlqId, ExecutionId, ItemId, RequestId, TaskId, TriggerId};
use refire_core::minute::MINUTE;
use refire_core::task::TaskStatus;
use refire_core::time::Timestamp;
use refire_store::model::{Image, Model};
use refire_store::postgres::Postgres;
use refire_store::sqlite::Sqlite;
use refire_store::{
    Alerts, Breakers, BulkJobs, COUNTED_MAX, Callbacks, Catalog, EventFilter, ExecutionFilter,
    Executions, LIMIT_MAX, LetterFilter, Letters, Minutes, Nodes, OfWorkflow, RequestFilter,
    RequestStatus, Requests, ScheduledTasks, Sessions, SlotFilter, SlotStatus, Store, Stretch,
    TaskFilter, Tasks, TriggerFilter, Triggers, Work, WorkKey, Workers,
};

use crate::breaker::HOSTS;
use crate::definition::{WORKFLOWS, workflow_id};
use crate::history::{History, NODES};

/// Stores that were told the same.
pub(crate) struct Stores {
    pub(crate) sqlite: Sqlite,
    pub(crate) model: Model,
    pub(crate) postgres: Option<Postgres>,
}

macro_rules! same {
    ($stores:expr, $question:ident($($argument:expr),*)) => {{
        let found = $stores.sqlite.$question($($argument),*).await.unwrap();
        let expected = $stores.model.$question($($argument),*).await.unwrap();
        assert_eq!(found, expected, "{}{:?}", stringify!($question), ($(&$argument,)*));
        if let Some(postgres) = &$stores.postgres {
            let found = postgres.$question($($argument),*).await.unwrap();
            assert_eq!(
                found,
                expected,
                "{}{:?} on PostgreSQL",
                stringify!($question),
                ($(&$argument,)*)
            );
        }
    }};
}

impl Stores {
    pub(crate) async fn close(&self) {
        self.sqlite.close().await;
        self.model.close().await;
        if let Some(postgres) = &self.postgres {
            postgres.close().await;
        }
    }

    /// One question of any kind.
    pub(crate) async fn ask(&self, history: &mut History, known: &Image) {
        let dice = &mut history.dice;
        let id = dice.pick_from(known.executions.keys()).copied();
        let id = id.unwrap_or(ExecutionId::from_bytes([1; 16]));
        let limit = 1 + dice.small(9);
        match dice.below(20) {
            16 => {
                let key = history.any_callback();
                same!(self, callback(key));
                same!(self, callbacks(id));
                let by = history.about_now(60);
                same!(self, due_callbacks(by, limit));
                same!(self, next_callback_due());
                let after = history.dice.maybe(key);
                same!(self, sealed_callbacks(after, limit));
            }
            18 | 19 => self.ask_about_tasks(history, known, limit).await,
            0 => {
                same!(self, execution(id));
                same!(self, states(&[id, ExecutionId::from_bytes([1; 16]), id]));
            }
            1 => {
                let sequences = dice.some(&[1, 2, 3, 4, 5, 99]);
                same!(self, values(id, &sequences));
            }
            2 => {
                let filter = event_filter(history);
                let after = history.dice.below(5);
                same!(self, history(id, &filter, after, limit));
            }
            3 | 4 => self.ask_about_lists(history, known, (id, limit)).await,
            5 => {
                let at = history.about_now(30);
                same!(self, ready_workflows(at));
            }
            6 => {
                let after = dice.pick_from(known.work.keys());
                let after = after.filter(|_| dice.one_in(2));
                same!(self, orphans(after, limit));
                let at = history.about_now(30);
                for node in NODES {
                    same!(self, owned_due(node, at, after, limit));
                }
            }
            7 => {
                let workflow = history.workflow();
                let workflow = history.dice.maybe(&workflow);
                same!(self, open_counts(workflow));
            }
            8 => {
                let filter = letter_filter(history, known);
                let before = history.dice.pick_from(known.letters.keys()).copied();
                let before = before.filter(|_| history.dice.one_in(2));
                same!(self, letters(&filter, before, limit));
            }
            9 => {
                let filter = letter_filter(history, known);
                same!(self, letter_summary(&filter));
                let from = history.about_now(300);
                same!(self, letters_since(from, limit));
            }
            10 | 11 => {
                let after = history.workflow();
                let after = history.dice.maybe(&after);
                same!(self, workflows(after, limit));
                let behind = (history.about_now(300), history.workflow());
                let behind = history.dice.maybe(&behind);
                same!(self, workflows_by_change(behind, limit));
            }
            12 => self.ask_about_people(history, limit).await,
            _ => self.ask_about_triggers(history, known, limit).await,
        }
    }

    /// Questions about lists of executions.
    async fn ask_about_lists(
        &self,
        history: &mut History,
        known: &Image,
        (id, limit): (ExecutionId, u32),
    ) {
        let filter = execution_filter(history, known);
        let before = history.dice.maybe(id);
        same!(self, executions(&filter, &Stretch::new(before, limit)));
        same!(self, count_executions(&filter, COUNTED_MAX));
        // Without a filter every store looks at the same ones.
        let (all, few) = (ExecutionFilter::default(), history.dice.small(5));
        same!(self, count_executions(&all, few));
        let stretch = Stretch {
            before,
            limit,
            looks: few + 1,
        };
        same!(self, executions(&all, &stretch));
        let byte = u8::try_from(history.dice.below(8)).unwrap();
        same!(self, executions_by_key([byte; 16]));
    }

    /// Questions about tasks.
    async fn ask_about_tasks(&self, history: &mut History, known: &Image, limit: u32) {
        let at = history.about_now(60);
        same!(self, due_tasks(at, limit));
        same!(self, next_task_due());
        same!(self, open_task_types());
        let dice = &mut history.dice;
        let task = dice.pick_from(known.tasks.values());
        let filter = TaskFilter {
            statuses: dice.some(&TaskStatus::ALL),
            task_type: dice.maybe("t".to_owned()),
            worker: task
                .and_then(|task| task.worker.clone())
                .filter(|_| dice.one_in(3)),
            execution: task.map(|task| task.execution).filter(|_| dice.one_in(3)),
        };
        let before = task.map(|task| task.id()).filter(|_| dice.one_in(2));
        same!(self, tasks(&filter, before, limit));
        if let Some(token) = task.and_then(|task| task.token) {
            same!(self, locked_tasks(token));
        }
    }

    /// One question about workers, one about who is logged in, and some about targets.
    async fn ask_about_people(&self, history: &mut History, limit: u32) {
        let after = history.any_worker();
        let after = history.dice.maybe(after);
        same!(self, workers(after.as_deref(), limit));
        let session = history.any_session();
        same!(self, session(&session));
        let host = history.any_host();
        same!(self, breaker(host));
        same!(self, breakers(Some(host), limit));
        let from = history.about_now(60);
        let from = history.dice.maybe(from);
        same!(self, letters_of_target(host, from, limit));
        self.ask_about_alerts(history, limit).await;
    }

    /// One question about alerts, and one about the numbers of minutes.
    async fn ask_about_alerts(&self, history: &mut History, limit: u32) {
        let filter = history.alert_filter();
        same!(self, alerts(&filter, None::<AlertId>, limit));
        let filter = history.minute_filter();
        same!(self, minutes(&filter, limit));
        same!(self, minute_points(&filter, MINUTE * 3));
        same!(self, minute_sums(&filter));
        same!(self, held_longest(LIMIT_MAX));
    }

    /// One question about triggers.
    async fn ask_about_triggers(&self, history: &mut History, known: &Image, limit: u32) {
        let id = history.any_trigger();
        let (from, to) = (history.about_now(60), history.about_now(60));
        match history.dice.below(6) {
            5 => {
                let (filter, id) = (history.scheduled_filter(), history.any_scheduled());
                let before = history.dice.maybe(id);
                same!(self, scheduled_tasks(&filter, before, limit));
                same!(self, scheduled_task(id));
                for key in 0..3 {
                    same!(self, scheduled_task_by_key([key; 16]));
                }
            }
            0 => {
                let filter = trigger_filter(history);
                let after = history.dice.maybe(id);
                same!(self, triggers(&filter, after, limit));
                same!(self, count_triggers(&filter));
            }
            1 => {
                same!(self, due_triggers(from, limit));
                same!(self, next_trigger_due());
                same!(self, trigger_state(id));
                let workflow = history.workflow();
                same!(self, standing_triggers(&workflow, limit));
                same!(self, open_executions(&workflow, limit));
                same!(self, task_tally(limit));
            }
            2 => {
                let dice = &mut history.dice;
                let filter = SlotFilter {
                    statuses: dice.some(&SlotStatus::ALL),
                    from: dice.one_in(4).then_some(from),
                    to: dice.one_in(4).then_some(to),
                };
                let rows = known.slots.range((id, 0)..=(id, u64::MAX));
                let rows: Vec<u64> = rows.map(|((_, seq), _)| *seq).collect();
                let before = history.dice.pick_from(rows.iter()).copied();
                let before = before.filter(|_| history.dice.one_in(2));
                same!(self, slots(id, &filter, before, limit));
            }
            3 => same!(self, slots_between(id, from, to, limit)),
            _ => {
                let (dice, statuses) = (&mut history.dice, RequestStatus::ALL);
                let (is_test, statuses) = (dice.one_in(2), dice.some(&statuses));
                let filter = RequestFilter {
                    statuses: dice.maybe(statuses).unwrap_or_default(),
                    is_test: dice.maybe(is_test),
                    from: dice.one_in(4).then_some(from),
                    to: dice.one_in(4).then_some(to),
                };
                let before = dice.pick_from(known.requests.keys()).copied();
                let before = before.filter(|_| dice.one_in(2));
                same!(self, requests(id, &filter, before, limit));
                let (newest, after) = (dice.small(300), dice.maybe(id));
                same!(self, requests_beyond(newest, after, limit));
                same!(self, request_tally(id, &filter, limit));
                same!(
                    self,
                    refused_requests(&filter.statuses, from, newest, limit)
                );
            }
        }
    }

    /// Everything about triggers.
    async fn ask_everything_about_triggers(&self, known: &Image) {
        for (id, told) in &known.triggers {
            same!(self, trigger(*id));
            same!(self, trigger_state(*id));
            same!(
                self,
                slots(*id, &SlotFilter::default(), None::<u64>, LIMIT_MAX)
            );
            let filter = RequestFilter::default();
            same!(self, requests(*id, &filter, None::<RequestId>, LIMIT_MAX));
            if let Some(address) = told.row.webhook {
                same!(self, webhook(address));
            }
        }
        for id in known.requests.keys() {
            same!(self, request(*id));
        }
        for id in known.scheduled.keys() {
            same!(self, scheduled_task(*id));
        }
        for id in known.sessions.keys() {
            same!(self, session(id));
        }
        let any: &[ItemOutcome] = &[];
        for id in known.bulk_jobs.keys() {
            same!(self, bulk_job(*id));
            same!(self, bulk_wish(*id));
            same!(self, bulk_items(*id, any, None::<ItemId>, LIMIT_MAX));
            same!(
                self,
                bulk_items(
                    *id,
                    &[ItemOutcome::Failed],
                    Some(ItemId::from_bytes([9; 16])),
                    3
                )
            );
        }
        let (any, running): (&[JobState], _) = (&[], [JobState::Running]);
        same!(self, bulk_jobs(any, None::<BulkId>, LIMIT_MAX));
        same!(self, bulk_jobs(&running, None::<BulkId>, 2));
        let all = TriggerFilter::default();
        same!(self, triggers(&all, None::<TriggerId>, LIMIT_MAX));
        same!(self, next_trigger_due());
    }

    /// Every row, whatever way it is read.
    pub(crate) async fn ask_everything(&self, known: &Image) {
        for id in known.executions.keys() {
            same!(self, load(*id));
            same!(self, history(*id, &EventFilter::default(), 0, LIMIT_MAX));
            let sequences: Vec<u64> = known.log(*id).map(|event| event.sequence).collect();
            same!(self, load_values(*id, &sequences));
        }
        for id in known.tasks.keys() {
            same!(self, task(*id));
        }
        same!(
            self,
            tasks(&TaskFilter::default(), None::<TaskId>, LIMIT_MAX)
        );
        let ids: Vec<ExecutionId> = known.executions.keys().copied().collect();
        same!(self, states(&ids));
        same!(self, summaries(&ids));
        self.ask_everything_about_triggers(known).await;
        for id in known.letters.keys() {
            same!(self, letter(*id));
            same!(self, letter_retries(*id, LIMIT_MAX));
        }
        same!(
            self,
            executions(&ExecutionFilter::default(), &Stretch::new(None, LIMIT_MAX))
        );
        same!(
            self,
            letters(&LetterFilter::default(), None::<DlqId>, LIMIT_MAX)
        );
        same!(self, letter_summary(&LetterFilter::default()));
        same!(self, open_counts(None::<&WorkflowId>));
        same!(self, orphans(None::<&WorkKey>, LIMIT_MAX));
        same!(self, nodes());
        same!(self, workers(None::<&str>, LIMIT_MAX));
        same!(self, breakers(None::<&str>, LIMIT_MAX));
        same!(self, standing_breakers());
        same!(self, alert_rules());
        same!(self, alert_states());
        same!(self, silences());
        same!(self, held_longest(LIMIT_MAX));
        for row in known.alerts.values() {
            same!(self, alert(row.alert.id));
        }
        for id in WORKFLOWS.map(workflow_id) {
            same!(self, open_counts(Some(&id)));
            same!(self, open_executions(&id, LIMIT_MAX));
            same!(
                self,
                waiting_work(&id, &["a", "b"], Timestamp::LAST, LIMIT_MAX)
            );
            same!(self, standing_triggers(&id, LIMIT_MAX));
            same!(self, workflow(&id));
            same!(self, versions(&id));
            for version in 0..4 {
                same!(self, version(&id, version));
            }
        }
    }
}

fn trigger_filter(history: &mut History) -> TriggerFilter {
    let workflow = maybe_workflow(history);
    let dice = &mut history.dice;
    let kinds = [TriggerKind::Cron, TriggerKind::Webhook];
    let kinds = kinds.into_iter().filter(|_| dice.one_in(3)).collect();
    let enabled = dice.one_in(2);
    let is_alarmed = dice.one_in(2);
    TriggerFilter {
        workflow,
        kinds,
        enabled: dice.maybe(enabled),
        is_alarmed: dice.maybe(is_alarmed),
    }
}

fn maybe_workflow(history: &mut History) -> Option<WorkflowId> {
    let workflow = history.workflow();
    history.dice.maybe(workflow)
}

fn event_filter(history: &mut History) -> EventFilter {
    let dice = &mut history.dice;
    let (attempt, first, second, step) = (
        dice.small(4),
        dice.pick(EventKind::NAMES),
        dice.pick(EventKind::NAMES),
        dice.pick(&["a", "b"]),
    );
    let names = [
        dice.one_in(4).then_some(first),
        dice.one_in(4).then_some(second),
    ];
    let names = names.into_iter().flatten().map(str::to_owned).collect();
    EventFilter {
        attempt: dice.maybe(attempt),
        names,
        step: dice.maybe(step.to_owned()),
    }
}

fn execution_filter(history: &mut History, known: &Image) -> ExecutionFilter {
    let workflow = history.workflow();
    let beginning = history.dice.pick(&["o", "ref", "", "x"]).to_owned();
    let trigger = history.any_trigger();
    let (from, to) = (history.about_now(300), history.about_now(300));
    let dice = &mut history.dice;
    let workflows = [
        dice.one_in(3).then_some(OfWorkflow::Named(workflow)),
        dice.one_in(6).then_some(OfWorkflow::Beginning(beginning)),
    ];
    let statuses = dice.some(&Status::ALL);
    let kinds = dice.some(&[TriggerKind::Manual, TriggerKind::Webhook]);
    let ids = known.executions.keys().filter(|_| dice.one_in(3));
    let ids: Vec<ExecutionId> = ids.take(20).copied().collect();
    let classes = dice.some(&[ErrorClass::HttpStatus, ErrorClass::Tls, ErrorClass::Dns]);
    let text = dice.pick(&["UNGÜLTIG", "410", "REFUND", "a-", "100%_", "\0", "no-such"]);
    let trace = dice.pick_from(known.executions.values());
    let trace = trace.map(|record| {
        let bytes = record.row.root.as_bytes().iter();
        bytes.map(|byte| format!("{byte:02x}")).collect()
    });
    ExecutionFilter {
        workflows: workflows.into_iter().flatten().collect(),
        statuses: dice.maybe(statuses).unwrap_or_default(),
        retried: dice.one_in(6),
        trigger: dice.one_in(6).then_some(trigger),
        trigger_kinds: if dice.one_in(4) { kinds } else { Vec::new() },
        from: dice.one_in(6).then_some(from),
        to: dice.one_in(6).then_some(to),
        ids: dice.one_in(6).then_some(ids),
        version: dice.one_in(6).then_some(1),
        error_types: if dice.one_in(6) {
            classes.iter().map(ToString::to_string).collect()
        } else {
            Vec::new()
        },
        text: dice.one_in(4).then(|| text.to_owned()),
        trace: trace.filter(|_| dice.one_in(8)),
    }
}

fn letter_filter(history: &mut History, known: &Image) -> LetterFilter {
    let workflow = maybe_workflow(history);
    let (from, to) = (history.about_now(300), history.about_now(300));
    let dice = &mut history.dice;
    let classes = dice.some(&[ErrorClass::HttpStatus, ErrorClass::Tls, ErrorClass::Dns]);
    let classes: Vec<String> = classes.iter().map(ToString::to_string).collect();
    let text = dice.pick(&[
        "UNGÜLTIG",
        "ungül",
        "410",
        "REFUND",
        "a",
        "100%_",
        "no-such",
    ]);
    let cause = dice.pick_from(known.letters.values());
    let cause = cause.map(|filed| filed.letter.fingerprint);
    let statuses = dice.some(&LetterStatus::ALL);
    LetterFilter {
        workflow,
        error_types: dice.maybe(classes).unwrap_or_default(),
        statuses: dice.maybe(statuses).unwrap_or_default(),
        from: dice.one_in(4).then_some(from),
        to: dice.one_in(4).then_some(to),
        text: dice.one_in(4).then(|| text.to_owned()),
        fingerprint: cause.filter(|_| dice.one_in(4)),
        target: dice.one_in(4).then(|| HOSTS[0].to_owned()),
    }
}
