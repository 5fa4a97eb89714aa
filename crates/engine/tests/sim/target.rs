//! The targets: HTTP services and tasks of the program. They succeed, fail in every way there is,
//! hang, answer late, hear a call twice, or take the process down with them.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use refire_core::failure::{ErrorClass, Failure};
use refire_core::id::{ExecutionId, NodeId};
use refire_core::json::Json;
use refire_engine::caller::Caller;
use refire_engine::target::{HttpAnswer, HttpRequest};
use refire_engine::{TaskContext, TaskError};

use crate::called_back;
use crate::dice::Dice;
use crate::flow::Mood;
use crate::judge::By;
use crate::life::{Life, WAKES_WITHIN_MS};
use crate::mark::Mark;
use crate::store_faults::POISON;
use crate::world::Inside;

/// For how long a lease cannot be renewed, in milliseconds: longer than it lasts.
const UNRENEWED_MS: u64 = 30_000;
/// That befalls so many times as many of the few calls that wait for long enough.
const PATIENT_TIMES: u32 = 4;

/// Calls of the running process that have not ended, with what limits count them by.
#[derive(Default)]
pub(crate) struct InFlight {
    calls: BTreeMap<u64, Call>,
    next: u64,
}

/// One call.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Call {
    /// The life that makes it, and as which node.
    pub(crate) life: u32,
    pub(crate) node: Option<NodeId>,
    /// When it was made, in milliseconds that the world had lived.
    pub(crate) at_ms: u64,
    pub(crate) execution: ExecutionId,
    pub(crate) step: String,
    pub(crate) attempt: u32,
    pub(crate) key: String,
    /// Absent for a task of the program.
    pub(crate) host: Option<String>,
}

impl InFlight {
    pub(crate) fn iter(&self) -> impl Iterator<Item = &Call> {
        self.calls.values()
    }

    /// Those of one process.
    pub(crate) fn of(&self, life: u32) -> impl Iterator<Item = &Call> {
        self.iter().filter(move |call| call.life == life)
    }

    /// A process is gone, and with it its calls.
    pub(crate) fn forget(&mut self, life: u32) {
        self.calls.retain(|_, call| call.life != life);
    }

    /// The only process is gone.
    pub(crate) fn forget_all(&mut self) {
        self.calls.clear();
    }
}

/// Takes a call off the list when it ends, however it ends.
struct Ending {
    life: Arc<Life>,
    number: u64,
}

impl Drop for Ending {
    fn drop(&mut self) {
        if !self.life.is_dead() {
            let node = self.life.node();
            self.life.with(|inside| {
                let ended = inside.in_flight.calls.remove(&self.number);
                if ended.is_some_and(|call| call.node != node) {
                    inside.marks.reach(Mark::CallGivenUp);
                }
            });
        }
    }
}

/// What a target does with a call.
#[derive(Debug, Clone)]
enum Reaction {
    Answers {
        after_ms: u64,
        value: String,
    },
    Fails {
        after_ms: u64,
        failure: Failure,
    },
    NeverAnswers,
    /// Does the work, but only so long after the attempt gave up.
    AnswersLate {
        late_ms: u64,
    },
    Kills,
    Panics,
}

/// Everything that can be called.
#[derive(Clone)]
pub(crate) struct Targets(pub(crate) Arc<Life>);

#[async_trait]
impl Caller for Targets {
    async fn call(&self, request: HttpRequest) -> Result<HttpAnswer, Failure> {
        let header = |name: &str| {
            let found = request.headers.iter().find(|(given, _)| given == name);
            found.map(|(_, value)| value.clone()).unwrap_or_default()
        };
        let host = request.url.split('/').nth(2).map(str::to_owned);
        let call = Call {
            life: self.0.number,
            node: self.0.node(),
            at_ms: self.0.lived_ms(),
            execution: header("X-Refire-Execution").parse().unwrap(),
            step: header("X-Refire-Step"),
            attempt: header("X-Refire-Attempt").parse().unwrap(),
            key: header("Idempotency-Key"),
            host,
        };
        let flow = request.url.split('/').nth(3).unwrap_or_default().to_owned();
        let token = request.body.as_deref().and_then(called_back::token_in);
        let answer = tokio::select! {
            biased;
            answer = self.called(&flow, call, request.timeout, token) => Some(answer),
            () = self.too_long(request.timeout) => None,
        };
        self.0.alive().await;
        let value = answer.unwrap_or_else(|| {
            self.0.say("a call times out");
            Err(Failure::new(ErrorClass::ReadTimeout, "no answer in time"))
        })?;
        let output = format!(r#"{{"status":200,"headers":{{}},"body":{value}}}"#);
        Ok(HttpAnswer::new(200, Json::parse(output).unwrap()))
    }
}

impl Targets {
    /// Returns when a call has taken too long. What came while the process stood still is there when
    /// it goes on, whatever time it is by then.
    async fn too_long(&self, timeout: Duration) {
        tokio::time::sleep(timeout).await;
        if self.0.is_paused() {
            self.0.alive().await;
            self.0.sleep_ms(WAKES_WITHIN_MS).await;
        }
    }

