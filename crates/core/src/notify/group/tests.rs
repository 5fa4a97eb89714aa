//! When groups are told of, played through in half seconds.

use super::*;

fn at(seconds: u64) -> Timestamp {
    Timestamp::from_millis(1_800_000_000_000).plus(Duration::from_secs(seconds))
}

fn facts() -> Facts {
    Facts::new("orders", at(0))
}

fn begin(kind: NoticeKind) -> Group {
    Group::begin(kind, None, "s", &facts(), at(0)).unwrap()
}

/// Goes through a group's time in half seconds; what is over is found by `is_over`. The messages, each with its
/// second.
fn play(
    group: &mut Group,
    seconds: u64,
    mut each: impl FnMut(u64, &mut Group),
    is_over: impl Fn(u64) -> bool,
) -> Vec<(u64, Phase, u64, u64)> {
    let mut told = Vec::new();
    for half in 0..seconds * 2 {
        let now = at(0).plus(Duration::from_millis(half * 500));
        let second = half / 2;
        if half % 2 == 0 {
            each(second, group);
        }
        if group.due_at() > now && !group.is_watched() {
            continue;
        }
        let phase = match group.turn(now) {
            Some(Turn::Tell(phase)) => phase,
            Some(Turn::Look) if is_over(second) => {
                group.over(now);
                continue;
            }
            Some(Turn::Look) if group.is_to_be_reminded_of(now) => Phase::Reminder,
            _ => continue,
        };
        let message = group.tell(phase, now);
        told.push((second, phase, message.count, message.increase));
    }
    told
}

#[test]
fn a_storm_is_few_messages() {
    let mut group = begin(NoticeKind::DeadLetterCreated);
    let more = |second: u64, group: &mut Group| {
        if second < 700 {
            for _ in 0..100 {
                group.add(NoticeKind::DeadLetterCreated, &facts(), at(second));
            }
        }
    };
    let told = play(&mut group, 1_500, more, |_| false);
    let phases: Vec<_> = told
        .iter()
        .map(|(second, phase, ..)| (*second, *phase))
        .collect();
    assert_eq!(
        phases,
        [
            (0, Phase::First),
            (60, Phase::More),
            (360, Phase::More),
            (660, Phase::More),
            (960, Phase::More)
        ]
    );
    let total: u64 = told.iter().map(|(.., increase)| increase).sum();
    assert_eq!(total, 70_001);
    assert_eq!(told.last().unwrap().2, 70_001);
    assert_eq!(group.newest.len(), 5);
}

#[test]
fn what_is_not_over_is_told_again_and_its_end_once() {
    let mut group = begin(NoticeKind::DeadLetterCreated);
    let told = play(&mut group, 9 * 3_600, |_, _| {}, |second| second > 30_000);
    let phases: Vec<_> = told
        .iter()
        .map(|(second, phase, ..)| (*second, *phase))
        .collect();
    assert_eq!(
        phases,
        [
            (0, Phase::First),
            (14_400, Phase::Reminder),
            (28_800, Phase::Reminder),
            (30_001, Phase::Over)
        ]
    );
    assert_eq!(group.turn(at(30_001 + 601)), Some(Turn::Forget));
}

#[test]
fn what_begins_again_keeps_its_pace() {
    let mut group = begin(NoticeKind::AlertFiring);
    let steps = |second: u64, group: &mut Group| match second {
        5 | 20 => group.add(NoticeKind::AlertResolved, &facts(), at(second)),
        10 => group.add(NoticeKind::AlertFiring, &facts(), at(second)),
        _ => {}
    };
    let told = play(&mut group, 100, steps, |_| false);
    let phases: Vec<_> = told
        .iter()
        .map(|(second, phase, ..)| (*second, *phase))
        .collect();
    // The second firing waits for its minute, and is over before: so people are told of its end once more.
    assert_eq!(
        phases,
        [(0, Phase::First), (5, Phase::Over), (20, Phase::Over)]
    );
}

#[test]
fn an_end_without_a_beginning_is_nothing() {
    assert_eq!(
        Group::begin(NoticeKind::BreakerClosed, None, "h", &facts(), at(0)),
        None
    );
    // Over before anybody was told: the message still comes, and no second one.
    let mut group = begin(NoticeKind::BreakerOpened);
    group.add(NoticeKind::BreakerClosed, &facts(), at(0));
    let told = play(&mut group, 100, |_, _| {}, |_| false);
    assert_eq!(told.len(), 1);
    assert_eq!(told[0].1, Phase::First);
}

#[test]
fn missed_slots_are_told_and_forgotten() {
    let mut group = begin(NoticeKind::TriggerMissed);
    let told = play(&mut group, 100, |_, _| {}, |_| false);
    assert_eq!(told.len(), 1);
    assert_eq!(group.turn(at(601)), Some(Turn::Forget));
}

#[test]
fn groups_differ_by_all_they_have_in_common() {
    let workflow = WorkflowId::new("orders").unwrap();
    let ids = [
        group_id(Family::DeadLetter, None, "a"),
        group_id(Family::DeadLetter, None, "b"),
        group_id(Family::DeadLetter, Some(&workflow), "a"),
        group_id(Family::Breaker, None, "a"),
    ];
    for (n, one) in ids.iter().enumerate() {
        assert!(ids[n + 1..].iter().all(|other| other != one));
    }
}
