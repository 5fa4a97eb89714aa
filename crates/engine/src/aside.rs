//! Work whose cost grows with a payload is done aside: neither on the thread that commits, nor on the
//! threads that take requests. It has all processors but one.

use std::sync::Arc;

use tokio::sync::{OwnedSemaphorePermit, Semaphore};

/// What may be searched of payloads where others wait. It takes well under a millisecond.
pub(crate) const SEARCH_BYTES_MAX: usize = 64 * 1024;

/// See the module.
#[derive(Clone)]
pub(crate) struct Aside {
    /// The processors that are free for it; none = it is done on the runtime, in one order.
    processors: Option<Processors>,
    /// What is done at once.
    at_once_bytes_max: usize,
}

#[derive(Clone)]
struct Processors {
    free: Arc<Semaphore>,
    /// Mappings take turns among themselves before they wait for a processor: whatever else has to be done
    /// waits for a few of them and not for all.
    mappings: Arc<Semaphore>,
}

/// A processor for some work; none where it is done on the runtime.
pub(crate) struct Turn(Option<Vec<OwnedSemaphorePermit>>);

impl Turn {
    /// Does the work. Whoever stops waiting for it does not end it: it keeps its processor until it is
    /// done.
    pub(crate) async fn run<T: Send + 'static>(
        self,
        work: impl FnOnce() -> T + Send + 'static,
    ) -> T {
        let Self(Some(permits)) = self else {
            tokio::task::yield_now().await;
            return work();
        };
        let done = tokio::task::spawn_blocking(move || {
            let _permits = permits;
            work()
        });
        match done.await {
            Ok(done) => done,
            Err(error) => std::panic::resume_unwind(error.into_panic()),
        }
    }
}

impl Aside {
    /// On threads of its own.
    pub(crate) fn on_threads() -> Self {
        let processors = std::thread::available_parallelism().map_or(1, usize::from);
        let free = processors.saturating_sub(1).max(1);
        Self {
            processors: Some(Processors {
                free: Arc::new(Semaphore::new(free)),
                mappings: Arc::new(Semaphore::new(free)),
            }),
            at_once_bytes_max: SEARCH_BYTES_MAX,
        }
    }

    /// On the runtime: for a simulation, where all is done in one order.
    pub(crate) fn on_runtime() -> Self {
        Self {
            processors: None,
            at_once_bytes_max: SEARCH_BYTES_MAX,
        }
    }

    /// Another bound for what is done at once.
    pub(crate) fn at_once_up_to(mut self, bytes: usize) -> Self {
        self.at_once_bytes_max = bytes;
        self
    }

    /// How many bytes a decision may search where others wait.
    pub(crate) fn at_once_bytes_max(&self) -> usize {
        self.at_once_bytes_max
    }

    /// Does work that searches about so many bytes.
    pub(crate) async fn run<T: Send + 'static>(
        &self,
        bytes: usize,
        work: impl FnOnce() -> T + Send + 'static,
    ) -> T {
        match bytes <= self.at_once_bytes_max {
            true => work(),
            false => self.turn().await.run(work).await,
        }
    }

    /// The same for a mapping, of which there may be many.
    pub(crate) async fn map<T: Send + 'static>(
        &self,
        bytes: usize,
        work: impl FnOnce() -> T + Send + 'static,
    ) -> T {
        if bytes <= self.at_once_bytes_max {
            return work();
        }
        let Some(processors) = &self.processors else {
            return Turn(None).run(work).await;
        };
        let mut permits = acquire(&processors.mappings).await;
        permits.extend(acquire(&processors.free).await);
        Turn(Some(permits)).run(work).await
    }

    /// Waits for a processor. For whoever has to read much into memory before it can work.
    pub(crate) async fn turn(&self) -> Turn {
        let Some(processors) = &self.processors else {
            return Turn(None);
        };
        Turn(Some(acquire(&processors.free).await))
    }
}

/// The semaphore is never closed; were it, the work would still have to be done.
async fn acquire(semaphore: &Arc<Semaphore>) -> Vec<OwnedSemaphorePermit> {
    let permit = Arc::clone(semaphore).acquire_owned().await;
    permit.into_iter().collect()
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicUsize, Ordering};
    use std::time::Duration;

    use super::*;

    #[tokio::test]
    async fn small_work_is_done_at_once_and_large_work_elsewhere() {
        let aside = Aside::on_threads();
        let here = std::thread::current().id();
        let on = |bytes| aside.run(bytes, || std::thread::current().id());
        assert_eq!(on(SEARCH_BYTES_MAX).await, here);
        assert_ne!(on(SEARCH_BYTES_MAX + 1).await, here);
    }

    #[tokio::test(flavor = "multi_thread")]
    async fn it_leaves_a_processor_to_the_others() {
        let aside = Aside::on_threads();
        let free = std::thread::available_parallelism().map_or(1, usize::from) - 1;
        let (running, most) = (Arc::new(AtomicUsize::new(0)), Arc::new(AtomicUsize::new(0)));
        let work = (0..8).map(|_| {
            let (running, most) = (Arc::clone(&running), Arc::clone(&most));
            aside.run(usize::MAX, move || {
                most.fetch_max(running.fetch_add(1, Ordering::SeqCst) + 1, Ordering::SeqCst);
                std::thread::sleep(Duration::from_millis(5));
                running.fetch_sub(1, Ordering::SeqCst);
            })
        });
        futures_util::future::join_all(work).await;
        assert_eq!(most.load(Ordering::SeqCst), free.max(1));
    }

    #[tokio::test(flavor = "multi_thread")]
    async fn other_work_does_not_wait_for_all_mappings() {
        let aside = Aside::on_threads();
        let mapped = Arc::new(AtomicUsize::new(0));
        let mapping = || {
            let mapped = Arc::clone(&mapped);
            aside.map(usize::MAX, move || {
                std::thread::sleep(Duration::from_millis(10));
                mapped.fetch_add(1, Ordering::SeqCst);
            })
        };
        let mappings = futures_util::future::join_all((0..100).map(|_| mapping()));
        let done = Arc::clone(&mapped);
        let other = async {
            tokio::time::sleep(Duration::from_millis(15)).await;
            let count = move || done.load(Ordering::SeqCst);
            aside.run(usize::MAX, count).await
        };
        let (_, before) = tokio::join!(mappings, other);
        assert!(before < 50, "{before} mappings were done first");
        assert_eq!(mapped.load(Ordering::SeqCst), 100);
    }

    #[tokio::test]
    async fn a_panic_is_the_callers() {
        let aside = Aside::on_threads();
        let work = tokio::spawn(async move { aside.run(usize::MAX, || panic!("odd")).await });
        assert!(work.await.is_err_and(|error| error.is_panic()));
    }
}
