//! The promises about callbacks: whoever is answered with yes is recorded, for the attempt that was
//! called; there is one last word, and it ends the attempt; whatever may count is listened to, and
//! nothing after the end; no window ends early, and none is forgotten; and the row says what the log says.

use std::collections::BTreeMap;
use std::sync::Arc;

use refire_core::callback::CallbackStatus;
use refire_core::definition::StepId;
use refire_core::execution::{Event, EventKind, StepState};
use refire_core::id::ExecutionId;
use refire_core::time::Timestamp;
use refire_store::model::Image;
use refire_store::{CallbackKey, CallbackRow};

use super::task::When;
use super::{Judge, Known};
use crate::called_back::Word;
use crate::mark::{Mark, Marks};
use crate::world::Violation;

const ONE_LAST: &str = "one last word ends an attempt";
const AFTER_THE_END: &str = "nothing is written after the last word";
const ROW: &str = "a callback's row says what the log says";

/// Rows of attempts that wait no more: nothing changes them.
#[derive(Default)]
pub(super) struct Closed(BTreeMap<CallbackKey, Arc<CallbackRow>>);

/// What a target is answered.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Heard {
    /// It is recorded.
    Yes,
    /// Nothing waits for it any more.
    Over,
    /// Its token is nobody's.
    NotFound,
    /// It did not work, or nobody knows.
    Failed,
}

/// A word on its way.
pub(crate) struct Saying {
    word: Word,
    /// When it was said, by the node that it was said to.
    from: Timestamp,
    /// Whether it could count then.
    could_count: bool,
}

impl Saying {
    fn wrong(&self, check: &'static str, what: &str) -> Violation {
        Violation::new(check, format!("{:?}: {what}", self.word))
    }
}

/// Attempts are called back by the log's names of them.
fn is_of(event: &Event, step: &str, attempt: u32) -> bool {
    event.attempt == Some(attempt) && event.step.as_ref().is_some_and(|it| it.as_str() == step)
}

impl Known {
    /// Whether a callback for this attempt may count: it is under way or waits, and its last word was
    /// not said.
    fn hears(&self, step: &str, attempt: u32) -> bool {
        let state = StepId::new(step)
            .ok()
            .and_then(|step| self.state.step(&step));
        let is_live = |step: &StepState| step.is_live() && step.attempt == attempt;
        !self.state.status.is_terminal()
            && state.is_some_and(is_live)
            && self.last_word(step, attempt).is_none()
    }

    /// What a target has said of an attempt, one after the other.
    fn words<'a>(
        &'a self,
        step: &'a str,
        attempt: u32,
    ) -> impl DoubleEndedIterator<Item = (CallbackStatus, Option<&'a str>)> {
        let events = self.log.iter();
        let own = events.filter(move |event| is_of(event, step, attempt));
        own.filter_map(|event| match &event.kind {
            EventKind::CallbackReceived(said) => {
                Some((said.status, said.progress_message.as_deref()))
            }
            _ => None,
        })
    }

    fn last_word<'a>(&'a self, step: &'a str, attempt: u32) -> Option<&'a str> {
        let mut words = self.words(step, attempt);
        words.find_map(|(status, message)| message.filter(|_| status.is_final()))
    }

    /// How often an attempt has ended well or badly.
    fn ends(&self, step: &str, attempt: u32) -> usize {
        let is_end = |event: &&Event| {
            matches!(
                event.kind,
                EventKind::StepCompleted(_)
                    | EventKind::StepFailed(_)
                    | EventKind::CompensationCompleted(_)
            ) && is_of(event, step, attempt)
        };
        self.log.iter().filter(is_end).count()
    }

    /// Whether nobody called back in time for an attempt that ends with this event, and until when it
    /// has waited then.
    pub(super) fn window_over(&self, event: &Event) -> Option<Timestamp> {
        let is_end = matches!(
            event.kind,
            EventKind::StepCompleted(_) | EventKind::CompensationCompleted(_)
        );
        let step = self.state.step(event.step.as_ref()?)?;
        let awaited = step.awaited.as_ref().filter(|_| is_end)?;
        (!awaited.status.is_final()).then_some(awaited.until)
    }

    /// No window ends before its time.
    pub(super) fn windows(&mut self, event: &Event) -> Result<(), Violation> {
        let Some(until) = self.window_over(event) else {
            return Ok(());
        };
        if event.at < until {
            let what = format!("it waits until {until}, and ends at {}", event.at);
            return Err(Violation::new("no window ends early", what));
        }
        self.windows_over.push(until);
        Ok(())
    }

    /// The row of an attempt, by the log: what was said last, and whether it waits.
    fn row_of(&self, step: &str, attempt: u32) -> (CallbackStatus, bool) {
        let (said, _) = self
            .words(step, attempt)
            .next_back()
            .unwrap_or((CallbackStatus::Pending, None));
        let failed = |event: &Event| {
            matches!(
                event.kind,
                EventKind::StepFailed(_) | EventKind::CompensationFailed(_)
            ) && is_of(event, step, attempt)
        };
        // The target answered that it will not do what it had begun to do.
        let status = match said {
            CallbackStatus::Processing if self.log.iter().any(failed) => CallbackStatus::Failed,
            said => said,
        };
        let state = StepId::new(step)
            .ok()
            .and_then(|step| self.state.step(&step));
        let waits =
            |step: &StepState| step.is_live() && step.attempt == attempt && step.awaited.is_some();
        let is_open = !self.state.status.is_terminal() && state.is_some_and(waits);
        (status, is_open)
    }
}

