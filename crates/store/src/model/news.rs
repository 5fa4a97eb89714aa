//! What the processes that share a disk tell each other.

use std::collections::{BTreeMap, VecDeque};
use std::sync::Arc;

use tokio::sync::Notify;

use super::Model;
use crate::News;

/// News that have not been heard, by the process they are for.
#[derive(Default)]
pub(super) struct Mail(BTreeMap<u64, Letterbox>);

#[derive(Default)]
struct Letterbox {
    unheard: VecDeque<News>,
    bell: Arc<Notify>,
}

impl Mail {
    /// A process is to be told from now on; what rings when it is.
    pub(super) fn address(&mut self, process: u64) -> Arc<Notify> {
        Arc::clone(&self.0.entry(process).or_default().bell)
    }

    pub(super) fn forget(&mut self, process: u64) {
        self.0.remove(&process);
    }

    /// Everybody else is told. What somebody has not heard yet they are not told twice.
    fn tell(&mut self, from: u64, news: &News) {
        for (_, to) in self.0.iter_mut().filter(|(process, _)| **process != from) {
            if !to.unheard.contains(news) {
                to.unheard.push_back(news.clone());
                to.bell.notify_one();
            }
        }
    }

    fn take(&mut self, process: u64) -> Option<News> {
        self.0.get_mut(&process)?.unheard.pop_front()
    }
}

impl Model {
    pub(super) fn tell_others(&self, news: &News) {
        // A dead process tells nobody.
        let process = self.process;
        let _ = self
            .disk
            .with(process, |platter| platter.mail.tell(process, news));
    }

    /// The next news that are heard. Whoever stops listening in between has missed them.
    pub(super) async fn hear(&self) -> News {
        loop {
            let next = self.with(|platter| platter.mail.take(self.process)).await;
            let Some(news) = next else {
                self.bell.notified().await;
                continue;
            };
            if let Some(heard) = self.faults.news(news).await {
                return heard;
            }
        }
    }
}
