//! Saving definitions and deleting workflows.

use refire_core::execution::Execution;
use refire_engine::{ApplyError, Deleted};

use super::Clients;
use crate::judge::Known;
use crate::mark::Mark;
use crate::world::Violation;

/// How often somebody tries to save a definition in one life.
const SAVES_MAX: u32 = 8;
/// How long they wait after the first try, in milliseconds; then twice as long each time.
const SAVE_AGAIN_AFTER_MS: u64 = 300;

impl Clients {
    pub(super) async fn save(&self, flow: usize, version: usize) {
        let life = &self.life;
        let name = (flow, version);
        life.with(|inside| {
            if !inside.ledger.unsaved.contains(&name) {
                inside.ledger.unsaved.push(name);
            }
        });
        let text = &life.world.plan.flows[flow].texts[version];
        for tries in 0..SAVES_MAX {
            let saved = self
                .engine
                .definitions()
                .apply(text, None, "somebody")
                .await;
            life.alive().await;
            match saved {
                Ok(applied) => {
                    life.say(&format!(
                        "w{flow} is saved as version {}",
                        applied.definition.version
                    ));
                    life.with(|inside| {
                        inside.ledger.unsaved.retain(|unsaved| *unsaved != name);
                        let definition = &applied.definition;
                        let saved = (definition.workflow.id.to_string(), definition.version);
                        inside.ledger.saved.entry(saved).or_insert(life.number);
                        let older = |state: &Execution| {
                            let origin = state.origin.as_ref();
                            origin.is_some_and(|origin| {
                                origin.workflow == applied.definition.workflow.id
                                    && origin.workflow_version < applied.definition.version
                            })
                        };
                        let mut all = inside.judge.all().map(|(_, known)| &known.state);
                        if all.any(|state| !state.status.is_terminal() && older(state)) {
                            inside.marks.reach(Mark::VersionsSideBySide);
                        }
                    });
                    return;
                }
                Err(ApplyError::Invalid(problems)) => panic!("{problems:?}\n{text}"),
                Err(ApplyError::Changed) => panic!("nobody expected a version of w{flow}"),
                Err(ApplyError::Commit(failure)) => {
                    self.not_internal(&failure);
                    life.sleep_ms(SAVE_AGAIN_AFTER_MS << tries).await;
                }
            }
        }
    }

    pub(super) async fn delete_workflow(&self, flow: usize) {
        let life = &self.life;
        life.say(&format!("somebody deletes w{flow}"));
        let answer = self.engine.definitions().delete(&self.workflow(flow)).await;
        life.alive().await;
        match answer {
            Ok(Deleted::Done) => life.check(|inside| {
                let id = self.workflow(flow);
                // Somebody may have saved it again meanwhile.
                let is_deleted = life.world.disk.look(|image| {
                    let found = image.workflows.get(&id);
                    found.is_some_and(|found| found.deleted_at.is_some())
                });
                let is_open = |(_, known): (_, &Known)| {
                    known.workflow.id == id && !known.state.status.is_terminal()
                };
                match is_deleted && inside.judge.all().any(is_open) {
                    true => Err(Violation::new(
                        "no workflow is deleted under its executions",
                        id.to_string(),
                    )),
                    false => Ok(()),
                }
            }),
            Ok(_) => {}
            Err(failure) => {
                self.failed(&failure);
            }
        }
    }
}
