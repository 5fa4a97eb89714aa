//! What targets say later: they call back early, late, twice, many times at once, when the window is
//! over and with tokens of attempts that were lost, through any node. They outlive the nodes.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use refire_core::callback::CallbackStatus;
use refire_core::id::ExecutionId;
use refire_core::json::Json;
use refire_engine::CommitFailure;
use refire_engine::callback::CallbackError;
use tokio::time::sleep;

use crate::clients::Clients;
use crate::dice::Dice;
use crate::flow::Spot;
use crate::judge::Heard;
use crate::mark::Mark;
use crate::target::Call;
use crate::worker::{Hall, within};
use crate::world::{Inside, Violation, World};

/// How long a target waits for the answer to its callback, in milliseconds.
const ANSWER_MS: u64 = 15_000;
/// How often it says again what was not answered.
const TRIES_MAX: u32 = 4;
/// So many words come at the same moment, at times.
const CROWD: u64 = 50;

/// What targets have to say.
#[derive(Default)]
pub(crate) struct Words {
    open: BTreeMap<u64, Word>,
    next: u64,
    /// Those that nobody has begun to say.
    fresh: Vec<u64>,
}

/// Something that a target says about the attempt that called it.
#[derive(Debug, Clone)]
pub(crate) struct Word {
    pub(crate) number: u64,
    token: String,
    pub(crate) execution: ExecutionId,
    pub(crate) step: String,
    pub(crate) attempt: u32,
    pub(crate) status: CallbackStatus,
    /// When, in milliseconds that the world has lived.
    at_ms: u64,
    tries: u32,
    /// The life that made the call.
    life: u32,
}

impl Word {
    /// What tells it from all others.
    pub(crate) fn message(&self) -> String {
        format!("word {}", self.number)
    }

    /// The body. It says which attempt it is of, and must be recorded as that one's.
    fn body(&self) -> Json {
        let Self {
            number,
            step,
            attempt,
            ..
        } = self;
        let (status, message) = (self.status.name(), self.message());
        let progress = number % 101;
        Json::parse(format!(
            r#"{{"status":"{status}","progress":{progress},"progressMessage":"{message}","body":{{"value":7,"step":"{step}","attempt":{attempt}}}}}"#
        ))
        .unwrap()
    }
}

/// The token in what a target was sent.
pub(crate) fn token_in(body: &[u8]) -> Option<String> {
    let text = std::str::from_utf8(body).ok()?;
    let (_, rest) = text.split_once("\"cb_")?;
    Some(format!("cb_{}", rest.split('"').next()?))
}

/// A target makes up its mind about what it will say of a call.
pub(crate) fn make_up(
    world: &World,
    inside: &mut Inside,
    (call, spot): (&Call, &Spot),
    token: &str,
) {
    let now_ms = inside.lived_ms;
    let dice = &mut inside.callback_dice;
    let said = match inside.healed {
        true => last(dice, spot),
        false => moments(dice, spot.window_s.unwrap_or(5) * 1_000),
    };
    if said.len() >= usize::try_from(CROWD).unwrap_or(0) {
        inside.marks.reach(Mark::ManyWordsAtOnce);
    }
    for (after_ms, status) in said {
        let words = &mut inside.words;
        let number = words.next;
        words.next += 1;
        words.fresh.push(number);
        let word = Word {
            number,
            token: token.to_owned(),
            execution: call.execution,
            step: call.step.clone(),
            attempt: call.attempt,
            status,
            at_ms: now_ms + after_ms,
            tries: 0,
            life: call.life,
        };
        words.open.insert(number, word);
    }
    world.spoken.notify_one();
}

/// What is said when everything has healed; some say nothing.
fn last(dice: &mut Dice, spot: &Spot) -> Vec<(u64, CallbackStatus)> {
    let status = match spot.ends_well {
        true => CallbackStatus::Success,
        false => CallbackStatus::Failed,
    };
    let after_ms = *dice.pick(&[0, 10, 500]);
    match dice.chance(700) {
        true => vec![(after_ms, status)],
        false => Vec::new(),
    }
}

