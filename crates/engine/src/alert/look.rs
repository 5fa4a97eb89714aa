//! One look: what rules find now is compared with what was known of it, and what becomes of that is written
//! with what is said. The write compares the revision that was seen, so it does not matter who looks or how
//! many do: a change is made once, and told once.

use std::collections::{BTreeMap, HashMap};
use std::error::Error;
use std::sync::Arc;

use refire_core::alert::rule::REPEAT_DEFAULT;
use refire_core::alert::{Finding, Next, Rule, Silence, Terms, findings, step};
use refire_core::definition::WorkflowId;
use refire_core::id::{AlertId, AlertRuleId};
use refire_core::notify::{Channel, NoticeKind};
#[cfg(feature = "planted")]
use refire_core::planted::{self, Defect};
use refire_core::time::Timestamp;
use refire_store::{AlertChange, AlertRow, Part, PartOutcome, ReadError};

use super::facts;
use super::notice::notice;
use super::rules::RuleView;
use super::silences::silence;
use crate::commit::CommitFailure;
use crate::context::Context;
use crate::entropy::fresh;
use crate::tally::flush;
use crate::turn::Turn;

/// Changes that are written together.
const TOGETHER_MAX: usize = 200;

/// Looks until the node stops, on the oldest node.
pub(super) async fn look_loop(context: Arc<Context>) {
    let mut turn = Turn::default();
    while context.goes_on_after(context.alerts_every).await {
        if !context.membership.is_member() || !turn.is_first(&context).await {
            continue;
        }
        // What was counted here is among what is looked at.
        flush(&context).await;
        if let Err(error) = look(&context).await {
            tracing::warn!(error = &error as &dyn Error, "looking for what to alert of");
        }
    }
}

/// An enabled channel, by its id and its name, with what it wants.
struct Hearer {
    names: [String; 2],
    channel: Channel,
}

/// What a look goes by.
struct Look {
    now: Timestamp,
    silences: Vec<Silence>,
    hearers: Vec<Hearer>,
}

async fn look(context: &Context) -> Result<(), ReadError> {
    let now = context.now();
    let rules = context.alert_rules().await?;
    let enabled: Vec<&Rule> = rules
        .iter()
        .map(|view| &view.rule)
        .filter(|rule| rule.enabled)
        .collect();
    let facts = facts::read(context, &enabled, now).await?;
    let silences = context.store.silences().await?;
    let look = Look {
        now,
        silences: silences.iter().map(silence).collect(),
        hearers: hearers(context).await?,
    };
    let states = context.store.alert_states().await?;
    let mut known: BTreeMap<(AlertRuleId, String), AlertRow> =
        states.into_iter().map(|row| (row.key(), row)).collect();
    let mut changes = Vec::new();
    for view in rules.iter().filter(|view| view.rule.enabled) {
        for finding in findings(&view.rule, &facts, now) {
            let before = known.remove(&(view.id, finding.subject.clone()));
            changes.extend(look.found(context, view, before.as_ref(), finding));
        }
    }
    let rules: HashMap<AlertRuleId, &RuleView> = rules.iter().map(|view| (view.id, view)).collect();
    for before in known.into_values() {
        let rule = rules.get(&before.rule).map(|view| &view.rule);
        changes.extend(look.not_found(context, rule, before));
    }
    write(context, changes).await;
    Ok(())
}

async fn hearers(context: &Context) -> Result<Vec<Hearer>, ReadError> {
    let rows = context.store.channels().await?;
    let enabled = rows.into_iter().filter(|row| row.enabled);
    let hearer = |row: refire_store::ChannelRow| {
        let channel = Channel::kept(&row.settings).ok()?;
        Some(Hearer {
            names: [row.id.to_string(), channel.name.clone()],
            channel,
        })
    };
    Ok(enabled.filter_map(hearer).collect())
}

impl Look {
    /// Whether nobody is told anything of a rule and a subject.
    fn is_muted(
        &self,
        (rule, subject): (AlertRuleId, &str),
        channels: &[String],
        workflow: Option<&WorkflowId>,
    ) -> bool {
        let is_meant = |hearer: &Hearer| {
            channels.is_empty() || hearer.names.iter().any(|name| channels.contains(name))
        };
        let wants = |hearer: &&Hearer| {
            let choice = hearer.channel.choice();
            is_meant(hearer) && choice.wants(NoticeKind::AlertFiring, workflow)
        };
        let mut silences = self.silences.iter();
        silences.any(|it| it.hides(rule, subject, self.now))
            || self.hearers.iter().filter(wants).count() == 0
    }