/// The rows of an execution's callbacks say what the log says, and there is one last word at most.
pub(super) fn rows(
    image: &Image,
    id: ExecutionId,
    known: &Known,
    closed: &mut Closed,
) -> Result<(), Violation> {
    if known.workflow.with_callbacks().next().is_none() {
        return Ok(());
    }
    let fail = |check, what: String| Err(Violation::new(check, what));
    let of = |step_no, attempt| CallbackKey {
        execution: id,
        step_no,
        attempt,
    };
    for (key, row) in (image.callbacks).range(of(0, 0)..=of(u16::MAX, u32::MAX)) {
        if let Some(before) = closed.0.get(key).filter(|before| *before != row) {
            return fail(AFTER_THE_END, format!("{before:#?} became {row:#?}"));
        }
        let (status, is_open) = known.row_of(&row.step, row.attempt);
        if (row.status, row.wake_at) != (status, is_open.then_some(row.until)) {
            let what = format!("{status:?}, it waits: {is_open}, and the row is {row:#?}");
            return fail(ROW, what);
        }
        if let Some(last) = known.last_word(&row.step, row.attempt)
            && row.message.as_deref() != Some(last)
        {
            return fail(AFTER_THE_END, format!("{last} was the last: {row:#?}"));
        }
        if !is_open {
            closed.0.insert(*key, Arc::clone(row));
        }
    }
    for (name, step) in &known.state.steps {
        let attempt = step.attempt;
        let words = || known.words(name.as_str(), attempt);
        let finals = words().filter(|(status, _)| status.is_final()).count();
        if finals > 0 && (finals, known.ends(name.as_str(), attempt)) != (1, 1) {
            let words: Vec<_> = words().collect();
            return fail(ONE_LAST, format!("{name}#{attempt} heard {words:?}"));
        }
        let waits = step.awaited.as_ref().filter(|_| step.is_live());
        let place = known.workflow.step(name.as_ref()).map(|(place, _)| place);
        let key = of(u16::try_from(place.unwrap_or(0)).unwrap_or(0), attempt);
        let row = image.callbacks.get(&key);
        let until = waits.map(|awaited| awaited.until);
        let is_missing = until.is_some() && row.is_none_or(|row| Some(row.until) != until);
        if is_missing || words().next().is_some() && row.is_none() {
            return fail(
                ROW,
                format!("{name}#{attempt} waits until {until:?}: {row:?}"),
            );
        }
    }
    Ok(())
}

