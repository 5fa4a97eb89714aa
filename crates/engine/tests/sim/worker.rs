//! The workers: they fetch tasks through any node, do them well or badly, hang up, stall and come
//! back with old locks. They outlive the nodes, and remember what they have.

use std::collections::{BTreeMap, VecDeque};
use std::sync::Arc;
use std::time::Duration;

use refire_core::failure::{ErrorClass, Failure};
use refire_core::id::{LockToken, TaskId};
use refire_core::json::Json;
use refire_engine::CommitFailure;
use refire_engine::task::{Delivery, Ended, Fetched, Poll as Wish, TaskError, TaskTypes};
use refire_store::{TaskCall, TaskRow};
use tokio::time::sleep;

use crate::clients::Clients;
use crate::dice::Dice;
use crate::fleet::Fleet;
use crate::flow::{Mood, Spot};
use crate::judge::{Poll, PollEnd, Said, Saying, name_of};
use crate::life::Life;
use crate::plan::{Manner, Plan, Worker};
use crate::store_faults::POISON;
use crate::world::{Inside, Violation, World};

/// How much longer than its poll a worker waits for the answer, in milliseconds.
const PATIENCE_MS: u64 = 20_000;
/// How long it waits for the answer of what it says, in milliseconds.
const ANSWER_MS: u64 = 15_000;
/// How often it says again what was not answered.
const TRIES_MAX: u32 = 4;

/// What somebody says who does not say by which lock it has a task.
pub(crate) const NAMELESS: &str = "\"lock\":\"unnamed\"";

/// Where workers find the nodes.
#[derive(Clone)]
pub(crate) enum Hall {
    One(Clients),
    Many(Arc<Fleet>),
}

impl Hall {
    /// One of the nodes that are up.
    pub(crate) async fn door(&self) -> Clients {
        match self {
            Self::One(door) => door.clone(),
            Self::Many(fleet) => fleet.find_door().await,
        }
    }

    /// The lives of all that are up.
    pub(crate) fn lives(&self) -> Vec<Arc<Life>> {
        match self {
            Self::One(door) => vec![Arc::clone(&door.life)],
            Self::Many(fleet) => {
                let doors = fleet.open_doors().into_iter();
                doors.map(|door| door.life).collect()
            }
        }
    }
}

/// What workers have.
#[derive(Default)]
pub(crate) struct Jobs {
    open: BTreeMap<u64, Job>,
    next: u64,
}