    /// Something is found.
    fn found(
        &self,
        context: &Context,
        view: &RuleView,
        before: Option<&AlertRow>,
        finding: Finding,
    ) -> Option<AlertChange> {
        let rule = &view.rule;
        let Finding {
            subject,
            workflow,
            value,
        } = finding;
        let is_muted = self.is_muted((view.id, &subject), &rule.channels, workflow.as_ref());
        let fresh = AlertId::from_bytes(fresh(context.entropy.as_ref(), self.now));
        let alert = before.map(|row| &row.alert);
        #[cfg(feature = "planted")]
        let forgetful = alert.map(|alert| refire_core::alert::Alert {
            told: refire_core::alert::Told::Nothing,
            ..alert.clone()
        });
        #[cfg(feature = "planted")]
        let alert = match planted::is(Defect::FiringTwice) {
            true => forgetful.as_ref(),
            false => alert,
        };
        let next = step(alert, Some(value), terms(rule), is_muted, fresh, self.now);
        let rev = before.map_or(0, |row| row.rev);
        let Next::Put(alert, say) = next else {
            return None;
        };
        let row = AlertRow {
            rule: view.id,
            subject,
            rev: rev + 1,
            name: rule.name.clone(),
            kind: rule.kind(),
            workflow,
            threshold: rule.condition.threshold(),
            alert,
        };
        Some(self.change(context, (row, rev), say, &rule.channels))
    }

    /// Nothing is found any more, or the rule is gone.
    fn not_found(
        &self,
        context: &Context,
        rule: Option<&Rule>,
        before: AlertRow,
    ) -> Option<AlertChange> {
        let channels = rule.map_or(&[][..], |rule| &rule.channels[..]);
        let about = (before.rule, before.subject.as_str());
        let is_muted = self.is_muted(about, channels, before.workflow.as_ref());
        let terms = rule.map_or(
            Terms {
                hold: std::time::Duration::ZERO,
                repeat: REPEAT_DEFAULT,
            },
            terms,
        );
        let alert = Some(&before.alert);
        match step(alert, None, terms, is_muted, before.alert.id, self.now) {
            Next::Same => None,
            Next::Remove => Some(AlertChange {
                rule: before.rule,
                subject: before.subject,
                seen: before.rev,
                to: None,
                notices: Vec::new(),
            }),
            Next::Put(alert, say) => {
                let seen = before.rev;
                let row = AlertRow {
                    rev: seen + 1,
                    alert,
                    ..before
                };
                Some(self.change(context, (row, seen), say, channels))
            }
        }
    }

    fn change(
        &self,
        context: &Context,
        (row, seen): (AlertRow, u64),
        say: Option<refire_core::alert::Say>,
        channels: &[String],
    ) -> AlertChange {
        let notices = say.map(|say| notice(context, &row, say, channels, self.now));
        AlertChange {
            rule: row.rule,
            subject: row.subject.clone(),
            seen,
            to: Some(row),
            notices: notices.into_iter().collect(),
        }
    }
}

fn terms(rule: &Rule) -> Terms {
    Terms {
        hold: rule.hold,
        repeat: rule.repeat,
    }
}

/// Writes changes. What another node has changed meanwhile is looked at again the next time.
async fn write(context: &Context, mut changes: Vec<AlertChange>) {
    while !changes.is_empty() {
        let rest = changes.split_off(changes.len().min(TOGETHER_MAX));
        let is_told = changes.iter().any(|change| !change.notices.is_empty());
        let said: Vec<Option<String>> = changes.iter().map(in_words).collect();
        match context.queue.chore(Part::ChangeAlerts(changes)).await {
            Ok(PartOutcome::Changed(changed)) => {
                let written = said.into_iter().zip(changed).filter(|(_, was)| *was);
                for said in written.filter_map(|(said, _)| said) {
                    tracing::warn!("{said}");
                }
                if is_told {
                    context.notice_raised();
                }
            }
            Ok(other) => tracing::error!(?other, "unexpected outcome of a change of alerts"),
            Err(CommitFailure::Stopping) => return,
            Err(failure) => tracing::warn!(%failure, "alerts wait"),
        }
        changes = rest;
    }
}

/// What the log says of a change that people would be told of.
fn in_words(change: &AlertChange) -> Option<String> {
    use refire_core::alert::Phase;
    let row = change.to.as_ref()?;
    let is_new = row.alert.since == row.alert.updated_at;
    let what = match row.alert.phase {
        Phase::Firing if is_new => "alert",
        Phase::Resolved if is_new => "alert is over",
        _ => return None,
    };
    let value = row.kind.unit().shown(row.alert.value);
    Some(format!("{what}: {} ({}: {value})", row.name, row.subject))
}
