//! Settings of triggers before they are saved: what they mean, and what they make of a sample.

use std::collections::BTreeMap;

use super::Raw;

shapes! {
    /// When a schedule would fire that is not saved yet.
    pub struct SchedulePreview {
        /// When it fires, in English, such as `At 09:00 every Monday (Asia/Taipei)`.
        pub description: String,
        /// The same in 繁體中文.
        pub description_zh: String,
        /// The planned times, the next one first; fewer than asked for if there are no more.
        pub next: Vec<PreviewedSlot>,
        /// What else is to know, in English: the window, the jitter, changes of the clock.
        pub notes: Vec<String>,
        /// The same in 繁體中文.
        pub notes_zh: Vec<String>,
        /// The time zone of the schedule, as the zone data spells it.
        pub timezone: String,
        /// What its clocks are ahead of UTC now, such as `+08:00`.
        pub offset: String,
    }

    /// A planned time of a schedule that is not saved yet.
    pub struct PreviewedSlot {
        /// The planned time in UTC. Jitter, which every trigger has of its own, is not in it.
        pub at: String,
        /// The same in the schedule's zone, with its offset.
        pub local: String,
        /// What the clocks there are ahead of UTC then.
        pub offset: String,
        /// What a change of the clock did to it, in English.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub note: Option<String>,
        /// The same in 繁體中文.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub note_zh: Option<String>,
    }

    /// A time zone.
    pub struct TimeZone {
        /// Its IANA name.
        pub name: String,
        /// What its clocks are ahead of UTC now, such as `+08:00`.
        pub offset: String,
        /// The same in minutes.
        pub offset_minutes: i32,
    }

    /// A request that is judged by the settings of a webhook, without sending or writing anything.
    #[derive(Default)]
    #[serde(deny_unknown_fields)]
    pub struct PreviewWebhook {
        /// The settings of a webhook, saved or not; those of `trigger_id` if they are absent.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        #[cfg_attr(feature = "openapi", schema(value_type = Option<Object>))]
        pub settings: Option<Raw>,
        /// The webhook whose settings count, `trg_…`, if none are given.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub trigger_id: Option<String>,
        /// The body as JSON; `{}` if there is none.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        #[cfg_attr(feature = "openapi", schema(value_type = Option<Value>))]
        pub body: Option<Raw>,
        /// The body as text instead, such as a form.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub body_text: Option<String>,
        /// The content type of the body; default `application/json`.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub content_type: Option<String>,
        /// Its headers.
        #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
        pub headers: BTreeMap<String, String>,
    }

    /// What the settings of a webhook make of a request. Signatures are not checked.
    pub struct PreviewedWebhook {
        /// Every condition with what it found, also behind one that is not fulfilled.
        pub conditions: Vec<JudgedCondition>,
        /// Whether all of them are fulfilled.
        pub passed: bool,
        /// By what name the request would be known; null if every request starts an execution.
        pub idempotency_key: Option<String>,
        /// Where that name comes from: a header, `idempotency_paths`, or a path such as `$.incident_id`.
        pub key_from: Option<String>,
        /// Why the request would be refused, whatever the conditions say.
        pub error: Option<String>,
    }

    /// A condition of a webhook with what it found.
    pub struct JudgedCondition {
        /// Where it looks.
        pub json_path: String,
        /// How it compares.
        pub operator: String,
        /// What it compares with; null for `exists` and `not_exists`.
        #[cfg_attr(feature = "openapi", schema(value_type = Value))]
        pub value: Option<Raw>,
        /// What it found; null if there is nothing. Of a long value a text with its beginning.
        #[cfg_attr(feature = "openapi", schema(value_type = Value))]
        pub found: Option<Raw>,
        /// Whether it is fulfilled.
        pub passed: bool,
        /// Why not.
        pub error: Option<String>,
    }
}