    /// A task of the program; the engine itself watches its time.
    pub(crate) async fn task(
        self,
        flow: String,
        context: TaskContext,
        timeout: Duration,
    ) -> Result<Json, TaskError> {
        let call = Call {
            life: self.0.number,
            node: self.0.node(),
            at_ms: self.0.lived_ms(),
            execution: context.execution,
            step: context.step,
            attempt: context.attempt,
            key: context.idempotency_key,
            host: None,
        };
        match self.called(&flow, call, timeout, None).await {
            Ok(value) => Ok(Json::parse(value).unwrap()),
            Err(failure) if failure.retryable => Err(TaskError::new(failure.message)),
            Err(failure) => Err(TaskError::permanent(failure.message)),
        }
    }

    async fn called(
        &self,
        flow: &str,
        call: Call,
        timeout: Duration,
        token: Option<String>,
    ) -> Result<String, Failure> {
        let life = &self.0;
        self.leaves(&call);
        life.alive().await;
        let text = life.with(|inside| {
            let name = inside.trace.name(call.execution);
            format!("{name}.{}#{}", call.step, call.attempt)
        });
        life.say(&format!("call {text}"));
        life.with(|inside| inside.calls_made += 1);
        life.tempt();
        let (number, mut reaction) = self.arrive(flow, &call, timeout);
        life.alive().await;
        let _ending = Ending {
            life: Arc::clone(life),
            number,
        };
        if life.with(|inside| self.rolls_crash(inside, |rates| rates.crash_before_call)) {
            life.crash(&format!("before {text}"), Some(Mark::CrashBeforeCall))
                .await;
        }
        if life.with(|inside| self.rolls_crash(inside, |rates| rates.crash_in_call)) {
            let after = life.with(|inside| *inside.target_dice.pick(&[0, 0, 1, 30]));
            life.sleep_ms(after).await;
            life.crash(&format!("during {text}"), Some(Mark::CrashDuringCall))
                .await;
        }
        self.is_held_up(&text, &mut reaction, timeout);
        if let Some(token) = token {
            let spot = life.world.plan.spot(flow, &call.step);
            life.with(|inside| {
                called_back::make_up(&life.world, inside, (&call, spot), &token);
            });
        }
        match reaction {
            Reaction::Answers { after_ms, value } => {
                life.sleep_ms(after_ms).await;
                life.with(|inside| {
                    if inside
                        .judge
                        .was_lost(call.execution, &call.step, call.attempt)
                    {
                        inside.marks.reach(Mark::LateResult);
                    }
                });
                life.say(&format!("{text} succeeds"));
                Ok(value)
            }
            Reaction::Fails { after_ms, failure } => {
                life.sleep_ms(after_ms).await;
                life.say(&format!("{text} fails: {}", failure.class));
                Err(failure)
            }
            Reaction::NeverAnswers => std::future::pending().await,
            Reaction::AnswersLate { late_ms } => {
                tokio::spawn(late(Arc::clone(life), call, timeout, late_ms));
                std::future::pending().await
            }
            Reaction::Kills => {
                let violation = life.with(|inside| inside.judge.killed_by(&call).err());
                if let Some(violation) = violation {
                    life.check(|_| Err(violation));
                }
                life.crash(&format!("by {text}"), Some(Mark::CrashDuringCall))
                    .await;
                std::future::pending().await
            }
            Reaction::Panics => {
                life.say(&format!("{text} panics"));
                life.reach(match call.host {
                    Some(_) => Mark::AttemptPanicked,
                    None => Mark::TaskPanicked,
                });
                std::panic::resume_unwind(Box::new("a call panics"))
            }
        }
    }

