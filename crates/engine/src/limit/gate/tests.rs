//! What a node lets through, by where a breaker stands.

use refire_core::breaker::Move;
use refire_core::id::NodeId;

use super::*;

const HOST: &str = "a.example";
const NODE: NodeId = NodeId::from_bytes([1; 16]);

fn at(millis: i64) -> Timestamp {
    Timestamp::from_millis(1_800_000_000_000 + millis)
}

fn call(gates: &mut Gates, verdict: Verdict, now: Timestamp) -> Option<Duration> {
    let limits = Limits::default();
    gates.note(&limits, (HOST, false), (verdict, "503"), now)
}

fn check(gates: &mut Gates, used: u32, now: Timestamp) -> Result<(), Blocked> {
    gates.check(&Limits::default(), (HOST, used), now)
}

/// Makes the move that is told, as whoever writes it does.
fn moved(gates: &mut Gates, step: &Move, now: Timestamp) -> Breaker {
    let known = gates.breaker(HOST);
    let known = known.unwrap_or_else(|| Breaker::closed(HOST));
    let next = known.after(step, now).unwrap();
    gates.apply(&next);
    next
}

fn opened(now: Timestamp) -> (Gates, Breaker) {
    let mut gates = Gates::default();
    for _ in 0..5 {
        assert_eq!(check(&mut gates, 0, now), Ok(()));
        call(&mut gates, Verdict::Bad, now);
    }
    let cause = "5 calls in a row failed, the last one by 503".to_owned();
    let told = Told::Tripped(cause.clone());
    assert_eq!(gates.take_told(), [(HOST.to_owned(), told)]);
    assert!(
        check(&mut gates, 0, now).is_err(),
        "also before it is written"
    );
    let breaker = moved(&mut gates, &Move::Trip { cause }, now);
    (gates, breaker)
}

fn claim() -> Move {
    let timeout = Duration::from_secs(30);
    Move::Claim {
        node: NODE,
        timeout,
    }
}

fn probed(gates: &mut Gates, breaker: &Breaker, verdict: Verdict) -> Vec<(String, Told)> {
    let now = breaker.until.unwrap();
    assert_eq!(check(gates, 0, now), Err(Blocked::Probe));
    assert!(gates.ask(HOST) && !gates.ask(HOST));
    moved(gates, &claim(), now);
    gates.asked(HOST, Some(Duration::from_secs(30)), now);
    assert_eq!(check(gates, 0, now), Ok(()));
    assert!(gates.pass(HOST), "it is the one");
    assert!(check(gates, 0, now).is_err(), "and the only one");
    assert_eq!(gates.still((HOST, true), now), Ok(()));
    let late = now.plus(Duration::from_secs(6));
    assert!(
        gates.still((HOST, true), late).is_err(),
        "it would not be done in time"
    );
    gates.note(&Limits::default(), (HOST, true), (verdict, "503"), now);
    gates.take_told()
}

#[test]
fn an_open_breaker_lets_nothing_through() {
    let (mut gates, breaker) = opened(at(0));
    let until = breaker.until.unwrap();
    assert_eq!(check(&mut gates, 0, at(1)), Err(Blocked::Breaker(until)));
    let limits = Limits::default();
    assert_eq!(gates.room(&limits, (HOST, 0, 0), at(1)), (0, 0));
    assert_eq!(
        gates.still((HOST, false), at(1)),
        Err(Blocked::Breaker(until))
    );
    assert_eq!(
        gates.room(&limits, (HOST, 3, 0), until),
        (1, 1),
        "one may try"
    );
    assert_eq!(gates.check(&limits, ("b.example", 0), at(1)), Ok(()));
    let off = Limits {
        breakers: false,
        ..Limits::default()
    };
    assert_eq!(gates.check(&off, (HOST, 0), at(1)), Ok(()));
    // What was under way when it opened says nothing new.
    call(&mut gates, Verdict::Bad, at(2));
    assert!(gates.take_told().is_empty());
}

#[test]
fn what_came_of_trying_is_told() {
    for (verdict, expected) in [
        (Verdict::Good, Told::Probed(None)),
        (Verdict::Limited, Told::Probed(None)),
        (Verdict::Bad, Told::Probed(Some("503".to_owned()))),
        (Verdict::Nothing, Told::GivenBack),
    ] {
        let (mut gates, breaker) = opened(at(0));
        let told = probed(&mut gates, &breaker, verdict);
        assert_eq!(told, [(HOST.to_owned(), expected)]);
    }
}

