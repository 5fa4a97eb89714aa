//! Which parts are written together.

use refire_core::definition::WorkflowId;
use refire_core::execution::Status;
use refire_core::id::{ExecutionId, NodeId, TriggerId};
use refire_core::time::Timestamp;
use refire_core::trigger::{End, State};

use super::{Stage, stages};
use crate::{
    Admit, Advance, Batch, Begin, Bounds, Claim, ExecutionRow, Fire, IdempotencyClaim, Part, Prune,
    Release, RowUpdate, TriggerEnd, Want, WorkChange, WorkKey,
};

const NODE: NodeId = NodeId::from_bytes([7; 16]);
const NOW: Timestamp = Timestamp::from_millis(1_800_000_000_000);

fn id(n: u8) -> ExecutionId {
    ExecutionId::from_bytes([n; 16])
}

fn workflow() -> WorkflowId {
    WorkflowId::new("orders").unwrap()
}

fn update() -> RowUpdate {
    RowUpdate {
        version: 1,
        status: Status::Pending,
        compensating: false,
        updated_at: NOW,
        retry_count: 0,
        next_retry_at: None,
        snapshot: None,
    }
}

fn admit(n: u8, key: Option<u8>) -> Part {
    Part::Admit(Box::new(Admit {
        row: ExecutionRow {
            id: id(n),
            workflow: workflow(),
            workflow_version: 1,
            trigger: "manual",
            trigger_id: None,
            priority: 5,
            created_at: NOW,
            parent: None,
            root: id(n),
            update: update(),
        },
        events: Vec::new(),
        tasks: Vec::new(),
        work: Vec::new(),
        claim: key.map(|key| IdempotencyClaim {
            scope: "orders".to_owned(),
            key_hash: [key; 16],
            body_hash: [0; 8],
            expires_at: NOW,
            over: None,
        }),
        letter: None,
        only_newest: false,
        trigger: None,
        request: None,
        new_letter: None,
        settle: None,
        end: None,
        bulk: None,
        notices: Vec::new(),
    }))
}

fn advance(n: u8, work: Vec<WorkChange>) -> Part {
    Part::Advance(Box::new(Advance {
        id: id(n),
        expected_version: 1,
        begun: None,
        seen: None,
        update: update(),
        events: Vec::new(),
        work,
        tasks: Vec::new(),
        callbacks: Vec::new(),
        new_letter: None,
        settle: None,
        end: None,
        notices: Vec::new(),
    }))
}

fn trigger(n: u8) -> TriggerId {
    TriggerId::from_bytes([n; 16])
}

/// A step of a trigger's plan, perhaps with an execution.
fn fire(n: u8, admission: Option<Part>) -> Part {
    let admission = admission.map(|part| match part {
        Part::Admit(admit) => admit,
        other => panic!("{other:?}"),
    });
    Part::Fire(Box::new(Fire {
        trigger: trigger(n),
        version: 1,
        rev: 1,
        state: State::default(),
        slots: Vec::new(),
        extends: false,
        by_hand: false,
        admission,
        notices: Vec::new(),
    }))
}

/// An execution ends, which its trigger is told.
fn ending(n: u8, of: u8) -> Part {
    let Part::Advance(mut advance) = advance(n, vec![]) else {
        panic!("an advance");
    };
    advance.end = Some(TriggerEnd {
        trigger: trigger(of),
        end: End {
            execution: id(n),
            success: true,
            slot: None,
            at: NOW,
        },
    });
    Part::Advance(advance)
}

fn key(n: u8) -> WorkKey {
    WorkKey {
        execution: id(n),
        step: "a".to_owned(),
    }
}

fn begin(n: u8) -> Part {
    Part::Begin(Begin {
        node: NODE,
        work: vec![(key(n), 1)],
    })
}

fn release(n: u8) -> Part {
    Part::Release(Release {
        node: NODE,
        work: vec![(key(n), None)],
    })
}

fn claim(bounds: Option<Bounds>) -> Part {
    Part::Claim(Claim {
        node: NODE,
        wants: vec![Want {
            bounds,
            ..Want::any(workflow(), 3)
        }],
    })
}

/// `g` for a group, `1` for a part that stands alone.
fn shape(parts: Vec<Part>) -> String {
    let batch = Batch {
        now: NOW,
        parts,
        ..Batch::default()
    };
    let stages = stages(&batch);
    stages
        .iter()
        .map(|stage| match stage {
            Stage::Group(_) => 'g',
            Stage::Single(..) => '1',
        })
        .collect()
}

#[test]
fn what_nodes_send_most_is_one_group() {
    let parts = vec![
        advance(1, vec![WorkChange::RemoveAll]),
        begin(2),
        admit(3, Some(1)),
        advance(4, Vec::new()),
        admit(5, None),
        release(6),
        begin(1),
        claim(None),
        claim(None),
    ];
    assert_eq!(shape(parts), "g");
}

#[test]
fn a_second_word_about_the_same_begins_a_group() {
    assert_eq!(shape(vec![advance(1, vec![]), advance(1, vec![])]), "gg");
    assert_eq!(shape(vec![admit(1, None), advance(1, vec![])]), "gg");
    assert_eq!(shape(vec![admit(1, Some(1)), admit(2, Some(1))]), "gg");
    assert_eq!(shape(vec![begin(1), advance(1, vec![])]), "gg");
    assert_eq!(shape(vec![release(1), advance(1, vec![])]), "gg");
    assert_eq!(shape(vec![release(1), begin(1)]), "gg");
    assert_eq!(shape(vec![claim(None), begin(1)]), "gg");
    // In the order in which a group is written.
    assert_eq!(shape(vec![advance(1, vec![]), begin(1), release(1)]), "g");
}

#[test]
fn fires_and_ends_are_one_group_in_their_order() {
    let parts = vec![
        admit(1, None),
        fire(1, Some(admit(2, None))),
        fire(2, None),
        ending(3, 1),
        ending(4, 1),
    ];
    assert_eq!(shape(parts), "g");
    assert_eq!(shape(vec![fire(1, None), fire(1, None)]), "gg");
    assert_eq!(shape(vec![ending(1, 1), fire(1, None)]), "gg");
    assert_eq!(shape(vec![ending(1, 1), fire(2, None)]), "g");
    assert_eq!(
        shape(vec![admit(1, None), fire(1, Some(admit(1, None)))]),
        "gg"
    );
    // What else may refuse its execution is asked for first.
    assert_eq!(shape(vec![fire(1, Some(admit(1, Some(1))))]), "1");
    let parts = vec![fire(1, None), Part::LogRequests(Vec::new()), fire(2, None)];
    assert_eq!(shape(parts), "g1g");
}

#[test]
fn what_must_ask_first_stands_alone() {
    let bounds = Bounds {
        max: None,
        max_per_key: Some(1),
    };
    let parts = vec![
        admit(1, None),
        claim(Some(bounds)),
        admit(2, None),
        advance(3, vec![WorkChange::RemoveUnbegun]),
        Part::Prune(Prune::IdempotencyKeys { limit: 1 }),
        begin(1),
    ];
    assert_eq!(shape(parts), "g1g11g");
}
