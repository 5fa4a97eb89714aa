//! Callbacks: what a decision changes in their rows, and what targets say of how far they are.

use std::sync::Arc;

use refire_core::id::ExecutionId;

use super::Pen;
use crate::model::change::Change;
use crate::{CallbackChange, CallbackRow, PartOutcome, TouchCallback};

impl Pen<'_> {
    pub(super) fn change_callbacks(&mut self, id: ExecutionId, changes: &[CallbackChange]) {
        for change in changes {
            let rows: Vec<CallbackRow> = self.image.callbacks_of(id).cloned().collect();
            if let CallbackChange::Put(row) = change
                && rows.iter().all(|known| known.key() != row.key())
            {
                self.put_callback((**row).clone());
            }
            for mut row in rows {
                if row.change(change, self.now) {
                    self.put_callback(row);
                }
            }
        }
    }

    pub(super) fn remove_callbacks(&mut self, id: ExecutionId) {
        let keys: Vec<_> = self.image.callbacks_of(id).map(CallbackRow::key).collect();
        for key in keys {
            self.change(Change::Callback(key, None));
        }
    }

    pub(super) fn touch_callback(&mut self, touch: &TouchCallback) -> PartOutcome {
        let row = self.image.callbacks.get(&touch.key);
        let Some(mut row) = row.map(|row| (**row).clone()) else {
            return PartOutcome::Touched(false);
        };
        let is_touched = row.touch(&touch.touch, self.now);
        if is_touched {
            self.put_callback(row);
        }
        PartOutcome::Touched(is_touched)
    }

    fn put_callback(&mut self, row: CallbackRow) {
        self.change(Change::Callback(row.key(), Some(Arc::new(row))));
    }
}
