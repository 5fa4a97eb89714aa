//! Keeps the engine's clock with the machine's: a suspended machine or a clock that was set late
//! must not shift every time that is stored.

use std::sync::Arc;
use std::time::Duration;

use crate::context::Context;

/// How often to look.
const EVERY: Duration = Duration::from_secs(5);

pub(crate) async fn clock_loop(context: Arc<Context>) {
    loop {
        tokio::select! {
            biased;
            () = context.stopping.cancelled() => return,
            () = tokio::time::sleep(EVERY) => context.clock.tick(),
        }
    }
}
