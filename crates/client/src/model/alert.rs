//! Alerts, the rules that make them, and silences.

use super::{AlertKind, AlertPhase, AlertUnit, SilenceState};

shapes! {
    /// A rule by which people are alerted.
    pub struct AlertRule {
        /// Its id, `rule_…`.
        pub id: String,
        /// What people call it; no two rules have the same name.
        pub name: String,
        /// What it watches.
        pub kind: AlertKind,
        /// Only of this workflow.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub workflow: Option<String>,
        /// How far back it looks, such as `10m`.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub window: Option<String>,
        /// What is still good: percent of failures, or a count.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub above: Option<f64>,
        /// Executions that must have ended within the window for a share to mean something.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub min_count: Option<u64>,
        /// How long a task or a callback may take.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub after: Option<String>,
        /// For how long it must be bad before it fires.
        #[serde(rename = "for")]
        pub hold: String,
        /// The channels that are told, by name or id; empty = every channel that is enabled.
        pub channels: Vec<String>,
        /// How often people are reminded while it fires.
        pub repeat: String,
        /// Whether it is looked at.
        pub enabled: bool,
        /// Whether it was there from the start.
        pub built_in: bool,
        /// Counts its changes; send it as `If-Match` to change only what you have seen. 0 = as it was from the start.
        pub version: u32,
        /// How many of its alerts fire.
        pub firing: u64,
        /// When somebody made it, or changed it first.
        pub created_at: Option<String>,
        /// When it was changed last.
        pub updated_at: Option<String>,
        /// What is allowed but probably not meant: a workflow or a channel that does not exist.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        pub warnings: Vec<String>,
    }

    /// An alert: something that a rule holds, or held, for.
    pub struct Alert {
        /// Its id, `alert_…`; the same until it is over.
        pub id: String,
        /// Its rule.
        pub rule_id: String,
        /// What its rule is called.
        pub rule: String,
        /// What the rule watches.
        pub kind: AlertKind,
        /// What it is about: a workflow, a trigger, a worker or a host.
        pub subject: String,
        /// The workflow that it concerns.
        pub workflow_id: Option<String>,
        /// How far it is.
        pub phase: AlertPhase,
        /// How bad it is, or was last.
        pub value: f64,
        /// What the value is.
        pub unit: AlertUnit,
        /// The value for people, such as `42.5 %`.
        pub value_text: String,
        /// What the value is compared with; null where being there is enough.
        pub threshold: Option<f64>,
        /// When it began to be bad.
        pub began_at: String,
        /// Since when it has its phase.
        pub since: String,
        /// When people were told last; null if nobody was.
        pub told_at: Option<String>,
        /// Whether nobody is told at present: because of a silence, or because no channel wants it.
        pub muted: bool,
        /// When somebody said that he is at it.
        pub acked_at: Option<String>,
        /// Who.
        pub acked_by: Option<String>,
        /// The page of the console that shows it.
        pub path: String,
    }

    /// A time in which alerts are told to nobody. They are shown all the same.
    pub struct Silence {
        /// Its id, `sil_…`.
        pub id: String,
        /// Only of this rule.
        pub rule_id: Option<String>,
        /// What that rule is called.
        pub rule: Option<String>,
        /// Only about this.
        pub subject: Option<String>,
        /// When it begins.
        pub starts_at: String,
        /// When it ends.
        pub ends_at: String,
        /// Whether it has begun, and is not over.
        pub state: SilenceState,
        /// Why.
        pub comment: Option<String>,
        /// Who made it.
        pub created_by: String,
        /// When it was made.
        pub created_at: String,
    }

    /// What a rule would say.
    pub struct AlertRulePreview {
        /// What it finds now, the worst first; whether that holds for long enough is not asked.
        pub now: Vec<AlertFinding>,
        /// When it would have fired, the newest first, from the numbers of each minute; null if there are none of
        /// what it watches.
        pub past: Option<Vec<AlertEpisode>>,
        /// From when on the past is told.
        pub past_from: String,
        /// What is allowed but probably not meant.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        pub warnings: Vec<String>,
    }

    /// Something that a rule finds.
    pub struct AlertFinding {
        /// What it is about.
        pub subject: String,
        /// How bad it is.
        pub value: f64,
        /// What the value is.
        pub unit: AlertUnit,
        /// The value for people.
        pub value_text: String,
    }

    /// A time during which a rule would have fired.
    pub struct AlertEpisode {
        /// What about.
        pub subject: String,
        /// From when on.
        pub from: String,
        /// Until when; null if it still would.
        pub to: Option<String>,
        /// The worst value.
        pub worst: f64,
        /// The same for people.
        pub worst_text: String,
    }
}
