//! Workers of every kind, at work until they are told to stop: most do their tasks, some fail, some give
//! them back, some are never heard of again, some hang up while they wait.

use std::time::Duration;

use refire_retry::Seed;
use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;

use crate::RETRIES_MAX;
use crate::client::Client;
use crate::worker::{Account, Handed, Saying, Told, Worker};

/// How long a worker tries to get a certain answer.
const INSISTS_FOR: Duration = Duration::from_secs(3);
/// How long a worker works on a task.
const WORKS_FOR: Duration = Duration::from_millis(10);
/// How long a worker that hangs up waits before.
const HANGS_UP_AFTER: Duration = Duration::from_millis(30);
/// How long a worker waits for tasks, in seconds.
const WAITS: u32 = 1;
/// Before the next try when nobody answers.
const BACK_OFF: Duration = Duration::from_millis(20);

/// The two workflows that the load uses, all of whose steps are tasks.
pub(crate) async fn workflows(client: &Client) {
    let head = |id: &str| {
        format!(
            "id: {id}\nretry: {{ initialDelay: 50ms, strategy: fixed, jitter: none }}\nsteps:\n"
        )
    };
    let step = |id: &str, needs: &str| {
        format!(
            "  - id: {id}\n    type: external_task\n    needs: [{needs}]\n    config:\n      \
             taskType: work-{id}\n      retries: {}\n      lockDuration: 2s\n      timeout: 60s\n",
            RETRIES_MAX + 1
        )
    };
    let one = format!("{}{}", head("one"), step("first", ""));
    let first = step("first", "");
    let two = format!("{}{first}{}", head("two"), step("second", "first"));
    client.apply("one", &one).await;
    client.apply("two", &two).await;
}

/// See the module.
pub(crate) struct Crew {
    account: Account,
    stop: CancellationToken,
    working: Vec<JoinHandle<()>>,
}

impl Crew {
    pub(crate) fn start(client: &Client, workers: u32, seed: u64) -> Self {
        let (account, stop) = (Account::default(), CancellationToken::new());
        let work = |number: u32| {
            let worker = Worker::new(client, format!("worker-{number}"), &account);
            let dice = Dice {
                seed: Seed::new(seed).mix_u64(number.into()),
                rolls: 0,
            };
            tokio::spawn(work(worker, dice, stop.clone()))
        };
        let working = (0..workers).map(work).collect();
        Self {
            account: account.clone(),
            stop,
            working,
        }
    }

    /// Lets everybody finish what he has.
    pub(crate) async fn stop(self) -> Account {
        self.stop.cancel();
        for worker in self.working {
            worker.await.unwrap();
        }
        self.account
    }
}

struct Dice {
    seed: Seed,
    rolls: u32,
}

impl Dice {
    /// 0 to 99.
    fn roll(&mut self) -> u64 {
        self.rolls += 1;
        self.seed.mix_u64(self.rolls.into()).draw().below(100)
    }
}

async fn work(worker: Worker, mut dice: Dice, stop: CancellationToken) {
    while !stop.is_cancelled() {
        let types = if dice.roll() < 50 {
            "work-*"
        } else {
            "work-first,work-second"
        };
        let most = if dice.roll() < 70 { 1 } else { 4 };
        let poll = worker.poll(types, most, WAITS);
        let handed = if dice.roll() < 90 {
            poll.await
        } else {
            // What comes while it hangs up goes to somebody else.
            let polled = tokio::time::timeout(HANGS_UP_AFTER, poll).await;
            polled.unwrap_or_default()
        };
        if handed.is_empty() {
            tokio::time::sleep(BACK_OFF).await;
        }
        for one in &handed {
            do_it(&worker, one, dice.roll()).await;
        }
    }
}

async fn do_it(worker: &Worker, task: &Handed, roll: u64) {
    tokio::time::sleep(WORKS_FOR).await;
    let insist = |saying| worker.insist(task, saying, INSISTS_FOR);
    match roll {
        0..=49 => drop(insist(Saying::Complete).await),
        50..=59 => {
            worker.say(task, Saying::Heartbeat).await;
            insist(Saying::Complete).await;
        }
        60..=69 => {
            let word = worker.account.word();
            for _ in 0..2 {
                let (word, saying) = (word.clone(), Saying::Complete);
                worker.repeat(task, saying, word, INSISTS_FOR).await;
            }
        }
        70..=79 => drop(insist(Saying::Fail { retryable: true }).await),
        80..=81 => drop(insist(Saying::Fail { retryable: false }).await),
        82..=87 => drop(insist(Saying::Unlock).await),
        88..=91 => {
            worker.say(task, Saying::Extend { seconds: 5 }).await;
            insist(Saying::Complete).await;
        }
        92..=95 => {
            // Somebody who guesses the lock.
            let token = format!("lk_{}", "a".repeat(task.token.len() - 3));
            let forged = Handed {
                token,
                ..task.clone()
            };
            let told = worker.say(&forged, Saying::Complete).await;
            assert_ne!(told, Told::Taken, "{forged:?}");
            insist(Saying::Complete).await;
        }
        // It is never heard of again.
        _ => {}
    }
}
