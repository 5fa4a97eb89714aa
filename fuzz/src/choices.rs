//! Bytes as a sequence of choices. When they are used up every choice is the first one, so each
//! input leads somewhere and cutting one short makes it simpler.

use std::time::Duration;

use refire_core::time::Timestamp;

pub(crate) struct Choices<'a> {
    left: &'a [u8],
}

impl<'a> Choices<'a> {
    pub(crate) fn new(data: &'a [u8]) -> Self {
        Self { left: data }
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.left.is_empty()
    }

    pub(crate) fn byte(&mut self) -> u8 {
        let Some((first, rest)) = self.left.split_first() else {
            return 0;
        };
        self.left = rest;
        *first
    }

    pub(crate) fn flag(&mut self) -> bool {
        self.byte() & 1 == 1
    }

    /// A number below `end`.
    pub(crate) fn below(&mut self, end: usize) -> usize {
        usize::from(self.byte()) % end.max(1)
    }

    pub(crate) fn pick<T: Copy>(&mut self, from: &[T]) -> T {
        from[self.below(from.len())]
    }

    pub(crate) fn maybe<T>(&mut self, some: impl FnOnce(&mut Self) -> T) -> Option<T> {
        self.flag().then(|| some(self))
    }

    pub(crate) fn number(&mut self) -> u64 {
        let width = self.below(9);
        (0..width).fold(0, |number, _| (number << 8) | u64::from(self.byte()))
    }

    pub(crate) fn small(&mut self) -> u32 {
        // Mostly numbers that other choices hit too, at times the ends of the range.
        match self.byte() {
            255 => u32::MAX,
            254 => u32::MAX - 1,
            byte => u32::from(byte) % 5,
        }
    }

    pub(crate) fn id(&mut self) -> [u8; 16] {
        [self.byte(); 16]
    }

    /// A moment, mostly within a few seconds after `near`.
    pub(crate) fn moment(&mut self, near: Timestamp) -> Timestamp {
        if self.byte() > 240 {
            let far = Timestamp::from_micros(self.number() as i64);
            return far.clamp(Timestamp::FIRST, Timestamp::LAST);
        }
        near.plus(Duration::from_millis(u64::from(self.byte()) * 50))
    }

    pub(crate) fn text(&mut self) -> String {
        let length = self.below(12).min(self.left.len());
        let (text, rest) = self.left.split_at(length);
        self.left = rest;
        String::from_utf8_lossy(text).into_owned()
    }
}