    /// The process lets the call go: from here on nothing can hold it back, only up.
    fn leaves(&self, call: &Call) {
        let life = &self.0;
        if life.is_dead() || !life.world.is_shared() {
            return;
        }
        let (node, now) = (life.node(), life.world.now());
        let lease = life.world.plan.nodes.lease;
        life.check(|inside| {
            let judge = &inside.judge;
            life.world
                .disk
                .look(|image| judge.may_call(image, call, node, (now, lease)))
        });
    }

    /// The judge looks at the call; what its target will do is rolled.
    fn arrive(&self, flow: &str, call: &Call, timeout: Duration) -> (u64, Reaction) {
        let life = &self.0;
        let (now, node) = (life.now(), life.node());
        let caller = By {
            life: life.number,
            node,
            knows_until_ms: life.knows_until(),
            is_shared: life.world.is_shared(),
            own_now: life.own_now().unwrap_or(now),
        };
        life.check(|inside| {
            let Inside { judge, marks, .. } = inside;
            life.world
                .disk
                .look(|image| judge.call(image, call, (&caller, now), marks))?;
            match life.world.plan.is_prompt && !caller.is_shared {
                true => judge.is_on_time(call, life.began, now),
                false => Ok(()),
            }
        });
        life.check(|inside| {
            let number = inside.in_flight.next;
            inside.in_flight.next += 1;
            inside.in_flight.calls.insert(number, call.clone());
            inside
                .judge
                .limits(&inside.in_flight, call, &life.world.plan.limits)
        });
        life.with(|inside| {
            let number = inside.in_flight.next - 1;
            let rates = &life.world.plan.rates;
            if !inside.healed && inside.target_dice.chance(rates.twice) {
                inside.marks.reach(Mark::HeardTwice);
                let _ = inside.judge.heard(call);
            }
            (number, self.reaction(inside, flow, call, timeout))
        })
    }

    fn rolls_crash(&self, inside: &mut Inside, rate: fn(&crate::plan::Rates) -> u32) -> bool {
        let plan = &self.0.world.plan;
        inside.may_crash(plan) && inside.target_dice.chance(rate(&plan.rates))
    }

    /// In the middle of a call its process stands still, or cannot renew its lease while the target
    /// takes its time: when the answer comes, the attempt may be another's.
    fn is_held_up(&self, text: &str, reaction: &mut Reaction, timeout: Duration) {
        let life = &self.0;
        let plan = &life.world.plan;
        let Reaction::Answers { after_ms, .. } = reaction else {
            return;
        };
        let is_patient = timeout >= Duration::from_millis(UNRENEWED_MS);
        let rate = plan.nodes.held_up * if is_patient { PATIENT_TIMES } else { 1 };
        let rolled = life.with(|inside| {
            let may_be = life.world.is_shared() && inside.may_crash(plan);
            let dice = &mut inside.target_dice;
            if !may_be || !dice.chance(rate) {
                return None;
            }
            inside.crashes += 1;
            Some(match is_patient {
                true => {
                    *after_ms = *dice.pick(&[7_000, 12_000, 17_000, 22_000]);
                    None
                }
                false => Some(*dice.pick(&[12_000, 18_000, 30_000, 45_000])),
            })
        });
        match rolled {
            Some(Some(ms)) => {
                life.say(&format!("it stands still during {text} for {ms} ms"));
                life.pause(ms);
            }
            Some(None) => {
                life.say(&format!("its lease cannot be renewed during {text}"));
                life.cut_lease(UNRENEWED_MS);
            }
            None => {}
        }
    }

