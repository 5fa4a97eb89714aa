//! Triggers, their planned times and their ledgers as the API shows them.

use refire_client::model::{
    self, InWords, LedgerEntry, Pause, PlannedSlot, Raw, SlotStatus, Trigger, TriggerAbout,
    TriggerSettings, TriggerType,
};
use refire_core::json::Json;
use refire_core::time::Timestamp;
use refire_core::trigger::{Overlap, Upcoming, upcoming};
use refire_engine::trigger::{self, TriggerView};
use refire_schedule::jiff::tz::TimeZone;
use refire_schedule::{Language, Schedule, SlotKind, jiff};
use refire_store::SlotRow;
use serde_json::value::RawValue;

use crate::api::{Origin, Problem};

/// Planned times that are shown with a trigger.
const NEXT_SHOWN: usize = 2;

/// The zone that a trigger's times are shown in.
pub(crate) struct Zone {
    name: String,
    zone: TimeZone,
}

impl Zone {
    /// Its IANA name.
    pub(crate) fn name(&self) -> &str {
        &self.name
    }

    /// A moment as the clocks there show it, such as `2026-03-08T03:00:00-04:00`.
    pub(crate) fn local(&self, at: Timestamp) -> String {
        match jiff::Timestamp::from_microsecond(at.as_micros()) {
            Ok(moment) => {
                let offset = self.zone.to_offset(moment);
                moment.display_with_offset(offset).to_string()
            }
            Err(_) => at.to_string(),
        }
    }
}

/// The zone of a trigger; UTC for a webhook and for one that cannot be read.
pub(crate) fn zone(view: &TriggerView) -> Zone {
    let known = view.trigger.as_ref().ok();
    match known.and_then(|known| known.schedule.as_ref()) {
        Some(schedule) => Zone {
            name: schedule.timezone().to_owned(),
            zone: schedule.zone().clone(),
        },
        None => Zone {
            name: "UTC".to_owned(),
            zone: TimeZone::UTC,
        },
    }
}

/// A trigger.
pub(crate) fn trigger(
    view: &TriggerView,
    now: Timestamp,
    origin: &Origin,
) -> Result<Trigger, Problem> {
    let row = &view.row;
    let known = view.trigger.as_ref().ok();
    let state = view.state.as_ref();
    let next = known
        .filter(|known| known.enabled)
        .map(|known| upcoming(known, state.map(|state| state.cursor), now, NEXT_SHOWN))
        .unwrap_or_default();
    let next: Vec<String> = next.iter().map(|next| next.slot.to_string()).collect();
    let schedule = known.and_then(|known| known.schedule.as_ref());
    let webhook = row.webhook.map(|id| id.to_string());
    let about = TriggerAbout {
        id: row.id.to_string(),
        workflow_id: row.workflow.to_string(),
        trigger_type: TriggerType::from_name(row.kind.name()),
        enabled: row.enabled,
        version: row.version,
        created_at: row.created_at.to_string(),
        updated_at: row.updated_at.to_string(),
        next_execution: next.first().cloned(),
        next_executions: next,
        description_in_words: schedule.map(|schedule| in_words(schedule, now)),
        finished: known
            .zip(state)
            .is_some_and(|(known, state)| known.is_finished(state)),
        problem: problem(view),
        running_execution_id: state.and_then(|state| Some(state.running?.to_string())),
        // Of one that nobody watches any more it would be old.
        last_success_at: known
            .filter(|known| known.awaits_ends())
            .and(state)
            .and_then(|state| Some(state.success_at?.to_string())),
        overdue_since: state.and_then(|state| Some(state.alarmed_at?.to_string())),
        webhook_url: webhook
            .as_ref()
            .map(|id| origin.address(&format!("/webhooks/{id}"))),
        webhook_id: webhook,
        workflow_deleted: view.workflow_deleted,
        previous_secret_until: view.previous_secret_until.map(|until| until.to_string()),
        secret: None,
        unchanged: false,
        pause: None,
    };
    Ok(Trigger {
        about,
        settings: settings(view)?,
    })
}

fn problem(view: &TriggerView) -> Option<String> {
    let Err(problems) = &view.trigger else {
        return view.secret_problem.clone();
    };
    let texts: Vec<String> = problems.iter().map(ToString::to_string).collect();
    Some(texts.join("; "))
}

/// A schedule in words.
pub(crate) fn in_words(schedule: &Schedule, now: Timestamp) -> InWords {
    let from = jiff::Timestamp::from_microsecond(now.as_micros()).unwrap_or_default();
    let say = |language| schedule.explain(language, from).to_string();
    InWords {
        en: say(Language::English),
        zh_tw: say(Language::TraditionalChinese),
    }
}

/// What was written, and the defaults that say how planned times are dealt with.
fn settings(view: &TriggerView) -> Result<TriggerSettings, Problem> {
    let mut settings = TriggerSettings::default();
    // What is no JSON at all is told as the trigger's problem.
    let Ok(written) = Json::from_bytes(&view.row.settings) else {
        return Ok(settings);
    };
    for (name, value) in written.members() {
        if name != "trigger_type" {
            let value = RawValue::from_string(value.to_owned()).map_err(Problem::internal)?;
            settings.push(name.into_owned(), value);
        }
    }
    let Ok(known) = &view.trigger else {
        return Ok(settings);
    };
    if let Some(schedule) = &known.schedule {
        let defaults = [
            ("timezone", schedule.timezone()),
            ("overlap", overlap(known.settings.overlap)),
            ("misfire", trigger::misfire_word(known.settings.misfire)),
        ];
        for (name, word) in defaults {
            if settings.get(name).is_none() {
                settings.push(name, text(word)?);
            }
        }
    }
    Ok(settings)
}

fn text(word: &str) -> Result<Raw, Problem> {
    serde_json::value::to_raw_value(word).map_err(Problem::internal)
}

fn overlap(policy: Overlap) -> &'static str {
    match policy {
        Overlap::Allow => "allow",
        Overlap::Skip => "skip",
        Overlap::BufferOne => "buffer_one",
        Overlap::CancelPrevious => "cancel_previous",
    }
}

/// The planned times of a pause.
pub(crate) fn pause(view: &TriggerView, pause: &trigger::Pause) -> Pause {
    let zone = zone(view);
    Pause {
        slots: pause.slots,
        from: pause.from.map(|at| zone.local(at)),
        to: pause.to.map(|at| zone.local(at)),
        caught_up: pause.caught_up,
    }
}

/// A planned time to come.
pub(crate) fn planned(next: &Upcoming) -> PlannedSlot {
    let kind = match next.slot.kind {
        SlotKind::Normal => model::SlotKind::Normal,
        SlotKind::Moved => model::SlotKind::Moved,
        SlotKind::Repeated => model::SlotKind::Repeated,
    };
    let nominal = Timestamp::from_micros(next.slot.at.as_microsecond());
    PlannedSlot {
        nominal: nominal.to_string(),
        at: next.planned.to_string(),
        local: next.slot.to_string(),
        kind,
    }
}

/// A row of the ledger.
pub(crate) fn entry(row: &SlotRow, zone: &Zone) -> LedgerEntry {
    let slot = &row.slot;
    LedgerEntry {
        nominal: slot.nominal.to_string(),
        to: slot.to.to_string(),
        count: slot.count,
        status: SlotStatus::from_name(slot.outcome.status().name()),
        reason: slot.outcome.reason().map(str::to_owned),
        execution_id: slot.execution.map(|id| id.to_string()),
        at: slot.at.to_string(),
        local: zone.local(slot.nominal),
        local_to: zone.local(slot.to),
    }
}
