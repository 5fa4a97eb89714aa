//! Sending requests to webhooks, again and to several nodes.

use std::net::{IpAddr, Ipv4Addr};

use refire_core::id::{ExecutionId, TriggerId, WebhookId};
use refire_engine::trigger::{Incoming, Received};

use super::{Clients, word};
use crate::ledger::{Answer, Sent};
use crate::mark::Mark;
use crate::plan::Request;
use crate::world::{Inside, Violation};

/// How often a sender repeats a request that was not granted.
const SENDS_MAX: u32 = 4;

impl Clients {
    /// Somebody sends a request, to any node, several times at once.
    pub(super) fn send(&self, which: u64, request: &Request, times: u32) {
        let Some(hook) = self.hook(which) else {
            return;
        };
        for _ in 0..times {
            self.elsewhere().send_one(hook, request.clone(), SENDS_MAX);
        }
    }

    fn send_one(&self, hook: (TriggerId, WebhookId), request: Request, tries: u32) {
        let people = self.clone();
        self.doing.spawn(async move {
            let answer = people.ask(hook, &request).await;
            let is_done = matches!(answer, Answer::Done(_)) || tries <= 1;
            // Without a key it would be another request.
            if is_done || request.key.is_none() {
                return;
            }
            let wait = people.life.with(|inside| {
                let dice = &mut inside.people_dice;
                *dice.pick(&[1, 200, 3_000])
            });
            people.life.sleep_ms(wait).await;
            people.elsewhere().send_one(hook, request, tries - 1);
        });
    }

    async fn ask(&self, (trigger, webhook): (TriggerId, WebhookId), request: &Request) -> Answer {
        let life = &self.life;
        let Request { number, key } = *request;
        life.say(&format!("request {number} key {key:?}"));
        let sent = Sent {
            trigger,
            number,
            key,
        };
        let index = life.with(|inside| {
            let at_ms = inside.lived_ms;
            inside.ledger.request(sent.clone(), life.number, at_ms)
        });
        let mut headers = vec![("content-type".to_owned(), b"application/json".to_vec())];
        headers.extend(key.map(|key| ("idempotency-key".to_owned(), key_text(key).into_bytes())));
        let incoming = Incoming {
            source: IpAddr::V4(Ipv4Addr::LOCALHOST),
            query: String::new(),
            headers,
            body: request.body().into_bytes(),
            unread: None,
            is_test: false,
        };
        let received = self.engine.webhooks().receive(webhook, &incoming).await;
        life.alive().await;
        let answer = match received {
            Ok(Received::Triggered(id)) => {
                self.check_logged(id);
                Answer::Done(id)
            }
            Ok(Received::AlreadyProcessed { execution, .. }) => {
                life.with(|inside| repeated(inside, index, &sent));
                Answer::Done(execution)
            }
            Ok(_) => Answer::Refused,
            Err(error) => self.unable(&error),
        };
        if let Answer::Done(id) = answer {
            self.check_told(id, None);
        }
        life.say(&format!("request {number} is answered {}", word(answer)));
        life.with(|inside| inside.ledger.requests[index].answer = Some(answer));
        answer
    }

    /// What started an execution is in the log with it.
    fn check_logged(&self, id: ExecutionId) {
        let is_logged = self.life.world.disk.look(|image| {
            let mut requests = image.requests.values();
            requests.any(|row| row.execution == Some(id))
        });
        self.life.check(|_| match is_logged {
            true => Ok(()),
            false => Err(Violation::new(
                "a request that starts something is logged with it",
                id.to_string(),
            )),
        });
    }

    /// One of the webhooks.
    fn hook(&self, which: u64) -> Option<(TriggerId, WebhookId)> {
        self.life.world.disk.look(|image| {
            let told = image.triggers.values().filter(|told| told.row.enabled);
            let hooks: Vec<_> = told
                .filter_map(|told| Some((told.row.id, told.row.webhook?)))
                .collect();
            let index = usize::try_from(which % hooks.len().max(1) as u64).unwrap_or(0);
            hooks.get(index).copied()
        })
    }
}

/// The text of a key.
pub(crate) fn key_text(key: u64) -> String {
    format!("request key {key}")
}

/// Somebody was told that there was an equal one.
fn repeated(inside: &mut Inside, index: usize, sent: &Sent) {
    let own = &inside.ledger.requests[index];
    let others = inside.ledger.requests.iter().filter(|other| {
        let what = &other.what;
        !std::ptr::eq(*other, own) && what.trigger == sent.trigger && what.key == sent.key
    });
    let (mut at_once, mut unanswered) = (false, false);
    for other in others {
        at_once |= other.life != own.life && other.at_ms == own.at_ms;
        unanswered |= other.life != own.life && !matches!(other.answer, Some(Answer::Done(_)));
    }
    for (seen, mark) in [
        (at_once, Mark::RequestAtTwoNodes),
        (unanswered, Mark::RequestRepeatedUnanswered),
    ] {
        if seen {
            inside.marks.reach(mark);
        }
    }
}
