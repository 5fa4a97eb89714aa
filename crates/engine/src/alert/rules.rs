//! Rules: those from the start, and what people have made of them and beside them.

use std::collections::BTreeMap;

use refire_core::alert::{RULES_MAX, Rule, built_in};
use refire_core::definition::WorkflowId;
use refire_core::id::AlertRuleId;
use refire_core::notify::Channel;
use refire_core::time::Timestamp;
use refire_store::{AlertRuleChange, AlertRuleRow, Part, PartOutcome, ReadError};

use super::{AGAIN_MAX, AlertError, Alerts};
use crate::commit::CommitFailure;
use crate::context::Context;
use crate::entropy::fresh;

/// A rule as it counts now.
#[derive(Debug, Clone, PartialEq)]
pub struct RuleView {
    /// Its id.
    pub id: AlertRuleId,
    /// What it says.
    pub rule: Rule,
    /// Counts its changes; 0 = it is as it was from the start.
    pub version: u32,
    /// Whether it was there from the start.
    pub is_built_in: bool,
    /// When somebody made it, or changed it first.
    pub created_at: Option<Timestamp>,
    /// When it was changed last.
    pub updated_at: Option<Timestamp>,
}

impl Context {
    /// All rules, those from the start first. What cannot be read is left out, and stands in the log.
    pub(super) async fn alert_rules(&self) -> Result<Vec<RuleView>, ReadError> {
        let mut views: BTreeMap<AlertRuleId, RuleView> = BTreeMap::new();
        for default in built_in() {
            let view = RuleView {
                id: default.id,
                rule: default.rule,
                version: 0,
                is_built_in: true,
                created_at: None,
                updated_at: None,
            };
            views.insert(view.id, view);
        }
        for row in self.store.alert_rules().await? {
            let known = views.remove(&row.id);
            if row.deleted_at.is_some() {
                continue;
            }
            match Rule::read(&String::from_utf8_lossy(&row.settings)) {
                Ok(rule) => {
                    let view = RuleView {
                        id: row.id,
                        rule,
                        version: row.version,
                        is_built_in: known.is_some(),
                        created_at: Some(row.created_at),
                        updated_at: Some(row.updated_at),
                    };
                    views.insert(row.id, view);
                }
                Err(problems) => {
                    tracing::error!(rule = %row.id, %problems, "a stored rule cannot be read");
                }
            }
        }
        Ok(views.into_values().collect())
    }
}

impl Alerts {
    /// All rules, those from the start first.
    pub async fn rules(&self) -> Result<Vec<RuleView>, ReadError> {
        self.context.alert_rules().await
    }

    /// One rule.
    pub async fn rule(&self, id: AlertRuleId) -> Result<RuleView, AlertError> {
        let rules = self.rules().await?;
        let found = rules.into_iter().find(|view| view.id == id);
        found.ok_or(AlertError::NotFound)
    }

    /// Makes a rule.
    pub async fn create_rule(&self, text: &str) -> Result<RuleView, AlertError> {
        self.context.is_open()?;
        let rule = Rule::read(text)?;
        let rules = self.rules().await?;
        if rules.len() >= RULES_MAX {
            return Err(AlertError::TooMany(RULES_MAX));
        }
        let now = self.context.now();
        let id = AlertRuleId::from_bytes(fresh(self.context.entropy.as_ref(), now));
        self.put_rule(&rules, (id, 0), rule, now).await
    }

    /// Lays a JSON merge patch over a rule. With a version, only if the rule still has it.
    pub async fn change_rule(
        &self,
        id: AlertRuleId,
        patch: &str,
        version: Option<u32>,
    ) -> Result<RuleView, AlertError> {
        self.context.is_open()?;
        for _ in 0..AGAIN_MAX {
            let rules = self.rules().await?;
            let found = rules.iter().find(|view| view.id == id);
            let found = found.ok_or(AlertError::NotFound)?;
            if version.is_some_and(|version| version != found.version) {
                return Err(AlertError::Changed(found.version));
            }
            let rule = Rule::patched(found.rule.text.as_str(), patch)?;
            let created = found.created_at.unwrap_or_else(|| self.context.now());
            let put = self.put_rule(&rules, (id, found.version), rule, created);
            match put.await {
                Err(AlertError::Contended) => {}
                done => return done,
            }
        }
        Err(AlertError::Contended)
    }

