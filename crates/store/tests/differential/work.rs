//! What nodes do with work: they claim it, begin it and give it back.

use refire_store::{Begin, Bounds, Claim, ClaimTimers, Part, Release, Want, WorkKey};

use crate::history::{History, NODES};

impl History {
    pub(crate) fn claim(&mut self) -> Part {
        let mut wants = Vec::new();
        for _ in 0..self.dice.below(4) {
            let bounds = Bounds {
                max: Some(self.dice.small(6)).filter(|_| self.dice.one_in(2)),
                max_per_key: Some(self.dice.small(3)).filter(|_| self.dice.one_in(2)),
            };
            let is_bounded = self.dice.one_in(2);
            wants.push(Want {
                bounds: is_bounded.then_some(bounds),
                workflow: self.workflow(),
                up_to: self.dice.small(8),
                retries_up_to: self.dice.small(4),
            });
        }
        Part::Claim(Claim {
            node: self.dice.pick(&NODES),
            wants,
        })
    }

    pub(crate) fn claim_timers(&mut self) -> Part {
        Part::ClaimTimers(ClaimTimers {
            node: self.dice.pick(&NODES),
            until: self.about_now(30),
            up_to: self.dice.small(6),
        })
    }

    /// Names of work, some of which may be gone or never have been.
    fn work(&mut self) -> Vec<(WorkKey, u32)> {
        let mut work = Vec::new();
        for _ in 0..self.dice.below(5) {
            let Some((key, row)) = self.dice.pick_from(self.known.work.iter()) else {
                break;
            };
            let mut key = key.clone();
            let attempt = row.attempt + u32::from(self.dice.one_in(8));
            if self.dice.one_in(12) {
                key.step = "gone".to_owned();
            }
            work.push((key, attempt));
        }
        work
    }

    pub(crate) fn begin(&mut self) -> Part {
        Part::Begin(Begin {
            node: self.dice.pick(&NODES),
            work: self.work(),
        })
    }

    pub(crate) fn release(&mut self) -> Part {
        let mut work = Vec::new();
        for (key, _) in self.work() {
            let due_at = self.about_now(10);
            work.push((key, self.dice.maybe(due_at)));
        }
        Part::Release(Release {
            node: self.dice.pick(&NODES),
            work,
        })
    }
}
