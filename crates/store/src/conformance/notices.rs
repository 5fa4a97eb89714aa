//! Notices, their groups, and channels: written with what they are about, taken once, told of once.

use std::time::Duration;

use refire_core::definition::WorkflowId;
use refire_core::execution::Outcome;
use refire_core::id::{ChannelId, GroupId, NoticeId};
use refire_core::notify::{FactName, Facts, NoticeKind};
use refire_core::time::Timestamp;

use super::Lab;
use super::stage::{BEGINNING, Stage, http, two_steps};
use crate::{
    CHANNELS_MAX, ChannelChange, ChannelRow, ExecutionFilter, GroupChange, GroupRow, MoveGroups,
    NewNotice, Part, PartOutcome, Stretch,
};

fn at(seconds: u64) -> Timestamp {
    BEGINNING.plus(Duration::from_secs(seconds))
}

fn notice(n: u8) -> NewNotice {
    let facts = Facts::new("orders \u{0} é", at(1))
        .text("HTTP 503 \u{0}")
        .fact(FactName::Step, "pay");
    NewNotice {
        id: NoticeId::from_bytes([n; 16]),
        kind: NoticeKind::DeadLetterCreated,
        workflow: n
            .is_multiple_of(2)
            .then(|| WorkflowId::new("orders").unwrap()),
        subject: format!("subject \u{0} {n}"),
        facts,
    }
}

fn group(channel: u8, id: u8, rev: u64, due: u64) -> GroupRow {
    GroupRow {
        channel: ChannelId::from_bytes([channel; 16]),
        id: GroupId::from_bytes([id; 16]),
        rev,
        due_at: at(due),
        state: format!("{{\"rev\":{rev}}}").into_bytes(),
    }
}

fn change(row: GroupRow) -> GroupChange {
    GroupChange {
        row,
        is_gone: false,
    }
}

fn channel(n: u8, version: u32) -> ChannelRow {
    ChannelRow {
        id: ChannelId::from_bytes([n; 16]),
        version,
        enabled: version % 2 == 1,
        settings: format!("{{\"name\":\"ops {n}\"}}").into_bytes(),
        secrets: (version > 1).then(|| vec![0, version as u8]),
        created_at: at(0),
        updated_at: at(version.into()),
    }
}

impl Stage {
    async fn waiting(&self) -> Vec<NewNotice> {
        self.store.notices(100).await.unwrap()
    }

    async fn groups_at(&self, seconds: u64) -> Vec<GroupRow> {
        self.store.due_groups(at(seconds), 100).await.unwrap()
    }

    async fn moves(&mut self, moved: MoveGroups) -> PartOutcome {
        self.commit_one(Part::MoveGroups(Box::new(moved))).await
    }

    async fn channel(&mut self, change: ChannelChange) -> bool {
        match self.commit_one(Part::ChangeChannel(Box::new(change))).await {
            PartOutcome::Touched(was) => was,
            other => panic!("{other:?}"),
        }
    }
}

pub async fn a_notice_is_written_with_what_it_is_about(lab: &dyn Lab) {
    let mut stage = Stage::open(lab).await;
    let workflow = stage.save(&two_steps("orders")).await;
    let mut run = stage.admit(&workflow, "{}").await;
    let report = stage.report(&run, "a", Outcome::Failed(http("400")));
    let mut advance = stage.decide(&mut run, report);
    assert!(advance.new_letter.is_some(), "it fails for good");
    advance.notices = vec![notice(2), notice(1)];
    let mut stale = advance.clone();
    stale.expected_version += 1;
    let outcome = stage.commit_one(Part::Advance(Box::new(stale))).await;
    assert_eq!(outcome, PartOutcome::Conflict);
    assert_eq!(stage.waiting().await, [], "refused whole");
    let outcome = stage.commit_one(Part::Advance(Box::new(advance))).await;
    assert_eq!(outcome, PartOutcome::Done);
    assert_eq!(stage.waiting().await, [notice(1), notice(2)]);
    let (_, mut admit) = {
        let with = stage.plain_start("{}");
        stage.start(&workflow, with)
    };
    admit.notices = vec![notice(3)];
    let outcome = stage.commit_one(Part::Admit(Box::new(admit))).await;
    assert_eq!(outcome, PartOutcome::Done);
    assert_eq!(stage.waiting().await, [notice(1), notice(2), notice(3)]);
    assert_eq!(stage.store.notices(2).await.unwrap().len(), 2);
}

