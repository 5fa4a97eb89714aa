//! A message in words, in the language of its channel, still in nobody's form.

use super::channel::Language;
use super::facts::{FactName, Facts};
use super::kind::NoticeKind;
use super::message::{GROUPS_NAMED_MAX, Line, Message, Phase};
use crate::time::Timestamp;

/// A message in words.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Words {
    /// What it is about.
    pub(super) title: String,
    /// How many, and since when.
    pub(super) subtitle: String,
    /// Whether it is bad, good or neither.
    pub(super) tone: Tone,
    /// Names and values.
    pub(super) facts: Vec<(String, String)>,
    /// When the newest happened.
    pub(super) at: Option<(String, Timestamp)>,
    /// What somebody else said.
    pub(super) text: Option<String>,
    /// The groups of a digest.
    pub(super) lines: Vec<String>,
    /// Buttons, with their addresses.
    pub(super) links: Vec<(String, String)>,
}

/// How a message feels.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Tone {
    /// Something is wrong.
    Bad,
    /// Something is right again.
    Good,
    /// Nothing happened.
    Plain,
}

impl Words {
    /// In one line.
    pub(super) fn summary(&self) -> String {
        format!("{}: {}", self.title, self.subtitle)
    }
}

impl Language {
    /// One of two texts.
    fn pick<'a>(self, english: &'a str, chinese: &'a str) -> &'a str {
        match self {
            Self::English => english,
            Self::Chinese => chinese,
        }
    }

    fn fact(self, name: FactName) -> &'static str {
        match self {
            Self::English => name.english(),
            Self::Chinese => name.chinese(),
        }
    }
}

/// Puts a message into words. Links need the address at which the console is found.
pub(super) fn words(message: &Message, language: Language, address: Option<&str>) -> Words {
    let tone = match message.phase {
        Phase::Over => Tone::Good,
        Phase::Test => Tone::Plain,
        _ => Tone::Bad,
    };
    let newest = message
        .newest
        .first()
        .filter(|_| message.phase != Phase::Over);
    let facts = newest.into_iter().flat_map(|facts| &facts.facts);
    let facts = facts.map(|fact| (language.fact(fact.name).to_owned(), fact.value.clone()));
    Words {
        title: title(message, language),
        subtitle: subtitle(message, language),
        tone,
        facts: facts.collect(),
        at: newest.map(|facts| (language.pick("Time", "時間").to_owned(), facts.at)),
        text: newest.and_then(|facts| facts.text.clone()),
        lines: lines(message, language),
        links: links(message, newest, language, address),
    }
}

fn title(message: &Message, language: Language) -> String {
    let name = message.name();
    let separator = language.pick(": ", "：");
    let what = match (message.phase, message.kind) {
        (Phase::Test, _) => {
            return language
                .pick("Test message of Refire", "Refire 測試訊息")
                .to_owned();
        }
        (Phase::Digest, _) => {
            let groups = message.groups.len();
            return match language {
                Language::English => format!("{groups} things to look at"),
                Language::Chinese => format!("{groups} 件事需要處理"),
            };
        }
        (Phase::More, NoticeKind::DeadLetterCreated) => {
            language.pick("More dead letters", "死信增加")
        }
        (Phase::Reminder, NoticeKind::DeadLetterCreated) => {
            language.pick("Dead letters still wait", "死信仍待處理")
        }
        (Phase::Reminder, _) => language.pick("Still so", "仍未恢復"),
        (_, kind) => of_kind(kind, language),
    };
    format!("{what}{separator}{name}")
}

