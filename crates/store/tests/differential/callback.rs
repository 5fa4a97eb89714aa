//! Callbacks in random histories: what targets say, at the right time and at the wrong one.

use refire_core::callback::Noted;
use refire_core::definition::StepId;
use refire_core::execution::{Callback, Command, Said};
use refire_core::failure::{ErrorClass, Failure};
use refire_core::id::ExecutionId;
use refire_core::json::Json;
use refire_store::{CallbackKey, CallbackTouch, Part, TouchCallback};

use crate::history::History;

impl History {
    /// What a target says about an attempt, or that it says nothing.
    pub(crate) fn call_back(&mut self, step: StepId, attempt: u32) -> Command {
        let said = match self.dice.below(5) {
            0..2 => Said::Processing,
            2 => Said::Success(Json::parse("{\"status\": \"success\"}").unwrap()),
            3 => Said::Failed(Failure::new(ErrorClass::CallbackFailed, "no \u{0} room")),
            _ => return Command::WindowOver { step, attempt },
        };
        Command::Callback(Callback {
            step,
            attempt,
            began: self.dice.maybe(self.now),
            said,
            mapped: None,
            noted: self.noted(),
        })
    }

    fn noted(&mut self) -> Noted {
        let percent = u8::try_from(self.dice.below(101)).unwrap();
        Noted {
            progress: self.dice.maybe(percent),
            message: self.dice.maybe("ü\u{0}".to_owned()),
            extra: self.dice.maybe(Json::parse("{\"x\":1.0}").unwrap()),
            query_config: self.dice.maybe(vec![0, 255, percent]),
        }
    }

    pub(crate) fn any_callback(&mut self) -> CallbackKey {
        let known = self.dice.pick_from(self.known.callbacks.keys()).copied();
        known
            .filter(|_| !self.dice.one_in(8))
            .unwrap_or(CallbackKey {
                execution: ExecutionId::from_bytes([1; 16]),
                step_no: 0,
                attempt: 1,
            })
    }

    /// A target's word on how far it is.
    pub(crate) fn touch_callback(&mut self) -> Part {
        let key = self.any_callback();
        let noted = self.noted();
        let touch = match self.dice.one_in(4) {
            true => CallbackTouch::Sealed {
                from: noted.query_config.unwrap_or_default(),
                to: vec![1, 2],
            },
            false => CallbackTouch::Noted(noted),
        };
        Part::TouchCallback(TouchCallback { key, touch })
    }
}