pub async fn a_notice_is_taken_once(lab: &dyn Lab) {
    let mut stage = Stage::open(lab).await;
    let workflow = stage.save(&two_steps("orders")).await;
    let (_, mut admit) = {
        let with = stage.plain_start("{}");
        stage.start(&workflow, with)
    };
    admit.notices = (1..=4).map(notice).collect();
    stage.commit_one(Part::Admit(Box::new(admit))).await;
    let take = |ids: &[u8], rows: Vec<GroupRow>| MoveGroups {
        taken: ids.iter().map(|n| NoticeId::from_bytes([*n; 16])).collect(),
        groups: rows.into_iter().map(change).collect(),
        admission: None,
    };
    let done = stage.moves(take(&[1, 2], vec![group(1, 1, 1, 5)])).await;
    assert_eq!(done, PartOutcome::Done);
    // One of them is gone: the other stays, and nothing is counted.
    let again = stage.moves(take(&[2, 3], vec![group(1, 1, 2, 6)])).await;
    assert_eq!(again, PartOutcome::Conflict);
    assert_eq!(stage.waiting().await, [notice(3), notice(4)]);
    assert_eq!(stage.groups_at(9).await, [group(1, 1, 1, 5)]);
    // The group is not as it was seen.
    for rev in [1, 3] {
        let stale = stage.moves(take(&[3], vec![group(1, 1, rev, 6)])).await;
        assert_eq!(stale, PartOutcome::Conflict);
    }
    let rows = vec![group(1, 1, 2, 4), group(2, 1, 1, 3)];
    assert_eq!(stage.moves(take(&[3], rows)).await, PartOutcome::Done);
    assert_eq!(stage.waiting().await, [notice(4)]);
    stage.store.close().await;
    stage = Stage::open(lab).await;
    assert_eq!(stage.waiting().await, [notice(4)]);
    assert_eq!(stage.groups_at(2).await, []);
    assert_eq!(stage.groups_at(3).await, [group(2, 1, 1, 3)]);
    let both = stage.groups_at(4).await;
    assert_eq!(both, [group(2, 1, 1, 3), group(1, 1, 2, 4)]);
    let wanted = [group(1, 1, 2, 4), group(1, 9, 1, 1)].map(|row| (row.channel, row.id));
    let found = stage.store.groups(&wanted).await.unwrap();
    assert_eq!(found, [group(1, 1, 2, 4)]);
    let gone = GroupChange {
        row: group(1, 1, 3, 0),
        is_gone: true,
    };
    let goes = MoveGroups {
        groups: vec![gone],
        ..MoveGroups::default()
    };
    assert_eq!(stage.moves(goes.clone()).await, PartOutcome::Done);
    assert_eq!(stage.moves(goes).await, PartOutcome::Conflict);
    assert_eq!(stage.groups_at(9).await, [group(2, 1, 1, 3)]);
}

pub async fn a_group_is_told_of_with_its_message(lab: &dyn Lab) {
    let mut stage = Stage::open(lab).await;
    let workflow = stage.save(&two_steps("orders")).await;
    let told = |stage: &mut Stage, rev| {
        let with = stage.plain_start("{}");
        let (run, admit) = stage.start(&workflow, with);
        let moved = MoveGroups {
            taken: Vec::new(),
            groups: vec![change(group(1, 1, rev, 9))],
            admission: Some(Box::new(admit)),
        };
        (run, moved)
    };
    let (run, first) = told(&mut stage, 1);
    assert_eq!(stage.moves(first.clone()).await, PartOutcome::Done);
    stage.check(&run).await;
    // Somebody else was faster: no second message.
    let (other, late) = told(&mut stage, 1);
    assert_eq!(stage.moves(late).await, PartOutcome::Conflict);
    assert_eq!(stage.store.execution(other.id).await.unwrap(), None);
    // A message that is refused leaves the group as it was.
    let mut twice = first;
    twice.groups = vec![change(group(1, 1, 2, 30))];
    assert_eq!(stage.moves(twice).await, PartOutcome::Conflict);
    assert_eq!(stage.groups_at(40).await, [group(1, 1, 1, 9)]);
}

pub async fn a_channel_changes_as_it_was_seen(lab: &dyn Lab) {
    let mut stage = Stage::open(lab).await;
    let put = |n, version| ChannelChange::Put(channel(n, version));
    assert!(stage.channel(put(2, 1)).await);
    assert!(!stage.channel(put(2, 1)).await, "it is there");
    assert!(!stage.channel(put(1, 2)).await, "it is not there");
    assert!(stage.channel(put(1, 1)).await);
    assert!(stage.channel(put(2, 2)).await);
    assert!(!stage.channel(put(2, 2)).await, "somebody was faster");
    stage.store.close().await;
    stage = Stage::open(lab).await;
    let all = stage.store.channels().await.unwrap();
    assert_eq!(all, [channel(1, 1), channel(2, 2)]);
    let rows = vec![change(group(1, 1, 1, 1)), change(group(2, 1, 1, 1))];
    let moved = MoveGroups {
        groups: rows,
        ..MoveGroups::default()
    };
    stage.moves(moved).await;
    let id = channel(1, 1).id;
    assert!(stage.channel(ChannelChange::Delete { id }).await);
    assert!(!stage.channel(ChannelChange::Delete { id }).await);
    assert_eq!(stage.store.channels().await.unwrap(), [channel(2, 2)]);
    assert_eq!(
        stage.groups_at(1).await,
        [group(2, 1, 1, 1)],
        "its groups go, too"
    );
}

