//! What happens to triggers: made, changed, fired, told of ends, asked from outside.

use std::time::Duration;

use refire_core::execution::{Execution, TriggerKind};
use refire_core::id::{ExecutionId, RequestId, TriggerId, WebhookId};
use refire_core::trigger::{End, Entry, LateReason, Outcome, SkipReason, State};
use refire_store::{
    Admit, ChangeTrigger, CreateTrigger, Fire, NewState, Part, Prune, RequestRow, RequestStatus,
    TriggerEnd, TriggerVersion,
};

use crate::history::History;

const KINDS: [TriggerKind; 4] = [
    TriggerKind::Cron,
    TriggerKind::Schedule,
    TriggerKind::Webhook,
    TriggerKind::Amqp,
];
/// What slots often become, so that stretches grow.
const OUTCOMES: [Outcome; 3] = [
    Outcome::Skipped(SkipReason::Missed),
    Outcome::Skipped(SkipReason::Dst),
    Outcome::Late(LateReason::Backfill),
];
/// One has a character that a text of a database may not be able to hold.
const ERRORS: [&str; 2] = ["missed", "a\u{0}b"];
/// Slots that one fire, or one change, writes at most; several of those fill a ledger.
const SLOTS_MAX: u64 = 90;
/// Requests of one chunk, at most; several such chunks fill a ring.
const REQUESTS_MAX: u64 = 500;

impl History {
    /// Anything about triggers.
    pub(crate) fn trigger_part(&mut self) -> Option<Part> {
        Some(match self.dice.below(28) {
            0..5 => self.create_trigger(),
            5..8 => self.change_trigger()?,
            8 => {
                let id = self.any_trigger();
                let workflow = self.workflow();
                Part::DeleteTrigger { id, workflow }
            }
            9..19 => self.fire(),
            24.. => self.put_scheduled(),
            19..22 => self.log_requests(),
            22 if self.dice.one_in(2) => Part::Prune(Prune::RequestsOf {
                trigger: self.any_trigger(),
                up_to: self.known_request(),
                limit: self.dice.small(300),
            }),
            22 => Part::Prune(Prune::Triggers {
                before: self.about_now(30),
                limit: self.dice.small(300),
            }),
            _ => Part::Prune(Prune::Requests {
                before: self.about_now(30),
                limit: self.dice.small(300),
            }),
        })
    }

    /// One that is known, mostly.
    pub(crate) fn any_trigger(&mut self) -> TriggerId {
        let known = self.dice.pick_from(self.known.triggers.keys()).copied();
        let known = known.filter(|_| !self.dice.one_in(15));
        known.unwrap_or(TriggerId::from_bytes([5; 16]))
    }

    pub(crate) fn plan(&mut self) -> State {
        let times: [_; 5] = std::array::from_fn(|_| {
            let at = self.about_now(60);
            self.dice.maybe(at)
        });
        let [cursor, due_at, buffered, watched_from, alarmed_at] = times;
        let running = self.dice.pick_from(self.known.executions.keys()).copied();
        State {
            cursor: cursor.unwrap_or_default(),
            due_at,
            running: running.filter(|_| self.dice.one_in(2)),
            buffered,
            watched_from,
            alarmed_at,
            ..State::default()
        }
    }

    pub(crate) fn bytes(&mut self) -> Vec<u8> {
        let length = self.dice.small(40) as usize;
        vec![u8::try_from(self.dice.below(256)).unwrap(); length]
    }

    fn create_trigger(&mut self) -> Part {
        let id = match self.dice.pick_from(self.known.triggers.keys()) {
            Some(taken) if self.dice.one_in(15) => *taken,
            _ => TriggerId::from_bytes(*self.id().as_bytes()),
        };
        let addresses = self.known.triggers.values();
        let taken = self.dice.pick_from(addresses).and_then(|it| it.row.webhook);
        let address = WebhookId::from_bytes(*self.id().as_bytes());
        let address = taken.filter(|_| self.dice.one_in(8)).unwrap_or(address);
        let (plan, secrets) = (self.plan(), self.bytes());
        Part::CreateTrigger(Box::new(CreateTrigger {
            id,
            workflow: self.workflow(),
            kind: self.dice.pick(&KINDS),
            enabled: !self.dice.one_in(4),
            settings: self.bytes(),
            secrets: self.dice.maybe(secrets),
            webhook: self.dice.maybe(address),
            state: (!self.dice.one_in(4)).then_some(plan),
        }))
    }

    fn change_trigger(&mut self) -> Option<Part> {
        let told = self.dice.pick_from(self.known.triggers.values())?.clone();
        let state = self.known.trigger_states.get(&told.row.id);
        let rev = state.map_or(0, |standing| standing.state.rev);
        let state = NewState {
            rev: rev + u64::from(self.dice.one_in(8)),
            state: self.plan(),
            slots: self.slots(),
            extends: self.dice.one_in(2),
        };
        let secrets = self.bytes();
        Some(Part::ChangeTrigger(Box::new(ChangeTrigger {
            id: told.row.id,
            workflow: told.row.workflow.clone(),
            version: told.row.version + u32::from(self.dice.one_in(8)),
            enabled: !self.dice.one_in(4),
            settings: self.bytes(),
            secrets: self.dice.maybe(secrets),
            state: self.dice.maybe(state),
        })))
    }

