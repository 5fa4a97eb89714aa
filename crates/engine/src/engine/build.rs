//! Putting an engine together. Everything is passed down from here; there are no globals, so two
//! engines can live in one process.

use std::sync::{Arc, OnceLock};
use std::time::Duration;

use refire_store::{ReadError, Store};
use tokio::runtime::Handle;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use super::Engine;
use crate::aside::{Aside, SEARCH_BYTES_MAX};
use crate::breaker::{self, Desk};
use crate::callback::Issuer;
use crate::caller::Caller;
use crate::catalog::Catalog;
use crate::clock::{Clock, SystemClock};
use crate::commit::{BatchEnd, CommitTimes, Committer, Lanes, Tools, lanes};
use crate::context::Context;
use crate::dispatch::{Dispatcher, Follow};
use crate::entropy::{Entropy, SystemEntropy};
use crate::limit::{Limits, Slots};
use crate::lock::Mutex;
use crate::maintenance::Retention;
use crate::membership::{Membership, NodeSettings};
use crate::notify::Wanted;
use crate::secret::{EnvironmentSecrets, Secrets};
use crate::services::{Services, run_in_background};
use crate::step::Clients;
use crate::step::local::{LocalTasks, TaskContext, TaskError};
use crate::tally::Tally;
use crate::target::{Allow, Guard, HttpSettings, HttpTarget, TargetError, Tether};
use crate::task::Board;
use crate::vault::Vault;
use crate::vital::Vital;
use crate::waiter::Waiters;
use refire_core::json::Json;

/// See [`Builder::alerts_every`].
const ALERTS_EVERY: Duration = Duration::from_secs(10);
/// See [`Builder::overlap_from`].
const OVERLAP_FROM: usize = 32;

/// What an engine is made of.
pub struct Builder {
    store: Arc<dyn Store>,
    clock: Arc<dyn Clock>,
    entropy: Arc<dyn Entropy>,
    secrets: Arc<dyn Secrets>,
    caller: Option<Arc<dyn Caller>>,
    allow: Allow,
    limits: Limits,
    retention: Retention,
    alerts_every: Duration,
    local: LocalTasks,
    committing: Committing,
    overlap_from: usize,
    search_bytes_max: usize,
    node: NodeSettings,
    vault: Option<Vault>,
    address: String,
}

/// Where the committer runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Committing {
    /// On a thread of its own: an fsync blocks, and must not block anybody's requests.
    Thread,
    /// As a task of the runtime.
    Task,
}

impl Committing {
    /// Where the work is done that the committer leaves to others.
    fn aside(self) -> Aside {
        match self {
            Self::Thread => Aside::on_threads(),
            Self::Task => Aside::on_runtime(),
        }
    }
}

