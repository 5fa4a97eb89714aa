//! What happens to alerts, their rules and silences, and to the numbers of minutes.

use refire_core::alert::{Alert, Phase, RuleKind, Told};
use refire_core::id::{AlertId, AlertRuleId, NoticeId, SilenceId};
use refire_core::minute::{MINUTE, Minute, OfWorkflow, floor};
use refire_core::notify::{Facts, NoticeKind};
use refire_store::{
    AlertChange, AlertFilter, AlertRow, AlertRuleChange, AlertRuleRow, MinuteFilter, NewNotice,
    Part, Prune, SilenceRow,
};

use crate::history::History;

const SUBJECTS: [&str; 4] = ["a", "b", "", "ü\"\u{0}"];
const NAMES: [&str; 3] = ["Rule", "rule", "\u{0}é"];

impl History {
    fn byte(&mut self, below: u64) -> u8 {
        u8::try_from(self.dice.below(below)).unwrap()
    }

    fn any_rule(&mut self) -> AlertRuleId {
        AlertRuleId::from_bytes([self.byte(4); 16])
    }

    pub(crate) fn alert_part(&mut self) -> Part {
        match self.dice.below(10) {
            0..4 => Part::ChangeAlerts(self.alert_changes()),
            4..6 => Part::ChangeAlertRule(self.rule_change()),
            6 => Part::PutSilence(self.silence_row()),
            7 => Part::RemoveSilence {
                id: SilenceId::from_bytes([self.byte(4); 16]),
            },
            8 => {
                let (before, limit) = (self.about_now(600), 1 + self.dice.small(3));
                Part::Prune(match self.dice.one_in(2) {
                    true => Prune::Alerts { before, limit },
                    false => Prune::Minutes { before, limit },
                })
            }
            _ => Part::AddMinutes(self.any_minutes()),
        }
    }

    fn alert_changes(&mut self) -> Vec<AlertChange> {
        let subjects = self.dice.some(&SUBJECTS);
        let rule = self.any_rule();
        let change = |subject: &str| self.alert_change(rule, subject);
        subjects.into_iter().map(change).collect()
    }

    fn alert_change(&mut self, rule: AlertRuleId, subject: &str) -> AlertChange {
        let key = (rule, subject.to_owned());
        let known = self.known.alerts.get(&key).map_or(0, |row| row.rev);
        let seen = match self.dice.one_in(4) {
            true => u64::from(self.dice.small(3)),
            false => known,
        };
        let to = (!self.dice.one_in(4)).then(|| self.alert_row(rule, subject, seen + 1));
        let notices = match self.dice.one_in(3) {
            true => vec![self.any_notice()],
            false => Vec::new(),
        };
        AlertChange {
            rule,
            subject: subject.to_owned(),
            seen,
            to,
            notices,
        }
    }

    fn any_notice(&mut self) -> NewNotice {
        let mut bytes = [0; 16];
        bytes[..8].copy_from_slice(&self.dice.below(u64::MAX).to_be_bytes());
        NewNotice {
            id: NoticeId::from_bytes(bytes),
            kind: NoticeKind::AlertFiring,
            workflow: Some(self.workflow()),
            subject: "s\u{0}".to_owned(),
            facts: Facts::new("n\u{0}", self.now),
        }
    }

    fn alert_row(&mut self, rule: AlertRuleId, subject: &str, rev: u64) -> AlertRow {
        let (began_at, since, told) = (self.about_now(600), self.about_now(600), self.about_now(9));
        // No two of one subject have the same id.
        let mut id = [self.byte(200); 16];
        let place = SUBJECTS.iter().position(|known| *known == subject).unwrap();
        id[..2].copy_from_slice(&[rule.as_bytes()[0], u8::try_from(place).unwrap()]);
        let workflow = self.workflow();
        AlertRow {
            rule,
            subject: subject.to_owned(),
            rev,
            name: self.dice.pick(&NAMES).to_owned(),
            kind: *self.dice.pick_from(RuleKind::ALL.iter()).unwrap(),
            workflow: self.dice.maybe(workflow),
            threshold: self.dice.maybe(-7),
            alert: Alert {
                id: AlertId::from_bytes(id),
                phase: *self.dice.pick_from(Phase::ALL.iter()).unwrap(),
                began_at,
                since,
                value: 3,
                told: *self.dice.pick_from(Told::ALL.iter()).unwrap(),
                told_at: self.dice.maybe(told),
                is_muted: self.dice.one_in(2),
                acked: self.dice.maybe((told, "é\u{0}".to_owned())),
                updated_at: since,
            },
        }
    }

    fn rule_change(&mut self) -> AlertRuleChange {
        let id = self.any_rule();
        let known = self.known.alert_rules.get(&id).map_or(0, |row| row.version);
        let seen = match self.dice.one_in(4) {
            true => self.dice.small(3),
            false => known,
        };
        let (created_at, deleted_at) = (self.about_now(60), self.about_now(60));
        let is_removed = self.dice.one_in(5);
        let row = AlertRuleRow {
            id,
            name: self.dice.pick(&NAMES).to_owned(),
            version: seen + 1,
            settings: vec![0, 255],
            created_at,
            updated_at: created_at,
            deleted_at: self.dice.one_in(4).then_some(deleted_at),
        };
        AlertRuleChange {
            id,
            seen,
            to: (!is_removed).then_some(row),
        }
    }

    fn silence_row(&mut self) -> SilenceRow {
        let (starts_at, ends_at) = (self.about_now(600), self.about_now(600));
        let rule = self.any_rule();
        SilenceRow {
            id: SilenceId::from_bytes([self.byte(4); 16]),
            rule: self.dice.maybe(rule),
            subject: self.dice.maybe("s\u{0}".to_owned()),
            starts_at,
            ends_at,
            comment: self.dice.maybe("c".to_owned()),
            created_by: "é\u{0}".to_owned(),
            created_at: starts_at,
        }
    }

    /// Each minute of a workflow once.
    fn any_minutes(&mut self) -> Vec<OfWorkflow> {
        let at = floor(self.about_now(300), MINUTE);
        let workflow = self.workflow();
        (0..=self.dice.small(3))
            .map(|place| OfWorkflow {
                workflow: workflow.clone(),
                at: at.plus(MINUTE * place),
                minute: Minute {
                    started: self.dice.below(3),
                    completed: self.dice.below(3),
                    failed: self.dice.below(3),
                    missed: self.dice.below(2),
                    duration_ms: self.dice.below(1_000),
                    duration_max_ms: self.dice.below(1_000),
                    ..Minute::default()
                },
            })
            .collect()
    }

    pub(crate) fn alert_filter(&mut self) -> AlertFilter {
        let (rule, subject) = (self.any_rule(), self.dice.pick(&SUBJECTS).to_owned());
        AlertFilter {
            phases: self.dice.some(&Phase::ALL),
            rule: self.dice.maybe(rule),
            subject: self.dice.maybe(subject),
        }
    }

    pub(crate) fn minute_filter(&mut self) -> MinuteFilter {
        let workflow = self.workflow();
        MinuteFilter {
            workflow: self.dice.maybe(workflow),
            from: self.about_now(600),
            to: self.about_now(600),
        }
    }
}