    fn reaction(
        &self,
        inside: &mut Inside,
        flow: &str,
        call: &Call,
        timeout: Duration,
    ) -> Reaction {
        let plan = &self.0.world.plan;
        let spot = plan.spot(flow, &call.step);
        let is_local = call.host.is_none();
        let may_crash = inside.may_crash(plan);
        let dice = &mut inside.target_dice;
        let after_ms = *dice.pick(&[0, 1, 1, 5, 5, 10, 50, 200]);
        // A result says which attempt it is of: it must be recorded as that one's.
        let (step, attempt) = (&call.step, call.attempt);
        let value = dice.below(100);
        let value = format!(r#"{{"value":{value},"step":"{step}","attempt":{attempt}}}"#);
        let well = Reaction::Answers { after_ms, value };
        let broken = Failure::new(ErrorClass::HttpStatus, "it is broken").with_code("400");
        if inside.healed {
            return match spot.ends_well {
                true => well,
                false => Reaction::Fails {
                    after_ms,
                    failure: broken,
                },
            };
        }
        if dice.chance(plan.rates.panic_in_call) {
            return Reaction::Panics;
        }
        let fails = |failure| Reaction::Fails { after_ms, failure };
        match spot.mood {
            Mood::Fine => well,
            Mood::Flaky(rate) if dice.chance(rate) => {
                misbehaviour(dice, (after_ms, timeout), is_local, attempt)
            }
            Mood::Flaky(_) => well,
            Mood::Down => fails(failure(dice)),
            Mood::Slow if dice.chance(700) => Reaction::AnswersLate {
                late_ms: *dice.pick(&[1, 100, 3_000]),
            },
            Mood::Slow => well,
            Mood::Deadly if may_crash => Reaction::Kills,
            Mood::Deadly => fails(Failure::new(ErrorClass::Local, "it wanted to kill")),
            Mood::Unstorable => {
                inside.marks.reach(Mark::ResultUnstorable);
                Reaction::Answers {
                    after_ms,
                    value: format!("\"{POISON}\""),
                }
            }
        }
    }
}

fn misbehaviour(
    dice: &mut Dice,
    (after_ms, timeout): (u64, Duration),
    is_local: bool,
    attempt: u32,
) -> Reaction {
    match dice.below(10) {
        0 => Reaction::NeverAnswers,
        1 => Reaction::AnswersLate {
            late_ms: *dice.pick(&[1, 100, 3_000]),
        },
        2 => {
            // To the millisecond when the attempt gives up.
            let after_ms = u64::try_from(timeout.as_millis()).unwrap_or(0);
            let value = format!(r#"{{"when":"at the last moment","attempt":{attempt}}}"#);
            Reaction::Answers { after_ms, value }
        }
        3 if is_local => Reaction::Panics,
        _ => Reaction::Fails {
            after_ms,
            failure: failure(dice),
        },
    }
}

/// One of all the ways to fail.
fn failure(dice: &mut Dice) -> Failure {
    let status = |code: &str| {
        Failure::new(
            ErrorClass::HttpStatus,
            format!("the target answered {code}"),
        )
        .with_code(code)
    };
    match dice.below(24) {
        0..6 => status("503"),
        6..8 => status("500"),
        8 => status("404"),
        9 => status("409"),
        10..12 => Failure {
            retry_after_ms: Some(*dice.pick(&[0, 700, 3_000, 50_000])),
            ..status("429")
        },
        12 => Failure::new(ErrorClass::ConnectTimeout, "it cannot be reached"),
        13..16 => Failure::new(ErrorClass::ConnectionRefused, "it refuses"),
        16 => Failure::new(ErrorClass::ConnectionReset, "it hangs up"),
        17 => Failure::new(ErrorClass::Dns, "nobody knows it"),
        18 => Failure::new(ErrorClass::Tls, "it is not itself"),
        19 => Failure::new(ErrorClass::Redirect, "it is elsewhere"),
        20 => Failure::new(ErrorClass::InvalidResponse, "it mumbles"),
        21 => Failure::new(ErrorClass::ResponseTooLarge, "it talks too much"),
        // So large that the state is not written with every commit.
        22 => status("503").with_causes(vec!["why ".repeat(250); 20]),
        _ => Failure {
            response: Some("no".repeat(500)),
            ..status("502")
        },
    }
}

/// The target is done when nobody waits any more.
async fn late(life: Arc<Life>, call: Call, timeout: Duration, late_ms: u64) {
    tokio::time::sleep(timeout).await;
    life.sleep_ms(late_ms).await;
    life.with(|inside| {
        if !inside.judge.is_live(&call) {
            inside.marks.reach(Mark::LateAnswer);
        }
    });
    life.say("a late answer finds nobody");
}