/// A task that a worker has, or thinks it has, and what it will say of it.
#[derive(Debug, Clone)]
struct Job {
    worker: usize,
    row: TaskRow,
    token: LockToken,
    /// Each so long after the one before, in milliseconds.
    acts: VecDeque<(u64, Act)>,
    tries: u32,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Act {
    Beat,
    Extend {
        seconds: u64,
    },
    Complete,
    Fail {
        retryable: bool,
        wait_ms: Option<u64>,
    },
    GiveBack,
}

impl Act {
    fn saying(self) -> Saying {
        match self {
            Self::Beat => Saying::Heartbeat,
            Self::Extend { .. } => Saying::Extend,
            Self::Complete => Saying::Ends(TaskCall::Complete),
            Self::Fail { .. } => Saying::Ends(TaskCall::Fail),
            Self::GiveBack => Saying::Ends(TaskCall::Unlock),
        }
    }
}

/// All workers come to work; those that have something go on with it.
pub(crate) fn come(world: &Arc<World>, hall: &Hall) {
    for (number, worker) in world.plan.workers.iter().enumerate() {
        let (hall, worker) = (hall.clone(), worker.clone());
        tokio::spawn(async move {
            loop {
                poll(&hall, number, &worker).await;
            }
        });
    }
    let jobs: Vec<u64> = world.inside().jobs.open.keys().copied().collect();
    for job in jobs {
        tokio::spawn(go_on(hall.clone(), job));
    }
}

/// What a worker asks for this time.
struct Round {
    wishes: Vec<&'static str>,
    waits_ms: u64,
    max: u32,
    /// When it hangs up, if it does.
    hangs_up_ms: Option<u64>,
    /// Whether it does not take the answer, or takes it and forgets it.
    leaves: bool,
    forgets: bool,
    /// How long it rests before.
    rests_ms: u64,
}

impl Round {
    fn roll(inside: &mut Inside, number: usize, worker: &Worker) -> Self {
        let (healed, dice) = (inside.healed, &mut inside.worker_dice);
        let Manner {
            hangs_up, forgets, ..
        } = worker.manner;
        let waits_ms = worker.waits_s * 1_000;
        let rests_ms = match waits_ms {
            0 => *dice.pick(&[20, 300, 3_000]),
            _ => *dice.pick(&[0, 0, 5, 50, 2_000]),
        };
        if healed {
            // Somebody asks for everything now.
            let everything = vec!["*"];
            return Self {
                wishes: if number == 0 {
                    everything
                } else {
                    worker.wishes.to_vec()
                },
                waits_ms: waits_ms.max(5_000),
                max: worker.takes,
                hangs_up_ms: None,
                leaves: false,
                forgets: false,
                rests_ms: rests_ms.min(50),
            };
        }
        // Often when it has just come, which is when it looks.
        let longest = *dice.pick(&[2, 10, 500, waits_ms.max(1)]);
        Self {
            wishes: worker.wishes.to_vec(),
            waits_ms,
            max: worker.takes,
            hangs_up_ms: dice.chance(hangs_up).then(|| dice.below(longest)),
            leaves: dice.chance(hangs_up / 2),
            forgets: dice.chance(forgets),
            rests_ms,
        }
    }
}

/// A worker asks for tasks once.
async fn poll(hall: &Hall, number: usize, worker: &Worker) {
    let door = hall.door().await;
    let life = &door.life;
    let round = life.with(|inside| Round::roll(inside, number, worker));
    sleep(Duration::from_millis(round.rests_ms)).await;
    if life.is_dead() {
        return;
    }
    let began_ms = life.lived_ms();
    let poll = life.with(|inside| {
        let began = (life.number, began_ms);
        inside
            .judge
            .poll_begins(Poll::new(began, &round.wishes, (round.max, round.waits_ms)))
    });
    let wish = Wish {
        types: types(&round.wishes),
        worker: Some(name_of(number, poll)),
        worker_type: None,
        max: round.max,
        wait: Duration::from_millis(round.waits_ms),
    };
    let asked = async {
        life.alive().await;
        let answer = door.engine.tasks().poll(wish).await;
        life.alive().await;
        answer
    };
    let patience = round.hangs_up_ms.unwrap_or(round.waits_ms + PATIENCE_MS);
    let answer = within(life, patience, asked).await;
    let is_calm = life.world.plan.rates.is_calm() && life.world.plan.nodes.is_calm();
    let end = match answer {
        None => {
            let is_well = is_calm && !life.is_dead() && !life.was_held_up_since(began_ms);
            if round.hangs_up_ms.is_none() && is_well {
                let what = format!("worker {number} was not answered since {began_ms}");
                life.check(|_| Err(Violation::new("every poll is answered", what)));
            }
            PollEnd::HungUp
        }
        Some(Err(error)) => {
            refused(&door, &error);
            PollEnd::Failed
        }
        Some(Ok(delivery)) if delivery.tasks().is_empty() => PollEnd::Empty,
        Some(Ok(delivery)) => {
            let tasks = received(&door, number, poll, &delivery);
            match round.leaves {
                true => PollEnd::NotTaken,
                false => {
                    delivery.arrived();
                    let jobs = life.with(|inside| {
                        let plan = &life.world.plan;
                        match round.forgets {
                            true => Vec::new(),
                            false => Job::roll_all(inside, plan, number, &tasks),
                        }
                    });
                    for job in jobs {
                        tokio::spawn(go_on(hall.clone(), job));
                    }
                    PollEnd::Taken
                }
            }
        }
    };
    life.with(|inside| {
        let (judge, marks) = (&mut inside.judge, &mut inside.marks);
        judge.poll_ends(poll, end, inside.lived_ms, marks);
    });
    if end == PollEnd::Failed {
        sleep(Duration::from_millis(200)).await;
    }
}

/// What somebody is answered in time, and before the process is gone.
pub(crate) async fn within<T>(life: &Life, ms: u64, answer: impl Future<Output = T>) -> Option<T> {
    /// How soon it is noticed that a process is gone.
    const NOTICED_WITHIN: Duration = Duration::from_secs(1);
    let gone = async {
        while !life.is_dead() {
            sleep(NOTICED_WITHIN).await;
        }
    };
    tokio::select! {
        biased;
        answer = answer => Some(answer),
        () = sleep(Duration::from_millis(ms)) => None,
        () = gone => None,
    }
}

fn types(wishes: &[&str]) -> TaskTypes {
    let mut types = TaskTypes::default();
    for wish in wishes {
        match wish.strip_suffix('*') {
            Some(prefix) => types.prefixes.push(prefix.to_owned()),
            None => types.names.push((*wish).to_owned()),
        }
    }
    types
}

/// The judge looks at what a poll is answered with.
fn received(door: &Clients, worker: usize, poll: usize, delivery: &Delivery) -> Vec<Fetched> {
    let life = &door.life;
    let tasks = delivery.tasks().to_vec();
    let plan = &life.world.plan;
    let is_ordered = !life.world.is_shared() && plan.rates.is_calm();
    for task in &tasks {
        let name = life.with(|inside| inside.trace.name(task.row.execution));
        let (step, attempt) = (&task.row.step, task.row.attempt);
        life.say(&format!("worker {worker} gets {name}.{step}#{attempt}"));
    }
    life.check(|inside| {
        inside.judge.handed_out(poll, &tasks)?;
        let types: Vec<&str> = tasks.iter().map(|it| it.row.task_type.as_str()).collect();
        match is_ordered {
            true => (inside.judge).is_served_in_turn(poll, &types, inside.lived_ms),
            false => Ok(()),
        }
    });
    tasks
}

/// No defect is answered.
fn refused(door: &Clients, error: &TaskError) {
    if let TaskError::Failed(CommitFailure::Internal(what)) = error {
        let what = what.clone();
        door.life
            .check(|_| Err(Violation::new("no defect is answered", what)));
    }
}

impl Job {
    /// What a worker will do with each of its tasks.
    fn roll_all(inside: &mut Inside, plan: &Plan, worker: usize, tasks: &[Fetched]) -> Vec<u64> {
        let mut numbers = Vec::new();
        for task in tasks {
            let row = task.row.clone();
            let Some(token) = row.token else { continue };
            let flow = plan.flows.iter().find(|it| it.id == row.workflow.as_ref());
            let spot = flow.and_then(|flow| flow.spot(&row.step)).unwrap();
            let acts = match inside.healed {
                true => VecDeque::from([(0, last(spot))]),
                false => acts(
                    &mut inside.worker_dice,
                    plan.workers[worker].manner,
                    spot,
                    &row,
                ),
            };
            let number = inside.jobs.next;
            inside.jobs.next += 1;
            let job = Self {
                worker,
                row,
                token,
                acts,
                tries: 0,
            };
            inside.jobs.open.insert(number, job);
            numbers.push(number);
        }
        numbers
    }