pub async fn only_so_many_channels_are_kept(lab: &dyn Lab) {
    let mut stage = Stage::open(lab).await;
    for n in 0..CHANNELS_MAX {
        let n = u8::try_from(n).unwrap();
        assert!(
            stage.channel(ChannelChange::Put(channel(n, 1))).await,
            "{n}"
        );
    }
    assert!(!stage.channel(ChannelChange::Put(channel(200, 1))).await);
    assert!(stage.channel(ChannelChange::Put(channel(0, 2))).await);
    assert_eq!(stage.store.channels().await.unwrap().len(), CHANNELS_MAX);
}

/// What the server runs for itself is in no list of what people run.
pub async fn what_the_server_runs_is_in_no_list(lab: &dyn Lab) {
    let mut stage = Stage::open(lab).await;
    let orders = stage.save(&two_steps("orders")).await;
    let run = stage.admit(&orders, "{}").await;
    let own = stage.save(&two_steps(".own")).await;
    let hidden = stage.admit(&own, "{}").await;
    let listed = |filter: ExecutionFilter| {
        let store = std::sync::Arc::clone(&stage.store);
        async move {
            let rows = store.executions(&filter, &Stretch::new(None, 10)).await;
            let rows = rows.unwrap().rows;
            rows.iter().map(|row| row.id).collect::<Vec<_>>()
        }
    };
    assert_eq!(listed(ExecutionFilter::default()).await, [run.id]);
    let ids = ExecutionFilter {
        ids: Some(vec![hidden.id]),
        ..ExecutionFilter::default()
    };
    assert_eq!(listed(ids).await, []);
    let text = ExecutionFilter {
        text: Some("own".to_owned()),
        ..ExecutionFilter::default()
    };
    assert_eq!(listed(text).await, []);
    let named = ExecutionFilter::of_workflow(own.id.clone());
    assert_eq!(listed(named).await, [hidden.id]);
    let all = ExecutionFilter::default();
    let counted = stage.store.count_executions(&all, 10).await.unwrap();
    let one = ExecutionFilter::of_workflow(orders.id.clone());
    assert_eq!(
        counted,
        stage.store.count_executions(&one, 10).await.unwrap()
    );
    let open = stage.store.open_counts(None).await.unwrap();
    assert_eq!((open.executions, open.waiting), (1, 1));
    let rows = stage.store.workflows(None, 10).await.unwrap();
    assert_eq!(rows.len(), 1);
    let rows = stage.store.workflows_by_change(None, 10).await.unwrap();
    assert_eq!(rows.len(), 1);
    assert!(stage.store.workflow(&own.id).await.unwrap().is_some());
    let ready = stage.store.ready_workflows(stage.now).await.unwrap();
    assert!(ready.contains(&own.id), "it is run like all others");
    stage.check(&hidden).await;
}

pub async fn a_backup_has_notices_and_channels(lab: &dyn Lab) {
    let mut stage = Stage::open(lab).await;
    let workflow = stage.save(&two_steps("orders")).await;
    let (_, mut admit) = {
        let with = stage.plain_start("{}");
        stage.start(&workflow, with)
    };
    admit.notices = vec![notice(1)];
    stage.commit_one(Part::Admit(Box::new(admit))).await;
    stage.channel(ChannelChange::Put(channel(1, 1))).await;
    let moved = MoveGroups {
        groups: vec![change(group(1, 1, 1, 1))],
        ..MoveGroups::default()
    };
    stage.moves(moved).await;
    let target = lab.directory().join("copy");
    stage.store.backup(&target, &|_, _| {}).await.unwrap();
    let copy = lab.open_backup(&target).await;
    assert_eq!(copy.notices(9).await.unwrap(), [notice(1)]);
    assert_eq!(copy.channels().await.unwrap(), [channel(1, 1)]);
    assert_eq!(
        copy.due_groups(at(1), 9).await.unwrap(),
        [group(1, 1, 1, 1)]
    );
    copy.close().await;
}
