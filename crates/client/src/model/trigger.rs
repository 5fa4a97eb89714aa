//! Triggers: what starts executions by itself.

mod settings;

use std::collections::BTreeMap;

use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize};

use super::{Raw, RequestStatus, RunStatus, SlotKind, SlotStatus, TriggerType};
pub use settings::TriggerSettings;

/// A shape that knows the names of its fields.
macro_rules! named_fields {
    ($(#[doc = $about:literal])* pub struct $name:ident {
        $($(#[$attribute:meta])* pub $field:ident: $type:ty,)*
    }) => {
        shapes! {
            $(#[doc = $about])*
            pub struct $name { $($(#[$attribute])* pub $field: $type,)* }
        }

        impl $name {
            const FIELDS: &'static [&'static str] = &[$(stringify!($field)),*];
        }
    };
}

/// A trigger: its settings and its state.
#[derive(Debug, Clone, Serialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct Trigger {
    /// Its state.
    #[serde(flatten)]
    pub about: TriggerAbout,
    /// Its settings, as in the request that created it: `cron_expression`, `timezone`, `overlap`,
    /// `input`, …
    #[serde(flatten)]
    pub settings: TriggerSettings,
}

impl<'de> Deserialize<'de> for Trigger {
    /// Raw text does not pass through `flatten`, so the document is read twice.
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let raw = Raw::deserialize(deserializer)?;
        let about: TriggerAbout = serde_json::from_str(raw.get()).map_err(D::Error::custom)?;
        let all: TriggerSettings = serde_json::from_str(raw.get()).map_err(D::Error::custom)?;
        Ok(Self {
            about,
            settings: all.without(TriggerAbout::FIELDS),
        })
    }
}

named_fields! {
    /// What the server says of a trigger.
    pub struct TriggerAbout {
        /// `trg_…`
        pub id: String,
        /// The workflow that it starts.
        pub workflow_id: String,
        /// What it waits for.
        pub trigger_type: TriggerType,
        /// Whether it starts anything.
        pub enabled: bool,
        /// Grows with each change.
        pub version: u32,
        /// When it was made.
        pub created_at: String,
        /// When it was changed last.
        pub updated_at: String,
        /// The next planned time, in the trigger's zone; null when it is disabled or none is left.
        pub next_execution: Option<String>,
        /// The next two, likewise.
        #[serde(default)]
        pub next_executions: Vec<String>,
        /// When it fires, for people; null for a webhook.
        pub description_in_words: Option<InWords>,
        /// Whether there are no more planned times.
        #[serde(default)]
        pub finished: bool,
        /// Why it cannot work, although it was valid when it was created.
        pub problem: Option<String>,
        /// The execution that the overlap policy waits for.
        pub running_execution_id: Option<String>,
        /// When one of its executions last completed. It is known, and here, only with `dead_man` or an
        /// `overlap` other than `allow`.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub last_success_at: Option<String>,
        /// Since when an expected success is missing.
        pub overdue_since: Option<String>,
        /// Its workflow was deleted, which disables its triggers.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        pub workflow_deleted: bool,
        /// `wh_…`, of a webhook.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub webhook_id: Option<String>,
        /// Where a webhook's sender sends to.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub webhook_url: Option<String>,
        /// Until when the previous secret of a webhook is still valid.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub previous_secret_until: Option<String>,
        /// The secret of a webhook: only in the answer to the request that created it.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub secret: Option<String>,
        /// There was nothing to change: only in the answer to a change.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        pub unchanged: bool,
        /// What becomes of the planned times of the pause: only in the answer that enabled it.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub pause: Option<Pause>,
    }
}

shapes! {
    /// A schedule in words.
    pub struct InWords {
        /// In English.
        pub en: String,
        /// 繁體中文。
        #[serde(rename = "zh-TW")]
        pub zh_tw: String,
    }

    /// The planned times of a pause.
    pub struct Pause {
        /// How many there were.
        pub slots: u64,
        /// The first, in the trigger's zone.
        pub from: Option<String>,
        /// The last.
        pub to: Option<String>,
        /// How many of them are started now; the others are skipped.
        pub caught_up: u64,
    }

    /// Enables a trigger.
    #[derive(Default)]
    #[serde(deny_unknown_fields)]
    pub struct EnableTrigger {
        /// Whether the times planned during the pause are started as `misfire` says.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub catch_up: Option<bool>,
    }

    /// Gives a webhook a new secret.
    #[derive(Default)]
    #[serde(deny_unknown_fields)]
    pub struct RotateSecret {
        /// The new secret; created if absent.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub secret: Option<String>,
        /// How long the old secret stays valid, such as `24h` (default). With `0s` it ends now, and so
        /// does the one before it.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub keep_previous_for: Option<String>,
        /// Whether the secret before the old one ends now, if it is still valid. Otherwise this is
        /// refused.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        pub end_previous: bool,
    }

    /// A planned time that is to come.
    pub struct PlannedSlot {
        /// The planned time.
        pub nominal: String,
        /// When it starts: later than planned if there is a jitter window.
        pub at: String,
        /// The planned time in the trigger's zone, with its offset.
        pub local: String,
        /// How it relates to the clock.
        pub kind: SlotKind,
    }

    /// The next planned time of a trigger.
    pub struct UpcomingFire {
        /// When it starts; later than planned if there is a jitter window.
        pub at: String,
        /// The planned time in the trigger's zone, with its offset.
        pub local: String,
        /// The trigger.
        pub trigger_id: String,
        /// What people call it.
        pub name: Option<String>,
        /// The workflow that it starts.
        pub workflow_id: String,
        /// `cron` or `schedule`
        pub trigger_type: TriggerType,
        /// When it fires, in English.
        pub description: String,
        /// The same in 繁體中文.
        pub description_zh: String,
    }

    /// What happened at a planned time, or at several consecutive ones.
    pub struct LedgerEntry {
        /// The planned time, or the first of the stretch.
        pub nominal: String,
        /// The last planned time of the stretch.
        pub to: String,
        /// How many there are.
        pub count: u64,
        /// What became of it.
        pub status: SlotStatus,
        /// Why: `overlap, paused, missed, dst, dropped, behind, backfill`
        pub reason: Option<String>,
        /// What was started.
        pub execution_id: Option<String>,
        /// When that was done or found.
        pub at: String,
        /// The planned time in the trigger's zone, with its offset.
        pub local: String,
        /// The last one likewise.
        pub local_to: String,
    }

    /// Runs planned times of the past.
    #[derive(Default)]
    #[serde(deny_unknown_fields)]
    pub struct BackfillRequest {
        /// From this time on.
        #[cfg_attr(feature = "openapi", schema(format = DateTime))]
        pub from: String,
        /// Up to this one.
        #[cfg_attr(feature = "openapi", schema(format = DateTime))]
        pub to: String,
        /// Only times that were skipped; default true.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub only_missed: Option<bool>,
        /// Only lists what would run.
        #[serde(default)]
        pub dry_run: bool,
    }

    /// What a backfill started, or would start.
    pub struct BackfillResult {
        /// The planned times, oldest first.
        pub slots: Vec<BackfilledSlot>,
        /// How many.
        pub count: u64,
        /// Why not all of them were started; those listed here were.
        pub error: Option<String>,
        /// The ledger is no longer complete before this time: some skipped times may be missing.
        pub ledger_from: Option<String>,
    }

    /// A planned time of the past.
    pub struct BackfilledSlot {
        /// The planned time.
        pub nominal: String,
        /// What was started; null in a dry run.
        pub execution_id: Option<String>,
    }

    /// A request to a webhook.
    pub struct WebhookRequest {
        /// `whr_…`
        pub id: String,
        /// The trigger that received it.
        pub trigger_id: String,
        /// When it arrived.
        pub received_at: String,
        /// What became of it.
        pub status: RequestStatus,
        /// Where it came from.
        pub source_ip: String,
        /// Whether a person sent it to try the trigger.
        pub test: bool,
        /// What it started, or what an equal one had started.
        pub execution_id: Option<String>,
        /// What was wrong with it.
        pub error: Option<String>,
        /// How long the body was.
        pub body_bytes: u64,
        /// Its headers in their order, without secrets; absent in lists.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub headers: Option<Vec<RequestHeader>>,
        /// Headers that are not kept because there were too many.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub headers_left_out: Option<usize>,
        /// Its body, or the beginning of it; absent in lists.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        #[cfg_attr(feature = "openapi", schema(value_type = Option<Value>))]
        pub body: Option<Raw>,
        /// How `body` is shown: `json` as it is, `text` or `base64` as a string.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub body_encoding: Option<String>,
        /// What is odd about a request that started an execution; absent in lists.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub note: Option<String>,
    }

    /// What became of requests to a webhook.
    pub struct RequestSummary {
        /// How many there are; of many the newest 10,000 are counted.
        pub total: u64,
        /// Whether these are all.
        pub exact: bool,
        /// How many came to what.
        pub by_status: BTreeMap<String, u64>,
        /// When the first of them arrived.
        pub oldest: Option<String>,
        /// When the last of them arrived.
        pub newest: Option<String>,
        /// How many were refused, though perhaps by mistake: all but those that started an execution, were
        /// sent before, or are not what the trigger waits for.
        pub quarantined: u64,
    }

    /// Which refused requests to a webhook are checked again.
    #[derive(Default)]
    #[serde(deny_unknown_fields)]
    pub struct RecheckRequests {
        /// With one of these statuses; if there are none, all that were refused or filtered.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        pub status: Vec<RequestStatus>,
        /// That arrived at or after this time.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        #[cfg_attr(feature = "openapi", schema(format = DateTime))]
        pub from: Option<String>,
        /// That arrived before this time.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        #[cfg_attr(feature = "openapi", schema(format = DateTime))]
        pub to: Option<String>,
        /// Only says which would pass.
        #[serde(default)]
        pub dry_run: bool,
        /// `next_cursor` of the previous call, with the same filters.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub cursor: Option<String>,
    }

    /// Refused requests that were checked again.
    pub struct RecheckedRequests {
        /// How many this call has checked.
        pub looked_at: u64,
        /// How many pass: only in a dry run. Some of them may turn out to have been started before.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub would_start: Option<u64>,
        /// How many were started: not in a dry run.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub started: Option<u64>,
        /// How many had been started before.
        pub already_started: u64,
        /// How many still do not pass.
        pub refused: u64,
        /// The requests, oldest first.
        pub items: Vec<RecheckedRequest>,
        /// Pass it as `cursor` to go on; null when all are checked.
        pub next_cursor: Option<String>,
        /// Why it ended early; what is listed here was done.
        pub error: Option<String>,
    }

    /// A request that was checked again.
    pub struct RecheckedRequest {
        /// `whr_…`
        pub request_id: String,
        /// What it is now, or would be: `triggered`, `duplicate`, or why it does not pass.
        pub status: RequestStatus,
        /// What it started, or what an equal one had started.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub execution_id: Option<String>,
        /// Why it does not pass.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub reason: Option<String>,
    }

    /// A header of a request.
    pub struct RequestHeader {
        /// Its name.
        pub name: String,
        /// Its value, or `[removed]` in place of a secret.
        pub value: String,
    }

    /// The last executions of a cron trigger.
    pub struct CronHistory {
        /// The workflow.
        pub workflow_id: String,
        /// The trigger.
        pub trigger_id: String,
        /// `cron` or `schedule`
        pub trigger_type: TriggerType,
        /// The expression; null for a `schedule`.
        pub cron_expression: Option<String>,
        /// The zone of all times here.
        pub timezone: String,
        /// The next planned time.
        pub next_execution: Option<String>,
        /// Whether it starts anything.
        pub enabled: bool,
        /// What it started, newest first.
        pub history: Vec<CronRun>,
    }

    /// One execution of a cron trigger.
    pub struct CronRun {
        /// The execution.
        pub execution_id: String,
        /// The planned time.
        pub scheduled_at: String,
        /// When its first attempt began.
        pub started_at: Option<String>,
        /// When it ended.
        pub completed_at: Option<String>,
        /// The execution's status; `removed` if it is no longer kept.
        pub status: RunStatus,
        /// From start to end.
        pub duration_ms: Option<u64>,
        /// The output: a text as it is, other JSON cut to 200 characters; the error's message if it failed.
        pub result: Option<String>,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TRIGGER: &str = r#"{"id":"trg_1","workflow_id":"w","trigger_type":"cron","enabled":true,"version":1,"created_at":"a","updated_at":"b","next_execution":null,"next_executions":[],"description_in_words":null,"finished":false,"problem":null,"running_execution_id":null,"overdue_since":null,"cron_expression":"0 * * * *","input":{"n": 1.50,  "big":12345678901234567890}}"#;

    #[test]
    fn a_trigger_passes_byte_for_byte() {
        let trigger: Trigger = serde_json::from_str(TRIGGER).unwrap();
        assert_eq!(
            trigger.settings.text("cron_expression").as_deref(),
            Some("0 * * * *")
        );
        assert!(trigger.settings.get("enabled").is_none(), "not a setting");
        assert_eq!(serde_json::to_string(&trigger).unwrap(), TRIGGER);
    }

    #[test]
    fn what_the_server_says_is_no_setting() {
        let trigger: Trigger = serde_json::from_str(TRIGGER).unwrap();
        let about = TriggerAbout {
            last_success_at: Some(String::new()),
            workflow_deleted: true,
            webhook_id: Some(String::new()),
            webhook_url: Some(String::new()),
            previous_secret_until: Some(String::new()),
            secret: Some(String::new()),
            unchanged: true,
            pause: Some(Pause {
                slots: 0,
                from: None,
                to: None,
                caught_up: 0,
            }),
            ..trigger.about
        };
        let text = serde_json::to_string(&about).unwrap();
        let fields: TriggerSettings = serde_json::from_str(&text).unwrap();
        let names: Vec<&str> = fields.iter().map(|(name, _)| name).collect();
        assert_eq!(names, TriggerAbout::FIELDS);
    }
}