    fn fire(&mut self) -> Part {
        let trigger = self.any_trigger();
        let known = self.known.triggers.get(&trigger);
        let version = known.map_or(1, |told| told.row.version);
        let state = self.known.trigger_states.get(&trigger);
        let rev = state.map_or(1, |standing| standing.state.rev);
        let slots = self.slots();
        let admission = match self.admit() {
            Some(Part::Admit(mut admit)) if !self.dice.one_in(3) => {
                admit.end = None;
                if self.dice.one_in(4) {
                    admit.end = Some(self.end_of(admit.row.id, trigger));
                }
                if self.dice.one_in(2) {
                    (admit.claim, admit.letter, admit.trigger) = (None, None, None);
                }
                Some(admit)
            }
            _ => None,
        };
        Part::Fire(Box::new(Fire {
            trigger,
            version: version + u32::from(self.dice.one_in(10)),
            rev: rev + u64::from(self.dice.one_in(10)),
            state: self.plan(),
            slots,
            extends: self.dice.one_in(2),
            by_hand: self.dice.one_in(8),
            admission,
            notices: Vec::new(),
        }))
    }

    fn slots(&mut self) -> Vec<Entry> {
        let most = if self.dice.one_in(4) { SLOTS_MAX } else { 4 };
        let slots = (0..self.dice.below(most)).map(|_| self.slot());
        slots.collect()
    }

    fn slot(&mut self) -> Entry {
        let nominal = self.about_now(60);
        let execution = self.dice.pick_from(self.known.executions.keys()).copied();
        let (often, any) = (self.dice.pick(&OUTCOMES), self.dice.pick(&Outcome::ALL));
        Entry {
            nominal,
            to: nominal.plus(Duration::from_secs(self.dice.below(9))),
            count: 1 + self.dice.below(4),
            outcome: self.dice.maybe(any).unwrap_or(often),
            execution: execution.filter(|_| self.dice.one_in(4)),
            at: self.now,
        }
    }

    fn end_of(&mut self, execution: ExecutionId, trigger: TriggerId) -> TriggerEnd {
        let slot = self.about_now(60);
        let end = End {
            execution,
            success: !self.dice.one_in(3),
            slot: self.dice.maybe(slot),
            at: self.about_now(10),
        };
        TriggerEnd { trigger, end }
    }

    /// What a decision means for some trigger, mostly at the end of an execution.
    pub(crate) fn end(&mut self, id: ExecutionId, state: &Execution) -> Option<TriggerEnd> {
        let many = if state.status.is_terminal() { 2 } else { 12 };
        if !self.dice.one_in(many) {
            return None;
        }
        let waited_for = self.known.trigger_states.iter();
        let running = waited_for
            .filter(|(_, standing)| standing.state.running.is_some())
            .map(|(id, _)| *id);
        let running: Vec<TriggerId> = running.collect();
        let trigger = match self.dice.pick_from(running.iter()) {
            Some(trigger) if self.dice.one_in(2) => *trigger,
            _ => self.any_trigger(),
        };
        Some(self.end_of(id, trigger))
    }

    /// An execution that some request started.
    pub(crate) fn by_request(&mut self, admit: &mut Admit) {
        let told = self.dice.pick_from(self.known.triggers.values()).cloned();
        let Some(told) = told.filter(|_| self.dice.one_in(3)) else {
            return;
        };
        admit.trigger = Some(TriggerVersion {
            id: told.row.id,
            version: told.row.version + u32::from(self.dice.one_in(6)),
        });
        if let Some(claim) = &mut admit.claim
            && self.dice.one_in(2)
        {
            claim.scope = told.row.id.to_string();
        }
        if self.dice.one_in(2) {
            let mut request = self.request(told.row.id);
            (request.execution, request.status) = (Some(admit.row.id), RequestStatus::Triggered);
            admit.request = Some(Box::new(request));
        }
    }

    fn request(&mut self, trigger: TriggerId) -> RequestRow {
        let id = match self.dice.pick_from(self.known.requests.keys()) {
            Some(known) if self.dice.one_in(12) => *known,
            _ => RequestId::from_bytes(*self.id().as_bytes()),
        };
        let (body, error) = (self.bytes(), self.dice.pick(&ERRORS));
        let execution = self.dice.pick_from(self.known.executions.keys()).copied();
        RequestRow {
            id,
            trigger,
            at: self.now,
            status: self.dice.pick(&RequestStatus::ALL),
            source: "192.0.2.7".to_owned(),
            headers: self.bytes(),
            body: self.dice.maybe(body),
            body_bytes: self.dice.below(9_999),
            execution: execution.filter(|_| self.dice.one_in(3)),
            error: self.dice.maybe(error.to_owned()),
            is_test: self.dice.one_in(5),
        }
    }

    fn known_request(&mut self) -> RequestId {
        let known = self.dice.pick_from(self.known.requests.keys());
        known.copied().unwrap_or(RequestId::from_bytes([7; 16]))
    }

    fn log_requests(&mut self) -> Part {
        // The first trigger's ring fills up; the others' do not.
        let first = self.known.triggers.keys().next().copied();
        let (most, trigger) = match first {
            Some(first) if self.dice.one_in(3) => (REQUESTS_MAX, first),
            _ => (5, self.any_trigger()),
        };
        let requests = (0..self.dice.below(most)).map(|_| self.request(trigger));
        Part::LogRequests(requests.collect())
    }
}
