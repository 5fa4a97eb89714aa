//! The one place that rolls dice: new ids, seeds, and waits that are not in step with others'.

use std::time::Duration;

use refire_core::id::{ExecutionId, NodeId, time_ordered};
use refire_core::time::Timestamp;

use crate::lock::Mutex;

/// Gives random bytes. Passed in, so that a simulation can own it.
pub trait Entropy: Send + Sync + 'static {
    /// Fills the buffer.
    fn fill(&self, bytes: &mut [u8]);
}

/// The operating system's randomness, read in blocks.
#[derive(Debug, Default)]
pub struct SystemEntropy {
    /// Asking the system for every id costs a call each; a block serves dozens of them.
    block: Mutex<Block>,
}

const BLOCK_BYTES: usize = 1_024;

#[derive(Debug)]
struct Block {
    bytes: [u8; BLOCK_BYTES],
    used: usize,
}

impl Default for Block {
    fn default() -> Self {
        Self {
            bytes: [0; BLOCK_BYTES],
            used: BLOCK_BYTES,
        }
    }
}

impl Entropy for SystemEntropy {
    #[expect(
        clippy::disallowed_methods,
        reason = "this is the one door for randomness"
    )]
    fn fill(&self, out: &mut [u8]) {
        if out.len() > BLOCK_BYTES {
            getrandom::fill(out).expect("the operating system gives randomness");
            return;
        }
        let mut block = self.block.lock();
        if block.used + out.len() > BLOCK_BYTES {
            getrandom::fill(&mut block.bytes).expect("the operating system gives randomness");
            block.used = 0;
        }
        let (from, to) = (block.used, block.used + out.len());
        out.copy_from_slice(&block.bytes[from..to]);
        // What was given out must not be found in memory later.
        block.bytes[from..to].fill(0);
        block.used = to;
    }
}

/// A new execution's id.
#[must_use]
pub fn execution_id(entropy: &dyn Entropy, now: Timestamp) -> ExecutionId {
    ExecutionId::from_bytes(fresh(entropy, now))
}

/// A new node's id.
#[must_use]
pub fn node_id(entropy: &dyn Entropy, now: Timestamp) -> NodeId {
    NodeId::from_bytes(fresh(entropy, now))
}

/// Sixteen new time-ordered bytes, in the order of their microseconds: who came first is served
/// first, and indexes grow at their right edge. 62 bits are random.
#[must_use]
pub fn fresh(entropy: &dyn Entropy, now: Timestamp) -> [u8; 16] {
    let micros = u64::try_from(now.as_micros()).unwrap_or(0);
    // Twelve bits behind the milliseconds hold the rest, as a fraction.
    let fraction = u16::try_from((micros % 1_000) * 4_096 / 1_000).unwrap_or(0);
    let mut bytes = [0u8; 10];
    bytes[..2].copy_from_slice(&fraction.to_be_bytes());
    entropy.fill(&mut bytes[2..]);
    time_ordered(micros / 1_000, bytes)
}

/// A new seed.
#[must_use]
pub fn seed(entropy: &dyn Entropy) -> u64 {
    let mut bytes = [0u8; 8];
    entropy.fill(&mut bytes);
    u64::from_be_bytes(bytes)
}

/// Between half and the whole of a wait.
#[must_use]
pub fn jittered(entropy: &dyn Entropy, wait: Duration) -> Duration {
    let thousandths = u32::try_from(seed(entropy) % 1_000).unwrap_or(0);
    wait / 2 + wait / 2 * thousandths / 1_000
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_stand_in_the_order_of_their_microseconds() {
        let entropy = SystemEntropy::default();
        let at = |us: i64| Timestamp::from_micros(1_800_000_000_000_000 + us);
        let mut last = execution_id(&entropy, at(0));
        for us in 1..3_000 {
            let next = execution_id(&entropy, at(us));
            assert!(last < next, "{us} µs");
            assert_eq!(next.unix_ms(), 1_800_000_000_000 + us as u64 / 1_000);
            last = next;
        }
        let [a, b] = [at(7), at(7)].map(|at| execution_id(&entropy, at));
        assert_ne!(a, b);
    }

    #[test]
    fn waits_are_spread_over_their_second_half() {
        let (entropy, wait) = (SystemEntropy::default(), Duration::from_secs(2));
        let waits: Vec<Duration> = (0..200).map(|_| jittered(&entropy, wait)).collect();
        assert!(waits.iter().all(|one| *one >= wait / 2 && *one <= wait));
        // A fair die stays in one half of its range two hundred times in a row for nobody.
        let middle = wait * 3 / 4;
        assert!(waits.iter().any(|one| *one < middle) && waits.iter().any(|one| *one > middle));
    }
}
