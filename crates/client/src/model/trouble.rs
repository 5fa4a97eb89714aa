//! What is wrong at present.

use super::{TroubleKind, TroubleSeverity};

shapes! {
    /// What is wrong at present.
    pub struct TroubleList {
        /// The worst first, at most 50.
        pub items: Vec<TroubleEntry>,
        /// Since when nothing was wrong, as far as anybody has asked this node; only if nothing is.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub quiet_since: Option<String>,
    }

    /// Something that is wrong.
    pub struct TroubleEntry {
        /// What.
        pub kind: TroubleKind,
        /// How bad it is.
        pub severity: TroubleSeverity,
        /// What it is about: the id of a workflow, trigger or node, a worker's name, or a type of tasks.
        pub subject: String,
        /// The workflow that it concerns.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub workflow_id: Option<String>,
        /// How many, if there may be several.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub count: Option<u64>,
        /// Since when.
        pub since: String,
        /// In English.
        pub text: String,
        /// 繁體中文。
        pub text_zh: String,
        /// The page of the console that shows it.
        pub path: String,
    }
}
