//! Troubles in words, in English and 繁體中文.

use super::{Kind, Trouble};

/// A sentence in both languages.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Words {
    /// In English.
    pub en: String,
    /// 繁體中文。
    pub zh_tw: String,
}

fn say(en: String, zh_tw: String) -> Words {
    Words { en, zh_tw }
}

/// `1 task`, `2 tasks`.
fn counted(count: u64, noun: &str) -> String {
    match count {
        1 => format!("1 {noun}"),
        count => format!("{count} {noun}s"),
    }
}

impl Trouble {
    /// What is wrong, in a sentence without its end.
    #[must_use]
    pub fn words(&self) -> Words {
        let workflow = self.workflow.as_ref().map(ToString::to_string);
        let workflow = workflow.unwrap_or_default();
        let count = self.count.unwrap_or(1);
        let verb = |one: &'static str, many: &'static str| if count == 1 { one } else { many };
        match &self.kind {
            Kind::DeadLetters => say(
                format!(
                    "{} of {workflow} {} for a decision",
                    counted(count, "dead letter"),
                    verb("waits", "wait")
                ),
                format!("{workflow} 有 {count} 筆死信等待處理"),
            ),
            Kind::TriggerOverdue(id) => say(
                format!("an expected success of trigger {id} of {workflow} is missing"),
                format!("{workflow} 的觸發器 {id} 未在預期時間內成功"),
            ),
            Kind::TriggerUnreadable(id, problem) => say(
                format!("trigger {id} of {workflow} cannot be read and starts nothing: {problem}"),
                format!("{workflow} 的觸發器 {id} 無法讀取，不會啟動任何執行：{problem}"),
            ),
            Kind::WorkerDead {
                worker,
                is_replaced: false,
            } => say(
                format!("worker {worker} is dead, and no other does its tasks"),
                format!("工作程式 {worker} 已失去聯繫，且沒有其他工作程式處理其任務"),
            ),
            Kind::WorkerDead { worker, .. } => say(
                format!("worker {worker} is dead; others do its tasks"),
                format!("工作程式 {worker} 已失去聯繫，其任務由其他工作程式處理"),
            ),
            Kind::NodeLost {
                name,
                is_over: true,
                ..
            } => say(
                format!("node {name} is lost; others take over its work"),
                format!("節點 {name} 已失聯，其工作由其他節點接手"),
            ),
            Kind::NodeLost { name, .. } => say(
                format!("node {name} has been silent for half of its lease"),
                format!("節點 {name} 已有半個租約期間沒有回應"),
            ),
            Kind::Quarantine(_) => say(
                format!(
                    "{} to a webhook of {workflow} {} refused and can be checked again",
                    counted(count, "request"),
                    verb("was", "were")
                ),
                format!("{workflow} 的 Webhook 有 {count} 筆請求遭拒，可重新檢查"),
            ),
            Kind::ChannelBroken { name, because, .. } => say(
                format!("nothing gets through channel {name}: {because}"),
                format!("通道 {name} 無法送出訊息：{because}"),
            ),
            Kind::AlertFiring { rule, about, .. } => say(
                format!("alert: {rule} ({about})"),
                format!("告警：{rule}（{about}）"),
            ),
            Kind::TaskWaitingWithoutWorker(task_type) => say(
                format!(
                    "{} of type {task_type} {}, and no worker asks for {}",
                    counted(count, "task"),
                    verb("waits", "wait"),
                    verb("it", "them")
                ),
                format!("有 {count} 個 {task_type} 類型的任務在等待，但沒有工作程式領取"),
            ),
        }
    }
}