impl Judge {
    /// A target is about to say something.
    pub(crate) fn word_begins(&self, word: &Word, from: Timestamp) -> Saying {
        let known = self.known.get(&word.execution);
        Saying {
            word: word.clone(),
            from,
            could_count: known.is_some_and(|known| known.hears(&word.step, word.attempt)),
        }
    }

    /// It is answered. What can count at one moment could before, so both moments tell.
    pub(crate) fn word_ends(
        &self,
        image: &Image,
        saying: &Saying,
        heard: Heard,
        marks: &mut Marks,
    ) -> Result<(), Violation> {
        let Saying { word, .. } = saying;
        let (step, attempt) = (word.step.as_str(), word.attempt);
        let Some(known) = self.known.get(&word.execution) else {
            return Err(saying.wrong("what was promised is found", "there is no execution"));
        };
        let wrong =
            |check, what: &str| Err(known.explain(saying.wrong(check, what), word.execution));
        let counts = known.hears(step, attempt);
        self.mark_word(known, saying, heard, marks);
        match heard {
            Heard::Failed => Ok(()),
            Heard::NotFound => wrong("what was promised is found", "it is not found"),
            Heard::Over if counts => wrong("who may call back is listened to", "it is refused"),
            Heard::Over => Ok(()),
            Heard::Yes if !saying.could_count => wrong(
                "nothing counts after the last word",
                "it is answered with yes",
            ),
            Heard::Yes if word.status.is_final() => {
                let message = word.message();
                match known.last_word(step, attempt) == Some(message.as_str()) {
                    true => Ok(()),
                    false => wrong("a word is recorded for its own attempt", "it is not there"),
                }
            }
            Heard::Yes => {
                let mut rows = image.callbacks.values();
                let is_own = |row: &&Arc<CallbackRow>| {
                    let key = (row.execution, row.step.as_str(), row.attempt);
                    key == (word.execution, step, attempt)
                };
                let row = rows.find(is_own);
                // It is there, or something later is: an end that was decided a moment before it, too,
                // leaves it there.
                let message = word.message();
                let is_kept = |row: &Arc<CallbackRow>| {
                    row.message.as_ref() == Some(&message) || row.updated_at >= saying.from
                };
                match row.is_some_and(is_kept) {
                    true => Ok(()),
                    false => wrong("progress that is answered is durable", &format!("{row:?}")),
                }
            }
        }
    }

    fn mark_word(&self, known: &Known, saying: &Saying, heard: Heard, marks: &mut Marks) {
        let Saying {
            word, could_count, ..
        } = saying;
        let (step, attempt) = (word.step.as_str(), word.attempt);
        let is_over = |event: &Event| match &event.kind {
            EventKind::StepCompleted(done) => done.answer.is_some() && is_of(event, step, attempt),
            _ => false,
        };
        let by_window = known.log.iter().any(is_over);
        let has_last = known.last_word(step, attempt).is_some();
        let was_lost = self.was_lost(word.execution, step, attempt);
        let mark = match heard {
            Heard::Yes if known.state.paused_at.is_some() => Mark::WordWhilePaused,
            Heard::Over if was_lost => Mark::WordOfLostAttempt,
            Heard::Over if by_window && *could_count => Mark::WordLostToWindow,
            Heard::Over if by_window => Mark::WordAfterWindow,
            Heard::Over if has_last && *could_count => Mark::LastWordLostTheRace,
            _ => return,
        };
        marks.reach(mark);
    }

    /// No window that ended with this batch did so before its time, by any clock.
    pub(crate) fn windows_ended(
        &mut self,
        ids: &[ExecutionId],
        when: When,
    ) -> Result<(), Violation> {
        for id in ids {
            let Some(known) = self.known.get_mut(id) else {
                continue;
            };
            for until in std::mem::take(&mut known.windows_over) {
                if !when.is_past(until) {
                    let what = format!("it waits until {until}, it is {when:?}");
                    let violation = Violation::new("no window ends early", what);
                    return Err(known.explain(violation, *id));
                }
            }
        }
        Ok(())
    }
}
