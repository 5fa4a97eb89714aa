//! Workflows, their versions and differences.

use super::Raw;

shapes! {
    /// A workflow.
    pub struct Workflow {
        /// Its name in URLs.
        pub workflow_id: String,
        /// Its name for people.
        pub name: String,
        /// What it is for.
        pub description: Option<String>,
        /// The newest version.
        pub version: u32,
        /// The definition as JSON; absent in lists.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        #[cfg_attr(feature = "openapi", schema(value_type = Option<Value>))]
        pub definition: Option<Raw>,
        /// The definition's text as it was sent; absent in lists.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub source: Option<String>,
        /// How many steps it has.
        pub steps: usize,
        /// When it was first saved.
        pub created_at: String,
        /// When the newest version was saved.
        pub updated_at: String,
        /// How it is doing; only in lists, and if it was asked for.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub stats: Option<WorkflowStats>,
    }

    /// How a workflow is doing.
    pub struct WorkflowStats {
        /// Its triggers.
        pub triggers: u64,
        /// When the first of them fires next; of more than 100 enabled ones the oldest 100 count.
        pub next_fire: Option<String>,
        /// Its open executions, counted up to 1000.
        pub open: u64,
        /// Its dead letters that wait.
        pub dead_letters: u64,
    }

    /// A saved definition.
    pub struct WorkflowSaved {
        /// The workflow.
        pub workflow_id: String,
        /// The version that now runs.
        pub version: u32,
        /// False when the content was the same as before: no new version.
        pub created: bool,
        /// True when the workflow had been deleted and is back.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        pub restored: bool,
        /// Things worth knowing that are not errors.
        #[serde(default)]
        pub notes: Vec<String>,
    }

    /// What deleting a workflow has changed.
    pub struct WorkflowDeleted {
        /// The workflow.
        pub workflow_id: String,
        /// True.
        pub deleted: bool,
        /// How many of its triggers were enabled and are disabled now.
        pub triggers_disabled: u64,
    }

    /// One version of a definition.
    pub struct WorkflowVersion {
        /// The workflow.
        pub workflow_id: String,
        /// Counted from 1.
        pub version: u32,
        /// SHA-256 of its content, in hex.
        pub content_hash: String,
        /// Its text as it was sent; absent in lists.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub source: Option<String>,
        /// When it was saved.
        pub created_at: String,
        /// Who saved it.
        pub created_by: String,
    }

    /// The difference between two definitions.
    pub struct WorkflowDiff {
        /// The version compared with; null when there is none yet.
        pub from_version: Option<u32>,
        /// The version it is compared to; null for a definition that was sent along.
        pub to_version: Option<u32>,
        /// The changes, in the definition's order; steps are matched by their id.
        pub changes: Vec<Change>,
    }

    /// One change.
    pub struct Change {
        /// Such as `steps[tickets].config.url`.
        pub path: String,
        /// `added`, `removed` or `changed`
        pub kind: String,
        /// What was there.
        #[cfg_attr(feature = "openapi", schema(value_type = Option<Value>))]
        pub old: Option<Raw>,
        /// What is there now.
        #[cfg_attr(feature = "openapi", schema(value_type = Option<Value>))]
        pub new: Option<Raw>,
    }
}
