//! The tasks of a seed: which steps are tasks, what their definitions say, and who works on them.

use std::fmt::Write as _;

use crate::dice::Dice;

/// So many seeds in a thousand have tasks.
const WITH_TASKS: u32 = 350;
/// So many steps of those are tasks.
const TASKS: u32 = 450;

/// The types are few, so that workers meet, and one is the beginning of another.
const TYPES: &[&str] = &["mail", "mail-bulk", "scan", "scan-fast"];

/// What workers ask for.
const WISHES: &[&[&str]] = &[
    &["mail"],
    &["mail*"],
    &["scan", "mail-bulk"],
    &["scan*", "mail"],
    &["mail-bulk", "scan-fast", "mail"],
    &["*"],
];

/// The dice that everything about tasks is rolled with, if the seed has tasks.
pub(super) fn dice(seed: u64) -> Option<Dice> {
    let mut dice = Dice::new(seed, "tasks");
    dice.chance(WITH_TASKS).then_some(dice)
}

/// A task as a definition has it.
#[derive(Debug, Clone)]
pub(crate) struct TaskText {
    task_type: &'static str,
    /// All the others, as they are written.
    settings: String,
    has_input: bool,
}

impl TaskText {
    /// The text of a step that becomes a task; most do not.
    pub(crate) fn roll(dice: &mut Dice) -> Option<Self> {
        if !dice.chance(TASKS) {
            return None;
        }
        let timeout = *dice.pick(&[2, 5, 20, 60, 300]);
        let lock = dice.between(1, 20).min(timeout);
        let retries = *dice.pick(&[1, 2, 3, 3, 5]);
        let mut settings =
            format!("timeout: {timeout}s, lockDuration: {lock}s, retries: {retries}");
        if dice.chance(400) {
            let interval = *dice.pick(&[1, 1, 2, 4]);
            let missed = *dice.pick(&[1, 2, 3]);
            let _ = write!(
                settings,
                ", heartbeat: {{ interval: {interval}s, maxMissed: {missed} }}"
            );
        }
        if dice.chance(250) {
            let _ = write!(settings, ", priority: {}", dice.pick(&[1, 3, 9]));
        }
        if dice.chance(300) {
            settings.push_str(", requireLockToken: true");
        }
        Some(Self {
            task_type: *dice.pick(TYPES),
            settings,
            has_input: dice.chance(700),
        })
    }

    /// The step's settings, with this as its input and more.
    pub(crate) fn config(&self, input: &str, more: &str) -> String {
        let Self {
            task_type,
            settings,
            has_input,
        } = self;
        let input = match has_input {
            true => format!(", input: {input}"),
            false => String::new(),
        };
        format!("{{ taskType: {task_type}, {settings}{input}{more} }}")
    }
}

/// Somebody who works on tasks.
#[derive(Debug, Clone)]
pub(crate) struct Worker {
    /// What it asks for: names, and beginnings of names that end with `*`.
    pub(crate) wishes: &'static [&'static str],
    pub(crate) manner: Manner,
    /// How long it waits for tasks, in seconds.
    pub(crate) waits_s: u64,
    /// How many it takes at once.
    pub(crate) takes: u32,
}

/// How often a worker is a bad one, in a thousand.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Manner {
    /// It hangs up before its poll is answered, or does not take the answer.
    pub(crate) hangs_up: u32,
    /// It takes the answer and forgets it.
    pub(crate) forgets: u32,
    /// It stalls, past any clock, and goes on as if nothing had been.
    pub(crate) stalls: u32,
    /// It gives back what it has.
    pub(crate) gives_back: u32,
    /// It repeats what it has said, or says something else by an old lock.
    pub(crate) repeats: u32,
    /// It does not say by which lock it has a task.
    pub(crate) is_nameless: u32,
    /// It does not wait for the answer of what it says.
    pub(crate) is_impatient: u32,
}

impl Worker {
    pub(super) fn roll_all(dice: &mut Dice) -> Vec<Self> {
        let count = dice.between(1, 4);
        (0..count).map(|_| Self::roll(dice)).collect()
    }

    fn roll(dice: &mut Dice) -> Self {
        let mut some = |rates: &[u32]| *dice.pick(rates);
        let manner = Manner {
            hangs_up: some(&[0, 100, 500]),
            forgets: some(&[0, 0, 50, 300]),
            stalls: some(&[0, 50, 300]),
            gives_back: some(&[0, 50, 300]),
            repeats: some(&[0, 100, 500]),
            is_nameless: some(&[0, 0, 200]),
            is_impatient: some(&[0, 0, 200]),
        };
        Self {
            wishes: *dice.pick(WISHES),
            manner,
            waits_s: *dice.pick(&[0, 1, 5, 30]),
            takes: *dice.pick(&[1, 1, 2, 5]),
        }
    }
}