#[test]
fn what_nobody_takes_can_be_asked_for_again() {
    let (mut gates, breaker) = opened(at(0));
    let until = breaker.until.unwrap();
    assert!(gates.ask(HOST));
    gates.asked(HOST, None, until);
    let limits = Limits::default();
    assert_eq!(
        gates.room(&limits, (HOST, 0, 0), until),
        (0, 0),
        "not at once"
    );
    assert!(gates.ask(HOST), "another node had it");
    moved(&mut gates, &claim(), until);
    gates.asked(HOST, Some(Duration::ZERO), until);
    assert!(gates.untaken(HOST) && !gates.untaken(HOST));
    assert!(!gates.tries(HOST));
}

#[test]
fn calls_return_by_the_ramp_and_then_all_is_forgotten() {
    let (mut gates, breaker) = opened(at(0));
    gates.nodes = 1;
    probed(&mut gates, &breaker, Verdict::Good);
    let node = NODE;
    let mut now = breaker.until.unwrap();
    moved(&mut gates, &Move::Probed { node, failed: None }, now);
    gates.over(HOST);
    assert_eq!(check(&mut gates, 1, now), Ok(()));
    assert_eq!(check(&mut gates, 2, now), Err(Blocked::Ramp));
    let limits = Limits::default();
    let mut done = Vec::new();
    while done.is_empty() {
        now = now.plus(Duration::from_secs(1));
        assert!(now.since(breaker.until.unwrap()) < Duration::from_secs(60));
        call(&mut gates, Verdict::Good, now);
        done = gates.rise(&limits, now).0;
    }
    assert_eq!(done, [HOST]);
    moved(&mut gates, &Move::Risen, now);
    assert!(!gates.any_standing());
    assert_eq!(check(&mut gates, 100, now), Ok(()));
    (0..4).for_each(|_| {
        call(&mut gates, Verdict::Bad, now);
    });
    assert!(gates.take_told().is_empty(), "it counts anew");
}

#[test]
fn failures_while_calls_return_open_it_again() {
    let (mut gates, breaker) = opened(at(0));
    probed(&mut gates, &breaker, Verdict::Good);
    let now = breaker.until.unwrap();
    moved(
        &mut gates,
        &Move::Probed {
            node: NODE,
            failed: None,
        },
        now,
    );
    call(&mut gates, Verdict::Good, now);
    (0..5).for_each(|_| {
        call(&mut gates, Verdict::Bad, now);
    });
    let told = gates.take_told();
    assert!(
        matches!(&told[..], [(_, Told::Tripped(cause))] if cause.starts_with("5 of 6")),
        "{told:?}"
    );
}

#[test]
fn a_person_may_turn_a_breaker_off() {
    let mut gates = Gates::default();
    let by = "ann".to_owned();
    let to = refire_core::breaker::Forced::Closed;
    moved(&mut gates, &Move::Force { to, by }, at(0));
    (0..50).for_each(|_| {
        call(&mut gates, Verdict::Bad, at(1));
    });
    assert!(gates.take_told().is_empty());
    assert_eq!(check(&mut gates, 0, at(1)), Ok(()));
}

#[test]
fn a_target_that_fails_often_is_left_alone_for_longer() {
    let mut gates = Gates::default();
    for n in 0..12 {
        let verdict = if n % 4 == 0 {
            Verdict::Good
        } else {
            Verdict::Limited
        };
        call(&mut gates, verdict, at(n));
    }
    assert_eq!(call(&mut gates, Verdict::Good, at(20)), None);
    let wait = call(&mut gates, Verdict::Limited, at(21)).unwrap();
    assert!((2_000..4_000).contains(&wait.as_millis()), "{wait:?}");
}

#[test]
fn memory_is_bounded() {
    let mut gates = Gates::default();
    let limits = Limits::default();
    for n in 0..HOSTS_MAX + 50 {
        let host = format!("h{n}");
        gates.note(&limits, (&host, false), (Verdict::Good, ""), at(0));
    }
    assert!(gates.hosts.len() <= HOSTS_MAX + 1);
}
