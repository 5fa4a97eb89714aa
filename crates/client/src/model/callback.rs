//! Callbacks of targets.

use super::{CallbackStatus, CallbackWord, Raw};

shapes! {
    /// What a target says about the call that it accepted. Other fields are kept.
    #[serde(rename_all = "camelCase")]
    pub struct CallbackBody {
        /// How it stands.
        pub status: CallbackWord,
        /// How far it is, in percent.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        #[cfg_attr(feature = "openapi", schema(maximum = 100))]
        pub progress: Option<u8>,
        /// How far it is, in words; cut after 500 bytes.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub progress_message: Option<String>,
        /// What came of it.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        #[cfg_attr(feature = "openapi", schema(value_type = Option<serde_json::Value>))]
        pub result: Option<Raw>,
        /// How the target can be asked: `{"type": "http", "config": {"url", "method", "headers", "timeout"}}`.
        /// It is kept encrypted; the values of its headers are never shown.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        #[cfg_attr(feature = "openapi", schema(value_type = Option<serde_json::Value>))]
        pub query_config: Option<Raw>,
    }

    /// A callback that a step waits for.
    pub struct StepCallback {
        /// What the target has said last.
        pub status: CallbackStatus,
        /// Until when the step waits; then the answer to the call is its output.
        pub waits_until: String,
        /// How far the target is, in percent.
        pub progress: Option<u8>,
        /// How far it is, in its words.
        pub progress_message: Option<String>,
    }
}

impl CallbackBody {
    /// A word and nothing else.
    #[must_use]
    pub fn new(status: CallbackWord) -> Self {
        Self {
            status,
            progress: None,
            progress_message: None,
            result: None,
            query_config: None,
        }
    }
}
