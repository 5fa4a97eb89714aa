//! What a notice says, without a word in any language: names and values, from which messages are made.

use serde::{Deserialize, Serialize};

use crate::time::Timestamp;

/// The longest text of a notice, in bytes; the rest is cut.
const TEXT_BYTES_MAX: usize = 1_000;
/// The longest name or value, in bytes.
const VALUE_BYTES_MAX: usize = 300;
/// Facts of one notice.
const FACTS_MAX: usize = 12;

/// What a notice says.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Facts {
    /// What it is about, as people call it: a workflow, a host, an alert.
    pub name: String,
    /// What went wrong, in the words of whoever said it. Foreign: it may hold anything.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub text: Option<String>,
    /// The page of the console that shows it, such as `/dlq/dlq_…`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub page: Option<String>,
    /// When it happened.
    pub at: Timestamp,
    /// The channels that are told, by id or name; empty = all that want it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub channels: Vec<String>,
    /// The rest, in the order in which it is shown.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub facts: Vec<Fact>,
}

/// A line of a notice.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Fact {
    /// What the value is.
    pub name: FactName,
    /// The value. Foreign: it may hold anything.
    pub value: String,
}

macro_rules! fact_names {
    ($($(#[$doc:meta])* $name:ident: $english:literal, $chinese:literal;)+) => {
        /// What values of notices are. New ones are added at the end.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
        #[serde(rename_all = "snake_case")]
        pub enum FactName {
            $($(#[$doc])* $name,)+
        }

        impl FactName {
            /// In English.
            #[must_use]
            pub fn english(self) -> &'static str {
                match self { $(Self::$name => $english,)+ }
            }

            /// In traditional Chinese.
            #[must_use]
            pub fn chinese(self) -> &'static str {
                match self { $(Self::$name => $chinese,)+ }
            }
        }
    };
}

fact_names! {
    /// A step, and its attempts.
    Step: "Step", "步驟";
    /// How something failed.
    Error: "Error", "錯誤";
    /// Why it was given up.
    Reason: "Reason", "原因";
    /// An execution's id.
    Execution: "Execution", "執行";
    /// A dead letter's id.
    DeadLetter: "Dead letter", "死信";
    /// A trigger's id.
    Trigger: "Trigger", "觸發器";
    /// A planned time.
    Slot: "Planned for", "預定時間";
    /// How many.
    Count: "Count", "數量";
    /// A target.
    Host: "Host", "主機";
    /// Since when.
    Since: "Since", "開始時間";
    /// Until when.
    Until: "Until", "結束時間";
    /// What was measured.
    Value: "Value", "目前值";
    /// What it is compared with.
    Threshold: "Threshold", "門檻";
    /// An alert's rule.
    Rule: "Rule", "規則";
    /// A workflow.
    Workflow: "Workflow", "工作流程";
    /// When the last success was.
    LastSuccess: "Last success", "上次成功";
    /// A worker's name.
    Worker: "Worker", "工作程式";
}

impl Facts {
    /// About something that happened then.
    #[must_use]
    pub fn new(name: impl Into<String>, at: Timestamp) -> Self {
        Self {
            name: cut(name.into(), VALUE_BYTES_MAX),
            text: None,
            page: None,
            at,
            channels: Vec::new(),
            facts: Vec::new(),
        }
    }

    /// The same with somebody's words.
    #[must_use]
    pub fn text(mut self, text: impl Into<String>) -> Self {
        self.text = Some(cut(text.into(), TEXT_BYTES_MAX)).filter(|text| !text.is_empty());
        self
    }

    /// The same with a page of the console.
    #[must_use]
    pub fn page(mut self, page: impl Into<String>) -> Self {
        self.page = Some(page.into());
        self
    }

    /// The same for these channels only; none = all that want it.
    #[must_use]
    pub fn only_for(mut self, channels: &[String]) -> Self {
        self.channels = channels.to_vec();
        self
    }

    /// Whether a channel is among those that are told, by its id or its name.
    #[must_use]
    pub fn is_for(&self, id: &str, name: &str) -> bool {
        let mut named = self.channels.iter();
        self.channels.is_empty() || named.any(|it| it == id || it == name)
    }

    /// The same with another line.
    #[must_use]
    pub fn fact(mut self, name: FactName, value: impl Into<String>) -> Self {
        let value = cut(value.into(), VALUE_BYTES_MAX);
        if self.facts.len() < FACTS_MAX && !value.is_empty() {
            self.facts.push(Fact { name, value });
        }
        self
    }
}

/// As much of a text as so many bytes hold.
pub(crate) fn cut(mut text: String, bytes_max: usize) -> String {
    if text.len() > bytes_max {
        let end = text.floor_char_boundary(bytes_max.saturating_sub('…'.len_utf8()));
        text.truncate(end);
        text.push('…');
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_notice_is_short_whatever_it_is_told() {
        let long = "錯".repeat(5_000);
        let mut facts = Facts::new(long.clone(), Timestamp::from_millis(1)).text(long.clone());
        for _ in 0..50 {
            facts = facts.fact(FactName::Error, long.clone());
        }
        let text = serde_json::to_string(&facts).unwrap();
        assert!(text.len() < 6_000, "{}", text.len());
        assert!(facts.text.unwrap().ends_with("錯…"));
        assert_eq!(facts.facts.len(), FACTS_MAX);
        let empty = Facts::new("w", Timestamp::default())
            .text("")
            .fact(FactName::Step, "");
        assert_eq!((empty.text, empty.facts.len()), (None, 0));
    }
}