    /// The output says which attempt it is of: it must be recorded as that one's.
    fn output(&self, spot: &Spot, healed: bool, is_nameless: bool) -> Json {
        let (step, attempt) = (&self.row.step, self.row.attempt);
        let text = match spot.mood == Mood::Unstorable && !healed {
            true => format!("\"{POISON}\""),
            false if is_nameless => format!(r#"{{"value":7,{NAMELESS}}}"#),
            false => format!(r#"{{"value":7,"step":"{step}","attempt":{attempt}}}"#),
        };
        Json::parse(text).unwrap()
    }
}

/// What a worker says when everything has healed.
fn last(spot: &Spot) -> Act {
    match spot.ends_well {
        true => Act::Complete,
        false => Act::Fail {
            retryable: false,
            wait_ms: None,
        },
    }
}

fn fail(dice: &mut Dice) -> Act {
    Act::Fail {
        retryable: !dice.chance(100),
        wait_ms: dice.chance(200).then(|| *dice.pick(&[0, 700, 20_000])),
    }
}

/// What a worker says of a task, and when.
fn acts(dice: &mut Dice, manner: Manner, spot: &Spot, row: &TaskRow) -> VecDeque<(u64, Act)> {
    let mut acts = VecDeque::new();
    let end = match spot.mood {
        // It kills whoever works on it.
        Mood::Deadly => return acts,
        Mood::Flaky(rate) if dice.chance(rate) => fail(dice),
        Mood::Down => fail(dice),
        _ => Act::Complete,
    };
    let end = match dice.chance(manner.gives_back) {
        true => Act::GiveBack,
        false => end,
    };
    let clock = row.lock_ms.min(row.silence_ms.unwrap_or(row.lock_ms));
    // To the millisecond when a clock runs out, when it matters who comes first.
    let just = clock.saturating_sub(*dice.pick(&[0, 1, 2, 4, 8, 20]));
    let stalls = dice.chance(manner.stalls) || spot.mood == Mood::Slow && dice.chance(500);
    let takes = match stalls {
        true => clock + *dice.pick(&[0, 1, 700, 5_000, 40_000]),
        false => *dice.pick(&[0, 0, 1, 30, 300, clock / 2, just, 2 * clock]),
    };
    let mut left = takes;
    let beats = !stalls && takes >= clock || dice.chance(200);
    while beats && left > 0 && acts.len() < 6 {
        let wait = (*dice.pick(&[clock / 2, clock / 2, clock / 3, just])).clamp(1, left);
        let act = match dice.chance(200) {
            true => Act::Extend {
                seconds: *dice.pick(&[1, 10, 1_000]),
            },
            false => Act::Beat,
        };
        acts.push_back((wait, act));
        left -= wait;
    }
    acts.push_back((left, end));
    if dice.chance(manner.repeats) {
        acts.push_back((*dice.pick(&[0, 5, 2_000]), end));
    }
    if dice.chance(manner.repeats / 2) {
        let other = *dice.pick(&[Act::Beat, Act::Complete, Act::GiveBack, fail_once()]);
        acts.push_back((*dice.pick(&[0, 5, 2_000, 30_000]), other));
    }
    acts
}

fn fail_once() -> Act {
    Act::Fail {
        retryable: true,
        wait_ms: None,
    }
}

/// A worker goes on with a task until it has said all that it says.
async fn go_on(hall: Hall, number: u64) {
    loop {
        let door = hall.door().await;
        let life = &door.life;
        let job = life.with(|inside| inside.jobs.open.get(&number).cloned());
        let Some(job) = job else { return };
        let Some((wait, act)) = job.acts.front().copied() else {
            life.with(|inside| inside.jobs.open.remove(&number));
            return;
        };
        // One node's runtime ends with it; who waits there begins to wait again.
        sleep(Duration::from_millis(wait)).await;
        let door = hall.door().await;
        let life = &door.life;
        let said = say(&door, &job, act).await;
        life.with(|inside| {
            let healed = inside.healed;
            let dice = &mut inside.worker_dice;
            let Some(job) = inside.jobs.open.get_mut(&number) else {
                return;
            };
            match said {
                Some(Said::Yes) => {
                    job.acts.pop_front();
                    job.tries = 0;
                }
                Some(Said::NotHeld | Said::NotFound) => {
                    job.acts.pop_front();
                    // Most believe it.
                    if healed || dice.chance(800) {
                        job.acts.clear();
                    }
                }
                Some(Said::Failed) | None => {
                    job.tries += 1;
                    job.acts.pop_front();
                    if job.tries < TRIES_MAX {
                        let after = *dice.pick(&[1, 200, 3_000]);
                        // What cannot be stored is given up.
                        let act = match act {
                            Act::Complete if job.tries > 1 => fail_once(),
                            act => act,
                        };
                        job.acts.push_front((after, act));
                    }
                }
            }
        });
    }
}

/// A worker says something of its task; none if it does not hear what it is answered.
async fn say(door: &Clients, job: &Job, act: Act) -> Option<Said> {
    let life = &door.life;
    let plan = &life.world.plan;
    let manner = plan.workers[job.worker].manner;
    let (is_nameless, patience_ms, healed, name) = life.with(|inside| {
        let (healed, dice) = (inside.healed, &mut inside.worker_dice);
        let is_nameless = !healed && dice.chance(manner.is_nameless);
        let is_impatient = !healed && dice.chance(manner.is_impatient);
        let patience_ms = match is_impatient {
            true => *dice.pick(&[0, 1, 5, 30]),
            false => ANSWER_MS,
        };
        let name = inside.trace.name(job.row.execution);
        (is_nameless, patience_ms, healed, name)
    });
    let token = (!is_nameless).then_some(job.token);
    let id = job.row.id();
    let flow = plan
        .flows
        .iter()
        .find(|it| it.id == job.row.workflow.as_ref());
    let spot = flow.and_then(|flow| flow.spot(&job.row.step)).unwrap();
    let asked =
        life.with(|inside| (inside.judge).asked(id, token, act.saying(), door.engine.now()));
    let answer = async {
        life.alive().await;
        let answer = ask(door, id, token, act, job.output(spot, healed, is_nameless)).await;
        life.alive().await;
        answer
    };
    let answer = within(life, patience_ms, answer).await;
    let said = answer.map(|answer| match &answer {
        Ok(()) => Said::Yes,
        Err(TaskError::NotHeld(_)) => Said::NotHeld,
        Err(TaskError::NotFound) => Said::NotFound,
        Err(error) => {
            refused(door, error);
            Said::Failed
        }
    });
    let (step, attempt, worker) = (&job.row.step, job.row.attempt, job.worker);
    life.say(&format!(
        "worker {worker}: {act:?} of {name}.{step}#{attempt}: {said:?}"
    ));
    if let Some(said) = said {
        life.check(|inside| inside.judge.answered(&asked, said, &mut inside.marks));
    }
    said
}

async fn ask(
    door: &Clients,
    id: TaskId,
    token: Option<LockToken>,
    act: Act,
    output: Json,
) -> Result<(), TaskError> {
    let tasks = door.engine.tasks();
    match act {
        Act::Beat => tasks.heartbeat(id, token, Some(50), None).await,
        Act::Extend { seconds } => tasks.extend(id, token, Duration::from_secs(seconds)).await,
        Act::Complete => tasks.end(id, token, Ended::Completed(output)).await,
        Act::Fail { retryable, wait_ms } => {
            let mut failure = Failure::new(ErrorClass::Worker, "it did not work");
            (failure.retryable, failure.retry_after_ms) = (retryable, wait_ms);
            tasks.end(id, token, Ended::Failed(failure)).await
        }
        Act::GiveBack => tasks.unlock(id, token).await,
    }
}
