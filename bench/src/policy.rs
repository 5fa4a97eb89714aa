//! What a retry policy costs where nothing fails.

use std::hint::black_box;
use std::time::{Duration, Instant};

use refire_retry::{Policy, retry_blocking};

/// Calls measured.
const CALLS: u32 = 2_000_000;

/// Prints `policy` with the cost of a call with and without a policy around it.
pub(crate) fn report() {
    let policy = Policy::exponential(Duration::from_secs(1)).attempts(5);
    let bare = timed(|n| Ok(black_box(n)));
    let wrapped = timed(|n| {
        retry_blocking(&policy, || Ok::<_, ()>(black_box(n)))
            .call()
            .map_err(|error| error.last)
    });
    println!("policy success_path_ns={wrapped:.1} bare_call_ns={bare:.1}");
}

fn timed(mut call: impl FnMut(u32) -> Result<u32, ()>) -> f64 {
    let began = Instant::now();
    for n in 0..CALLS {
        let _ = black_box(call(n));
    }
    began.elapsed().as_nanos() as f64 / f64::from(CALLS)
}