    async fn put_rule(
        &self,
        rules: &[RuleView],
        (id, seen): (AlertRuleId, u32),
        rule: Rule,
        created_at: Timestamp,
    ) -> Result<RuleView, AlertError> {
        let is_other = |view: &&RuleView| view.id != id && view.rule.name == rule.name;
        if rules.iter().any(|view| is_other(&view)) {
            return Err(AlertError::NameTaken(rule.name));
        }
        let now = self.context.now();
        let row = AlertRuleRow {
            id,
            name: rule.name.clone(),
            version: seen + 1,
            settings: rule.text.as_str().as_bytes().to_vec(),
            created_at,
            updated_at: now,
            deleted_at: None,
        };
        let change = AlertRuleChange {
            id,
            seen,
            to: Some(row),
        };
        match self.commit_rule(change).await? {
            PartOutcome::Done => Ok(RuleView {
                id,
                rule,
                version: seen + 1,
                is_built_in: is_built_in(id),
                created_at: Some(created_at),
                updated_at: Some(now),
            }),
            PartOutcome::NameTaken => Err(AlertError::NameTaken(rule.name)),
            PartOutcome::Conflict => Err(AlertError::Contended),
            other => Err(CommitFailure::unexpected("outcome", &other).into()),
        }
    }

    /// Removes a rule. What it alerts of is over with the next look.
    pub async fn remove_rule(&self, id: AlertRuleId) -> Result<(), AlertError> {
        self.context.is_open()?;
        for _ in 0..AGAIN_MAX {
            let found = self.rule(id).await?;
            let now = self.context.now();
            // That one from the start was removed is remembered.
            let to = found.is_built_in.then(|| AlertRuleRow {
                id,
                name: found.rule.name,
                version: found.version + 1,
                settings: found.rule.text.as_str().as_bytes().to_vec(),
                created_at: found.created_at.unwrap_or(now),
                updated_at: now,
                deleted_at: Some(now),
            });
            let change = AlertRuleChange {
                id,
                seen: found.version,
                to,
            };
            if self.commit_rule(change).await? == PartOutcome::Done {
                return Ok(());
            }
        }
        Err(AlertError::Contended)
    }

    async fn commit_rule(&self, change: AlertRuleChange) -> Result<PartOutcome, CommitFailure> {
        self.context.queue.part(Part::ChangeAlertRule(change)).await
    }

    /// What is allowed but probably not meant: a workflow or a channel that does not exist.
    pub async fn warnings(&self, rule: &Rule) -> Result<Vec<String>, ReadError> {
        let mut warnings = Vec::new();
        let store = &self.context.store;
        if let Some(workflow) = &rule.workflow
            && !is_there(&self.context, workflow).await?
        {
            warnings.push(format!("there is no workflow `{workflow}`"));
        }
        if !rule.channels.is_empty() {
            let channels = store.channels().await?;
            let names: Vec<String> = channels
                .iter()
                .filter_map(|row| Some(Channel::kept(&row.settings).ok()?.name))
                .chain(channels.iter().map(|row| row.id.to_string()))
                .collect();
            for channel in rule.channels.iter().filter(|it| !names.contains(it)) {
                warnings.push(format!("there is no channel `{channel}`"));
            }
        }
        Ok(warnings)
    }
}

async fn is_there(context: &Context, workflow: &WorkflowId) -> Result<bool, ReadError> {
    let found = context.store.workflow(workflow).await?;
    Ok(found.is_some())
}

fn is_built_in(id: AlertRuleId) -> bool {
    built_in().iter().any(|default| default.id == id)
}
