//! Foreign values that happen to be at hand beside a state. They are neither compared nor stored.

use std::collections::BTreeMap;

use crate::json::Json;

/// Foreign values by the number of the event that keeps them.
#[derive(Debug, Clone, Default)]
pub struct Payloads(BTreeMap<u64, Json>);

impl PartialEq for Payloads {
    /// Which values happen to be at hand is not part of the state.
    fn eq(&self, _other: &Self) -> bool {
        true
    }
}

impl Payloads {
    /// Keeps a value at hand.
    pub fn insert(&mut self, sequence: u64, value: Json) {
        self.0.insert(sequence, value);
    }

    /// The value kept by that event, if it is at hand.
    #[must_use]
    pub fn get(&self, sequence: u64) -> Option<&Json> {
        self.0.get(&sequence)
    }

    /// Bytes at hand; bounds the cache of open executions.
    #[must_use]
    pub fn bytes(&self) -> usize {
        self.0.values().map(|value| value.as_str().len()).sum()
    }
}