fn of_kind(kind: NoticeKind, language: Language) -> &'static str {
    match kind {
        NoticeKind::DeadLetterCreated => language.pick("Dead letter", "死信"),
        NoticeKind::DeadLetterResolved => language.pick("Dead letters resolved", "死信已解決"),
        NoticeKind::TriggerOverdue => language.pick("Trigger overdue", "觸發器逾期"),
        NoticeKind::TriggerRecovered => language.pick("Trigger recovered", "觸發器已恢復"),
        NoticeKind::TriggerMissed => language.pick("Planned times missed", "錯過預定時間"),
        NoticeKind::BreakerOpened => language.pick("Calls paused", "已暫停呼叫"),
        NoticeKind::BreakerClosed => language.pick("Calls go on", "已恢復呼叫"),
        NoticeKind::AlertFiring => language.pick("Alert", "警示"),
        NoticeKind::AlertResolved => language.pick("Alert resolved", "警示已解除"),
    }
}

fn subtitle(message: &Message, language: Language) -> String {
    let (count, increase) = (message.count, message.increase);
    let since = moment(message.since);
    let until = moment(message.until);
    match (message.phase, language) {
        (Phase::Test, Language::English) => "If you can read this, the channel works.".to_owned(),
        (Phase::Test, Language::Chinese) => "如果您看到這則訊息，表示此通道運作正常。".to_owned(),
        (Phase::First, Language::English) if count <= 1 => format!("at {since}"),
        (Phase::First, Language::Chinese) if count <= 1 => format!("時間：{since}"),
        (Phase::First, Language::English) => format!("{count} with the same cause since {since}"),
        (Phase::First, Language::Chinese) => format!("自 {since} 起共 {count} 筆，原因相同"),
        (Phase::More | Phase::Digest, Language::English) => {
            format!("{count} in all, {increase} new, since {since}")
        }
        (Phase::More | Phase::Digest, Language::Chinese) => {
            format!("自 {since} 起共 {count} 筆，新增 {increase} 筆")
        }
        (Phase::Reminder, Language::English) => format!("{count} since {since}, nothing new"),
        (Phase::Reminder, Language::Chinese) => format!("自 {since} 起共 {count} 筆，沒有新增"),
        (Phase::Over, Language::English) => format!("{count} in all, over at {until}"),
        (Phase::Over, Language::Chinese) => format!("共 {count} 筆，已於 {until} 結束"),
    }
}

/// To the second, as people write it.
fn moment(at: Timestamp) -> String {
    let text = at.to_string();
    let second = text.split('.').next().unwrap_or_default();
    format!("{} UTC", second.replace('T', " "))
}

fn lines(message: &Message, language: Language) -> Vec<String> {
    let named = message.groups.iter().take(GROUPS_NAMED_MAX);
    let line = |line: &Line| {
        let what = of_kind(line.kind, language);
        match language {
            Language::English => format!("{what}: {} ({})", line.name, line.count),
            Language::Chinese => format!("{what}：{}（{} 筆）", line.name, line.count),
        }
    };
    let mut lines: Vec<String> = named.map(line).collect();
    let more = message.groups.len().saturating_sub(GROUPS_NAMED_MAX);
    if more > 0 {
        lines.push(match language {
            Language::English => format!("and {more} more"),
            Language::Chinese => format!("以及另外 {more} 項"),
        });
    }
    lines
}

fn links(
    message: &Message,
    newest: Option<&Facts>,
    language: Language,
    address: Option<&str>,
) -> Vec<(String, String)> {
    let Some(address) = address else {
        return Vec::new();
    };
    let address = address.trim_end_matches('/');
    let link = |text: &str, page: &str| (text.to_owned(), format!("{address}{page}"));
    let mut links = Vec::new();
    if let Some(page) = newest.and_then(|facts| facts.page.as_deref()) {
        links.push(link(language.pick("Open", "開啟"), page));
    }
    if let Some(page) = message.page()
        && message.count > 1
        && newest.and_then(|facts| facts.page.as_ref()) != Some(&page)
    {
        links.push(link(
            language.pick("All of this group", "此群組全部"),
            &page,
        ));
    }
    if message.phase == Phase::Digest {
        links.push(link(language.pick("Open", "開啟"), "/dlq"));
    }
    links
}
