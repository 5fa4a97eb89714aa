//! What survives a process, and what a crash drops.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use super::Model;
use super::change::Change;
use super::faults::Faults;
use super::image::Image;
use super::write::{self, Failed};
use crate::{Batch, PartOutcome};

/// The place where a store's rows are. One process at a time has it open.
#[derive(Default)]
pub struct Disk {
    platter: Mutex<Platter>,
    /// Commits between two syncs, when they are answered before they are durable.
    lazy: Option<u32>,
}

/// What is on a disk, and how safe it is there.
#[derive(Default)]
pub(super) struct Platter {
    /// What reads see.
    pub(super) image: Image,
    /// For each commit that is not durable yet, the oldest first, what takes it back.
    unsynced: Vec<Vec<Change>>,
    /// A batch that reached the disk although its process does not know: the next one sees it.
    hidden: Vec<Change>,
    /// Which process has it open: every start and every crash makes a new number.
    epoch: u64,
    /// What backups wrote, by path.
    copies: BTreeMap<PathBuf, Arc<Disk>>,
}

impl Disk {
    /// An empty disk on which a commit is durable before it is answered.
    #[must_use]
    pub fn new() -> Arc<Self> {
        Arc::new(Self::default())
    }

    /// An empty disk that answers first and makes durable later, with every so many commits and
    /// when the store is closed. This breaks what a store promises: a crash drops what was
    /// answered. A simulation that does not notice it is worth nothing.
    #[must_use]
    pub fn new_lazy(commits: u32) -> Arc<Self> {
        Arc::new(Self {
            lazy: Some(commits),
            ..Self::default()
        })
    }

    fn holding(image: Image) -> Arc<Self> {
        let platter = Platter {
            image,
            ..Platter::default()
        };
        Arc::new(Self {
            platter: Mutex::new(platter),
            lazy: None,
        })
    }

    /// A process opens the store. It finds what earlier ones wrote, unless a crash dropped it. An
    /// earlier [`Model`] of this disk is dead from now on: its calls never return.
    pub fn open(self: &Arc<Self>, faults: Arc<dyn Faults>) -> Model {
        let mut platter = self.platter();
        platter.end_process();
        Model::new(Arc::clone(self), platter.epoch, faults)
    }

    /// The power goes. What is not durable is dropped, and every open [`Model`] is dead.
    pub fn crash(&self) {
        let mut platter = self.platter();
        platter.end_process();
        while let Some(back) = platter.unsynced.pop() {
            platter.image.change_all(back);
        }
    }

    /// What a crash now would leave, for whoever checks it. No faults are asked.
    #[must_use]
    pub fn durable(&self) -> Image {
        self.platter().durable()
    }

    /// As [`Disk::durable`], but lent: nothing is copied where everything that is written is
    /// durable.
    pub fn look<T>(&self, look: impl FnOnce(&Image) -> T) -> T {
        let platter = self.platter();
        if platter.unsynced.is_empty() && platter.hidden.is_empty() {
            look(&platter.image)
        } else {
            look(&platter.durable())
        }
    }

    /// What a backup wrote to `path`.
    #[must_use]
    pub fn copy(&self, path: &Path) -> Option<Arc<Self>> {
        self.platter().copies.get(path).cloned()
    }

    fn platter(&self) -> MutexGuard<'_, Platter> {
        self.platter.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Uses the disk on behalf of a process; absent = that process is dead.
    pub(super) fn with<T>(&self, epoch: u64, usage: impl FnOnce(&mut Platter) -> T) -> Option<T> {
        let mut platter = self.platter();
        (platter.epoch == epoch).then(|| usage(&mut platter))
    }

    /// Shows a batch to reads and makes it durable, as soon as this disk cares.
    pub(super) fn keep(&self, platter: &mut Platter, changes: Vec<Change>) {
        let back = platter.image.change_all(changes);
        if let Some(commits) = self.lazy {
            platter.unsynced.push(back);
            if platter.unsynced.len() >= commits as usize {
                platter.sync();
            }
        }
    }
}

impl Platter {
    /// What a batch would change, and its outcomes. Nobody sees any of it yet.
    pub(super) fn draft(
        &mut self,
        batch: &Batch,
    ) -> Result<(Vec<PartOutcome>, Vec<Change>), Failed> {
        let (outcomes, back) = write::parts(&mut self.image, batch);
        let changes = self.image.change_all(back);
        Ok((outcomes?, changes))
    }

    /// A batch is durable, and with it all before, but the process goes on without it.
    pub(super) fn hide(&mut self, changes: Vec<Change>) {
        self.sync();
        self.hidden = changes;
    }

    /// Everything that was written is durable.
    pub(super) fn sync(&mut self) {
        self.unsynced.clear();
    }

    /// Keeps what is there now under a path.
    pub(super) fn copy(&mut self, to: &Path) {
        let copy = Disk::holding(self.image.clone());
        self.copies.insert(to.to_owned(), copy);
    }

    fn end_process(&mut self) {
        self.epoch += 1;
        let hidden = std::mem::take(&mut self.hidden);
        self.image.change_all(hidden);
    }

    fn durable(&self) -> Image {
        let mut image = self.image.clone();
        for back in self.unsynced.iter().rev() {
            image.change_all(back.clone());
        }
        image.change_all(self.hidden.clone());
        image
    }
}