/// What is said when: often in the very moment that the answer or the end of the window comes.
fn moments(dice: &mut Dice, window_ms: u64) -> Vec<(u64, CallbackStatus)> {
    let mut said = Vec::new();
    for _ in 0..dice.below(4) {
        let after_ms = match dice.below(10) {
            0..3 => *dice.pick(&[0, 1, 5, 10, 50, 200]),
            3..6 => dice.below(window_ms),
            6..8 => window_ms + *dice.pick(&[0, 1, 5, 10, 50, 200]),
            8 => window_ms + dice.below(30_000),
            _ => dice.below(3_000),
        };
        let times = match dice.below(80) {
            0 => CROWD,
            1..12 => 2,
            12..16 => 3,
            _ => 1,
        };
        for _ in 0..times {
            let status = *dice.pick(&[
                CallbackStatus::Processing,
                CallbackStatus::Processing,
                CallbackStatus::Success,
                CallbackStatus::Failed,
            ]);
            said.push((after_ms, status));
        }
    }
    said
}

/// Targets find the nodes, and say what they have to say.
pub(crate) fn come(world: &Arc<World>, hall: &Hall) {
    let open: Vec<u64> = {
        let words = &mut world.inside().words;
        words.fresh.clear();
        words.open.keys().copied().collect()
    };
    for number in open {
        tokio::spawn(speak(hall.clone(), number));
    }
    let (world, hall) = (Arc::clone(world), hall.clone());
    tokio::spawn(async move {
        loop {
            world.spoken.notified().await;
            let fresh = std::mem::take(&mut world.inside().words.fresh);
            for number in fresh {
                tokio::spawn(speak(hall.clone(), number));
            }
        }
    });
}

/// Says one thing when its time has come, again if that is not answered.
async fn speak(hall: Hall, number: u64) {
    loop {
        let door = hall.door().await;
        let life = &door.life;
        let word = life.with(|inside| inside.words.open.get(&number).cloned());
        let Some(word) = word else { return };
        let wait = word.at_ms.saturating_sub(life.lived_ms());
        if wait > 0 {
            // Another node may be there by then.
            sleep(Duration::from_millis(wait)).await;
            continue;
        }
        let heard = say(&door, &word).await;
        let now_ms = life.lived_ms();
        life.with(|inside| {
            let again = *inside.callback_dice.pick(&[1, 200, 3_000]);
            let open = &mut inside.words.open;
            match (heard, open.get_mut(&number)) {
                (Heard::Failed, Some(word)) if word.tries < TRIES_MAX => {
                    word.tries += 1;
                    word.at_ms = now_ms + again;
                }
                _ => {
                    open.remove(&number);
                }
            }
        });
    }
}

/// Says it once.
async fn say(door: &Clients, word: &Word) -> Heard {
    let life = &door.life;
    let (asked, name) = life.with(|inside| {
        let name = inside.trace.name(word.execution);
        (inside.judge.word_begins(word, door.engine.now()), name)
    });
    let answer = async {
        life.alive().await;
        let answer = tell(door, word).await;
        life.alive().await;
        answer
    };
    let answer = within(life, ANSWER_MS, answer).await;
    let heard = match &answer {
        Some(Ok(())) => Heard::Yes,
        Some(Err(CallbackError::Over(_))) => Heard::Over,
        Some(Err(CallbackError::NotFound)) => Heard::NotFound,
        Some(Err(CallbackError::Invalid(wrong))) => panic!("{wrong:?}"),
        Some(Err(CallbackError::Failed(CommitFailure::Internal(what)))) => {
            let violation = Violation::new("no defect is answered", what.clone());
            life.check(|_| Err(violation));
            Heard::Failed
        }
        Some(Err(_)) | None => Heard::Failed,
    };
    let (step, attempt, number) = (&word.step, word.attempt, word.number);
    let status = word.status.name();
    life.say(&format!(
        "word {number}: {status} of {name}.{step}#{attempt}: {heard:?}"
    ));
    if heard == Heard::Yes && word.life != life.number && life.world.is_shared() {
        life.reach(Mark::WordElsewhere);
    }
    let world = &life.world;
    life.check(|inside| {
        let marks = &mut inside.marks;
        (world.disk).look(|image| inside.judge.word_ends(image, &asked, heard, marks))
    });
    heard
}

async fn tell(door: &Clients, word: &Word) -> Result<(), CallbackError> {
    let callbacks = door.engine.callbacks();
    let awaiting = callbacks.find(&word.token).await?;
    callbacks.receive(&awaiting, &word.body()).await
}