/// A setting of the builder: how it is called, the field that it sets, and its type.
macro_rules! settings {
    ($($(#[$doc:meta])+ $name:ident => $field:ident: $type:ty,)+) => {
        impl Builder {
            $(
                $(#[$doc])+
                #[must_use]
                pub fn $name(mut self, $field: $type) -> Self {
                    self.$field = $field.into();
                    self
                }
            )+
        }
    };
}

settings! {
    /// What seals the secrets of webhooks. Without it none can be kept.
    vault => vault: Vault,
    /// Where targets find this server when they call back, such as `https://refire.example.com`.
    address => address: String,
    /// Another clock.
    clock => clock: Arc<dyn Clock>,
    /// Other dice.
    entropy => entropy: Arc<dyn Entropy>,
    /// Secrets from elsewhere.
    secrets => secrets: Arc<dyn Secrets>,
    /// Calls made by something else than the HTTP client.
    caller => caller: Arc<dyn Caller>,
    /// Which inside addresses may be called.
    allow_private_targets => allow: Allow,
    /// How much may run at once.
    limits => limits: Limits,
    /// How long ended executions are kept.
    retention => retention: Retention,
    /// How often rules of alerts are looked at, and what was counted is written.
    alerts_every => alerts_every: Duration,
    /// What other nodes see of this one, and how long it may be silent.
    node => node: NodeSettings,
    /// On a shared store: with a batch on its way to it, the next sets out as soon as it has so many
    /// requests. Many small batches cost more than they save; a store that is far away may like
    /// them smaller.
    overlap_from => overlap_from: usize,
    /// What is searched of payloads where others wait; what needs more is done aside.
    search_bytes_max => search_bytes_max: usize,
}

/// Why an engine did not start.
#[derive(Debug, thiserror::Error)]
pub enum StartError {
    /// The HTTP client could not be made.
    #[error(transparent)]
    Target(#[from] TargetError),
    /// The store did not take this process as a node.
    #[error("the store could not be joined")]
    Join(#[source] ReadError),
    /// The store could not be read.
    #[error("the store could not be read")]
    Read(#[source] ReadError),
    /// The committer's thread could not be made.
    #[error("the committer's thread could not be started")]
    Thread(#[source] std::io::Error),
}

/// What runs beside the callers.
pub(super) struct Threads {
    pub(super) committer: RunningCommitter,
    pub(super) services: TaskTracker,
    /// What keeps the lease.
    pub(super) keeping: TaskTracker,
    /// Ends it.
    pub(super) left: CancellationToken,
}

/// The committer's thread or task, to be waited for.
pub(super) enum RunningCommitter {
    Thread(std::thread::JoinHandle<()>),
    Task(tokio::task::JoinHandle<()>),
}

impl Builder {
    pub(super) fn new(store: Arc<dyn Store>) -> Self {
        Self {
            store,
            clock: Arc::new(SystemClock::new()),
            entropy: Arc::new(SystemEntropy::default()),
            secrets: Arc::new(EnvironmentSecrets),
            caller: None,
            allow: Allow::Nothing,
            limits: Limits::default(),
            retention: Retention::default(),
            alerts_every: ALERTS_EVERY,
            local: LocalTasks::default(),
            committing: Committing::Thread,
            overlap_from: OVERLAP_FROM,
            search_bytes_max: SEARCH_BYTES_MAX,
            node: NodeSettings::default(),
            vault: None,
            address: String::new(),
        }
    }

    /// Registers a task for `local` steps.
    #[must_use]
    pub fn task<F, Fut>(mut self, name: impl Into<String>, task: F) -> Self
    where
        F: Fn(TaskContext, Json) -> Fut + Send + Sync + 'static,
        Fut: Future<Output = Result<Json, TaskError>> + Send + 'static,
    {
        self.local.register(name, task);
        self
    }

    /// Commits on the runtime instead of on a thread: for a store whose commits never block, such
    /// as one in memory. With a runtime of one thread and virtual time all that the engine does is
    /// then done in one order.
    #[must_use]
    pub fn commit_on_runtime(mut self) -> Self {
        self.committing = Committing::Task;
        self
    }

    /// Starts the engine on the current tokio runtime. Recovery goes on beside normal work.
    pub async fn start(self) -> Result<Arc<Engine>, StartError> {
        let slots = slots(self.limits, self.store.as_ref()).await?;
        let tether = Tether::default();
        let guard = Guard::new(self.allow.clone());
        let caller = match self.caller {
            Some(caller) => caller,
            None => Arc::new(http_target(self.allow, tether.clone())?),
        };
        let membership = Membership::join(
            Arc::clone(&self.store),
            Arc::clone(&self.clock),
            Arc::clone(&self.entropy),
            self.node,
            tether,
        )
        .await
        .map_err(StartError::Join)?;
        let notices = Wanted::load(self.store.as_ref()).await;
        let notices = notices.map_err(StartError::Join)?;
        let (queue, lanes) = lanes();
        let aside = self.committing.aside().at_once_up_to(self.search_bytes_max);
        let context = Arc::new(Context {
            membership,
            queue,
            aside,
            slots,
            catalog: Arc::new(Catalog::new(Arc::clone(&self.store))),
            waiters: Waiters::default(),
            commit_times: CommitTimes::default(),
            tasks: Board::default(),
            breakers: Desk::default(),
            clients: Clients {
                http: caller,
                local: self.local,
                secrets: self.secrets,
                issuer: Issuer::new(self.vault.as_ref(), &self.address),
                own: OnceLock::new(),
                guard,
            },
            address: self.address,
            vault: self.vault,
            retention: self.retention,
            notices,
            tally: Tally::default(),
            alerts_every: self.alerts_every,
            closing: CancellationToken::new(),
            stopping: CancellationToken::new(),
            broken: CancellationToken::new(),
            listeners: Mutex::default(),
            store: self.store,
            clock: self.clock,
            entropy: self.entropy,
        });
        let dispatcher = Dispatcher::new(&context);
        let committer = Committer::new(Tools {
            context: Arc::clone(&context),
            after: Arc::new(Follow::new(&dispatcher)),
            overlap_from: self.overlap_from,
        });
        let broken = context.broken.clone();
        let committer = spawn_committer(self.committing, committer, lanes, broken)?;
        let tracker = TaskTracker::new();
        let vital = Vital::new(tracker.clone(), context.broken.clone());
        dispatcher.run(&vital);
        let services = Services::open(&context, &vital);
        run_in_background(&context, &vital);
        let (keeping, left) = keep_lease(&context, &dispatcher);
        Ok(Arc::new(Engine {
            context,
            dispatcher,
            services,
            threads: Mutex::new(Some(Threads {
                committer,
                services: tracker,
                keeping,
                left,
            })),
            quiet_since: Mutex::default(),
        }))
    }
}

/// Before the first call: what failed before a restart is left alone after it.
async fn slots(limits: Limits, store: &dyn Store) -> Result<Arc<Slots>, StartError> {
    let slots = Slots::new(limits, store.is_shared());
    let known = breaker::load(store, &slots).await;
    known.map_err(StartError::Read)?;
    Ok(slots)
}

fn http_target(allow: Allow, tether: Tether) -> Result<HttpTarget, TargetError> {
    let mut settings = HttpSettings::new(Guard::new(allow));
    settings.tether = tether;
    HttpTarget::new(settings)
}

/// Keeps the lease until the very end, longer than anything that hangs on it.
fn keep_lease(
    context: &Arc<Context>,
    dispatcher: &Arc<Dispatcher>,
) -> (TaskTracker, CancellationToken) {
    let (keeping, left) = (TaskTracker::new(), CancellationToken::new());
    if context.store.is_shared() {
        let keeper = Vital::new(keeping.clone(), context.broken.clone());
        let membership = || Arc::clone(&context.membership);
        keeper.spawn_until(&left, membership().keep(Arc::clone(dispatcher)));
        keeper.spawn_until(&left, membership().watch());
    }
    (keeping, left)
}

fn spawn_committer(
    committing: Committing,
    committer: Committer,
    lanes: Lanes,
    broken: CancellationToken,
) -> Result<RunningCommitter, StartError> {
    // A committer that panics leaves a process that cannot write: it must say so and stop.
    let broken = broken.drop_guard();
    let run = async move {
        if committer.run(lanes).await == BatchEnd::Settled {
            broken.disarm();
        }
    };
    match committing {
        Committing::Task => Ok(RunningCommitter::Task(tokio::spawn(run))),
        Committing::Thread => {
            let runtime = Handle::current();
            let thread = std::thread::Builder::new().name("refire-commit".to_owned());
            thread
                .spawn(move || runtime.block_on(run))
                .map(RunningCommitter::Thread)
                .map_err(StartError::Thread)
        }
    }
}
