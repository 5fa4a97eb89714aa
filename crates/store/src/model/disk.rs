//! What survives a process, and what a crash drops.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use refire_core::time::Timestamp;

use super::Model;
use super::change::Change;
use super::faults::Faults;
use super::image::Image;
use super::news::Mail;
use super::shared::Traffic;
use super::write::{self, Failed};
use crate::{Batch, PartOutcome, WorkKey};

/// What a shared disk asks for the time.
pub type DiskClock = Arc<dyn Fn() -> Timestamp + Send + Sync>;

/// The place where a store's rows are. One process at a time has it open, unless it is shared.
#[derive(Default)]
pub struct Disk {
    platter: Mutex<Platter>,
    /// Commits between two syncs, when they are answered before they are durable.
    lazy: Option<u32>,
    /// The clock of a disk that several processes have open at once.
    clock: Option<DiskClock>,
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
    /// The processes that have it open. Whoever is not among them is dead.
    open: BTreeSet<u64>,
    /// The number of the process that opened it last.
    last: u64,
    /// What backups wrote, by path.
    copies: BTreeMap<PathBuf, Arc<Disk>>,
    /// What is on its way to a shared disk.
    pub(super) traffic: Traffic,
    /// What the processes that share it have told each other.
    pub(super) mail: Mail,
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

    /// An empty disk that several processes have open at once, as they have a database server: it
    /// has its own clock, and a commit counts from the moment it is applied.
    #[must_use]
    pub fn shared(clock: DiskClock) -> Arc<Self> {
        Arc::new(Self {
            clock: Some(clock),
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
            ..Self::default()
        })
    }

    /// A process opens the store. It finds what earlier ones wrote, unless a crash dropped it.
    /// Unless the disk is shared, an earlier [`Model`] of it is dead from now on: its calls never
    /// return.
    pub fn open(self: &Arc<Self>, faults: Arc<dyn Faults>) -> Model {
        let mut platter = self.platter();
        if !self.is_shared() {
            platter.end_all();
            // The nodes of a disk of one process are known to that process alone.
            platter.image.nodes.clear();
        }
        platter.last += 1;
        let number = platter.last;
        platter.open.insert(number);
        let bell = platter.mail.address(number);
        Model::new(Arc::clone(self), number, bell, faults)
    }

    /// The power goes. What is not durable is dropped, and every open [`Model`] is dead.
    pub fn crash(&self) {
        let mut platter = self.platter();
        platter.end_all();
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

    pub(super) fn is_shared(&self) -> bool {
        self.clock.is_some()
    }

    /// What time it is by the disk's own clock.
    pub(super) fn now(&self) -> Option<Timestamp> {
        self.clock.as_ref().map(|clock| clock())
    }

    pub(super) fn platter(&self) -> MutexGuard<'_, Platter> {
        self.platter.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Uses the disk on behalf of a process; absent = that process is dead.
    pub(super) fn with<T>(&self, process: u64, usage: impl FnOnce(&mut Platter) -> T) -> Option<T> {
        let mut platter = self.platter();
        let is_open = platter.open.contains(&process);
        is_open.then(|| usage(&mut platter))
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
        locked: &BTreeSet<WorkKey>,
    ) -> Result<(Vec<PartOutcome>, Vec<Change>), Failed> {
        let (outcomes, back) = write::parts(&mut self.image, batch, locked);
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

    /// Keeps what is there now under a path, but for who is logged in.
    pub(super) fn copy(&mut self, to: &Path) {
        let mut image = self.image.clone();
        image.sessions.clear();
        let copy = Disk::holding(image);
        self.copies.insert(to.to_owned(), copy);
    }

    /// One process is gone; what the disk has of it goes on.
    pub(super) fn end(&mut self, process: u64) {
        self.open.remove(&process);
        self.mail.forget(process);
    }

    fn end_all(&mut self) {
        self.open.clear();
        self.mail = Mail::default();
        self.traffic = Traffic::default();
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
