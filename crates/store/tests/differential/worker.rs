//! What is seen of workers.

use refire_store::{Part, WorkerRow};

use crate::history::History;

const NAMES: [&str; 5] = ["n8n-1", "n8n-2", "", "ü\"\u{0}", "lambda"];

impl History {
    pub(crate) fn any_worker(&mut self) -> String {
        self.dice.pick(&NAMES).to_owned()
    }

    pub(crate) fn worker_part(&mut self) -> Part {
        if self.dice.one_in(5) {
            return Part::ForgetWorker {
                id: self.any_worker(),
            };
        }
        let names = self.dice.some(&NAMES);
        Part::SeeWorkers(names.into_iter().map(|id| self.sighting(id)).collect())
    }

    fn sighting(&mut self, id: &str) -> WorkerRow {
        let (first, last) = (self.about_now(60), self.about_now(60));
        let (polled, beaten) = (self.about_now(60), self.about_now(60));
        WorkerRow {
            worker_type: self.dice.maybe("n8n".to_owned()),
            task_types: self.dice.pick(&["", "a", "a,b-*"]).parse().unwrap(),
            polled_at: self.dice.maybe(polled),
            heartbeat_at: self.dice.maybe(beaten),
            completed: self.dice.below(3),
            failed: self.dice.below(3),
            created_at: first.min(last),
            ..WorkerRow::seen(id, first.max(last))
        }
    }
}
