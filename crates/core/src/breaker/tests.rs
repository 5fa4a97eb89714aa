//! Tables of what counts, what opens and how a breaker moves, and what holds whatever happens.

use std::time::Duration;

use proptest::prelude::*;

use super::*;
use crate::failure::{ErrorClass, Failure};

const NODE: NodeId = NodeId::from_bytes([1; 16]);
const OTHER: NodeId = NodeId::from_bytes([2; 16]);

fn at(seconds: u64) -> Timestamp {
    Timestamp::from_millis(1_800_000_000_000).plus(Duration::from_secs(seconds))
}

fn trip() -> Move {
    Move::Trip {
        cause: "5 calls in a row failed".to_owned(),
    }
}

fn claim(node: NodeId) -> Move {
    let timeout = Duration::from_secs(30);
    Move::Claim { node, timeout }
}

fn probed(node: NodeId, failed: bool) -> Move {
    let failed = failed.then(|| "connection_refused".to_owned());
    Move::Probed { node, failed }
}

fn force(to: Forced) -> Move {
    let by = "ann".to_owned();
    Move::Force { to, by }
}

fn open(now: Timestamp) -> Breaker {
    Breaker::closed("a.example").after(&trip(), now).unwrap()
}

#[test]
fn what_counts_as_a_failure_of_the_target() {
    let status = |code: &str| Failure::new(ErrorClass::HttpStatus, "").with_code(code);
    assert_eq!(Verdict::of(None), Verdict::Good);
    for code in ["500", "502", "503", "504"] {
        assert_eq!(Verdict::of(Some(&status(code))), Verdict::Bad, "{code}");
    }
    for code in ["400", "401", "404", "409", "501", "505", "599"] {
        assert_eq!(Verdict::of(Some(&status(code))), Verdict::Good, "{code}");
    }
    assert_eq!(Verdict::of(Some(&status("429"))), Verdict::Limited);
    let bad = [
        ErrorClass::ConnectTimeout,
        ErrorClass::ReadTimeout,
        ErrorClass::ConnectionRefused,
        ErrorClass::ConnectionReset,
        ErrorClass::Dns,
    ];
    let answers = [
        ErrorClass::Redirect,
        ErrorClass::ResponseTooLarge,
        ErrorClass::InvalidResponse,
    ];
    for class in ErrorClass::ALL {
        let expected = match class {
            ErrorClass::HttpStatus => continue,
            class if bad.contains(&class) => Verdict::Bad,
            class if answers.contains(&class) => Verdict::Good,
            _ => Verdict::Nothing,
        };
        let failure = Failure::new(class, "");
        assert_eq!(Verdict::of(Some(&failure)), expected, "{class}");
    }
}

#[test]
fn a_window_trips_by_a_row_of_failures_or_by_their_share() {
    use Verdict::{Bad, Good, Limited, Nothing};
    type Calls = &'static [(Verdict, u32)];
    let table: [(Calls, Option<Trip>); 9] = [
        (&[(Bad, 4)], None),
        (&[(Bad, 5)], Some(Trip::InARow(5))),
        (&[(Bad, 4), (Good, 1), (Bad, 4)], None),
        (
            &[(Good, 4), (Bad, 1), (Good, 1), (Bad, 4)],
            Some(Trip::Share(5, 10)),
        ),
        (&[(Good, 6), (Bad, 4)], None),
        (&[(Good, 100), (Bad, 5)], Some(Trip::InARow(5))),
        // Wishes for fewer calls never open it, and do not interrupt a row either.
        (&[(Limited, 100)], None),
        (&[(Bad, 3), (Limited, 9), (Bad, 2)], Some(Trip::InARow(5))),
        (&[(Nothing, 100)], None),
    ];
    for (calls, expected) in table {
        let mut window = Window::default();
        for (verdict, count) in calls {
            (0..*count).for_each(|_| window.note(*verdict, at(0)));
        }
        assert_eq!(window.trips(at(0)), expected, "{calls:?}");
    }
}

#[test]
fn a_window_forgets() {
    let mut window = Window::default();
    for second in [0, 20, 40, 60, 80] {
        window.note(Verdict::Bad, at(second));
    }
    assert_eq!(
        window.trips(at(80)),
        Some(Trip::InARow(5)),
        "each within half a minute"
    );
    let mut window = Window::default();
    for second in [0, 31, 62, 93, 124, 155] {
        window.note(Verdict::Bad, at(second));
    }
    assert_eq!(window.trips(at(155)), None, "one now and then is no row");
    let mut window = Window::default();
    (0..9).for_each(|_| window.note(Verdict::Good, at(0)));
    for _ in 0..9 {
        window.note(Verdict::Bad, at(1));
        window.note(Verdict::Good, at(1));
    }
    let (calls, failed) = (27, 9);
    let limited = 0;
    assert_eq!(
        window.figures(at(20)),
        Figures {
            calls,
            failed,
            limited
        }
    );
    assert_eq!(window.figures(at(40)), Figures::default());
    assert!(!window.is_over(at(40)) && window.is_over(at(62)));
}

#[test]
fn the_wait_grows_as_fewer_calls_succeed() {
    let backoff = |good: u32, bad: u32, limited: u32| {
        let mut window = Window::default();
        (0..good).for_each(|_| window.note(Verdict::Good, at(0)));
        (0..bad).for_each(|_| window.note(Verdict::Bad, at(0)));
        (0..limited).for_each(|_| window.note(Verdict::Limited, at(0)));
        window.backoff(at(30)).map(|wait| wait.as_millis())
    };
    assert_eq!(backoff(0, 9, 0), None, "too few to say");
    assert_eq!(backoff(0, 10, 0), Some(20_000));
    assert_eq!(
        backoff(0, 0, 10),
        Some(20_000),
        "too many calls count as well"
    );
    assert_eq!(backoff(1, 9, 0), Some(6_666));
    assert_eq!(backoff(49, 51, 0), Some(1_851));
    assert_eq!(backoff(5, 5, 0), None);
}

#[test]
fn it_stays_open_twice_as_long_each_time() {
    let mut breaker = open(at(0));
    assert_eq!(breaker.opened_at, Some(at(0)));
    let mut now = at(0);
    for seconds in [15, 30, 60, 120, 240, 300, 300] {
        let until = breaker.until.unwrap();
        let length = until.since(now).as_secs_f64() / f64::from(seconds);
        assert!((0.8..=1.2).contains(&length), "{length} of {seconds}");
        assert_eq!(breaker.standing(now), Standing::Parked(Some(until)));
        assert_eq!(breaker.after(&claim(NODE), now), None, "not before");
        now = until;
        assert_eq!(breaker.standing(now), Standing::ProbeDue);
        breaker = breaker.after(&claim(NODE), now).unwrap();
        breaker = breaker.after(&probed(NODE, true), now).unwrap();
        assert_eq!(breaker.opened_at, Some(at(0)), "the same trouble");
    }
    assert_eq!(breaker.times, 8);
}

#[test]
fn one_node_tries_and_a_dead_one_is_not_waited_for() {
    let breaker = open(at(0));
    let probing = breaker.after(&claim(NODE), at(20)).unwrap();
    let until = at(20).plus(Duration::from_secs(35));
    assert_eq!(probing.probe, Some(Probe { owner: NODE, until }));
    assert_eq!(probing.standing(at(30)), Standing::Parked(Some(until)));
    assert_eq!(probing.after(&claim(OTHER), at(54)), None);
    assert_eq!(
        probing.after(&probed(OTHER, false), at(54)),
        None,
        "it is not its"
    );
    assert_eq!(probing.after(&trip(), at(54)), None, "what was under way");
    let again = probing.after(&claim(OTHER), at(55)).unwrap();
    assert!(again.is_probed_by(OTHER));
    assert_eq!(again.after(&probed(NODE, false), at(56)), None, "too late");
    let back = again
        .after(&Move::GivenBack { node: OTHER }, at(56))
        .unwrap();
    assert_eq!((back.phase, back.probe), (Phase::Open, None));
    assert_eq!(
        back.standing(at(56)),
        Standing::ProbeDue,
        "the next one may"
    );
    assert_eq!(back.times, breaker.times, "nothing was tried");
    let closing = again.after(&probed(OTHER, false), at(57)).unwrap();
    assert_eq!(closing.standing(at(57)), Standing::Closing);
    let reopened = closing.after(&trip(), at(58)).unwrap();
    assert_eq!((reopened.times, reopened.opened_at), (2, Some(at(0))));
    let closed = closing.after(&Move::Risen, at(90)).unwrap();
    assert!(closed.is_plain() && closed.times == 0);
    assert_eq!(closed.after(&Move::Risen, at(90)), None);
}

#[test]
fn what_a_person_says_stays_said() {
    let forced = Breaker::closed("a")
        .after(&force(Forced::Open), at(0))
        .unwrap();
    assert_eq!(forced.standing(at(10_000)), Standing::Parked(None));
    for step in [
        trip(),
        claim(NODE),
        probed(NODE, false),
        Move::Risen,
        force(Forced::Open),
    ] {
        assert_eq!(forced.after(&step, at(10_000)), None, "{step:?}");
    }
    let by = "bob".to_owned();
    assert_eq!(
        forced.after(&Move::ProbeNow { by: by.clone() }, at(9)),
        None
    );
    let closed = forced.after(&force(Forced::Closed), at(9)).unwrap();
    assert_eq!(closed.standing(at(9)), Standing::Free);
    assert_eq!(closed.after(&trip(), at(9)), None);
    let reset = closed
        .after(&Move::Reset { by: by.clone() }, at(10))
        .unwrap();
    assert!(reset.is_plain());
    assert_eq!(reset.after(&Move::Reset { by: by.clone() }, at(10)), None);
    let hurried = open(at(0)).after(&Move::ProbeNow { by }, at(1)).unwrap();
    assert_eq!(hurried.standing(at(1)), Standing::ProbeDue);
    // Who is at it when a person opens it has nothing to say any more.
    let probing = open(at(0)).after(&claim(NODE), at(20)).unwrap();
    let forced = probing.after(&force(Forced::Open), at(21)).unwrap();
    assert_eq!(forced.after(&probed(NODE, false), at(22)), None);
    assert_eq!(forced.after(&Move::GivenBack { node: NODE }, at(22)), None);
}

#[test]
fn calls_come_back_by_and_by() {
    let mut ramp = Ramp::new(1, 16, at(0));
    let mut limits = vec![ramp.limit()];
    for second in 1..=40 {
        assert_eq!(ramp.note(Verdict::Good), None);
        if ramp.rise(at(second)) {
            limits.push(ramp.limit());
        }
    }
    assert_eq!(limits, [2, 4, 8, 16]);
    assert!(ramp.is_done(at(40)));
    assert_eq!(Ramp::new(2, 16, at(0)).limit(), 1);
    assert_eq!(Ramp::new(9, 16, at(0)).limit(), 1);
    assert_eq!(Ramp::new(1, 1, at(0)).limit(), 1);
}

#[test]
fn calls_do_not_come_back_while_they_fail() {
    let mut ramp = Ramp::new(1, 16, at(0));
    (0..9).for_each(|_| assert_eq!(ramp.note(Verdict::Good), None));
    assert_eq!(ramp.note(Verdict::Bad), None);
    assert!(!ramp.rise(at(5)), "one in ten is too many");
    assert_eq!(ramp.limit(), 2);
    for bad in 2..=5 {
        let expected = (bad == 5).then_some(Trip::Share(5, 10));
        assert_eq!(ramp.note(Verdict::Bad), expected);
    }
    let mut ramp = Ramp::new(1, 16, at(0));
    (0..100).for_each(|_| assert_eq!(ramp.note(Verdict::Limited), None));
}

#[test]
fn a_node_without_calls_does_not_say_soon_that_all_is_well() {
    let mut ramp = Ramp::new(1, 4, at(0));
    (1..=50).for_each(|second| {
        ramp.rise(at(second));
    });
    assert_eq!(ramp.limit(), 4);
    assert!(!ramp.is_done(at(50)) && ramp.is_done(at(60)));
}

#[test]
fn people_name_targets_in_many_ways() {
    let table: [(&str, &[&str]); 7] = [
        ("api.example.com", &["api.example.com"]),
        (" API.Example.com ", &["api.example.com"]),
        (
            "api.example.com:443",
            &["api.example.com", "api.example.com:443"],
        ),
        (
            "api.example.com:80",
            &["api.example.com:80", "api.example.com"],
        ),
        ("10.0.0.7:8080", &["10.0.0.7:8080"]),
        ("[::1]:9000", &["[::1]:9000"]),
        ("[2001:db8::1]", &["[2001:db8::1]"]),
    ];
    for (text, expected) in table {
        assert_eq!(names(text).unwrap(), expected, "{text}");
    }
    for wrong in [
        "", " ", "a b", "a/b", "a%41", "x:0", "x:99999", "[::1", "[zz]", "u@a", "a\u{0}",
    ] {
        names(wrong).expect_err(wrong);
    }
}

fn any_move() -> impl Strategy<Value = Move> {
    let node = prop_oneof![Just(NODE), Just(OTHER)];
    let by = || "ann".to_owned();
    prop_oneof![
        4 => Just(trip()),
        6 => node.clone().prop_map(claim),
        6 => (node.clone(), any::<bool>()).prop_map(|(node, failed)| probed(node, failed)),
        2 => node.prop_map(|node| Move::GivenBack { node }),
        3 => Just(Move::Risen),
        1 => Just(force(Forced::Open)),
        1 => Just(force(Forced::Closed)),
        1 => Just(Move::Reset { by: by() }),
        1 => Just(Move::ProbeNow { by: by() }),
    ]
}

proptest! {
    #[test]
    fn whatever_happens_a_breaker_makes_sense(
        moves in proptest::collection::vec((any_move(), 0_u64..40), 1..80)
    ) {
        let (mut breaker, mut now) = (Breaker::closed("a.example"), at(0));
        for (step, seconds) in moves {
            now = now.plus(Duration::from_secs(seconds));
            let Some(next) = breaker.after(&step, now) else { continue };
            prop_assert_eq!(next.rev, breaker.rev + 1);
            prop_assert_eq!(next.probe.is_some(), next.phase == Phase::Probing);
            prop_assert_eq!(&next.host, &breaker.host);
            if next.phase != Phase::Closed {
                prop_assert!(next.opened_at.is_some());
            }
            // It does not stay so for ever: somebody may try, or a person keeps it.
            if matches!(next.phase, Phase::Open | Phase::Probing) && next.forced.is_none() {
                let later = now.plus(Duration::from_secs(400));
                prop_assert_eq!(next.standing(later), Standing::ProbeDue);
                prop_assert!(next.after(&claim(OTHER), later).is_some());
            }
            // Nobody tries while somebody else does.
            if let Some(probe) = next.probe {
                prop_assert_eq!(next.after(&claim(NODE), probe.until.minus(Duration::from_micros(1))), None);
            }
            if breaker.forced.is_some() && !matches!(step, Move::Force { .. } | Move::Reset { .. }) {
                prop_assert!(false, "{:?} moved what a person keeps", step);
            }
            breaker = next;
        }
    }

    #[test]
    fn a_ramp_never_lets_more_through_than_its_time_allows(
        nodes in 1_u32..6,
        calls in proptest::collection::vec((any::<bool>(), 0_u64..4_000), 1..200)
    ) {
        let mut ramp = Ramp::new(nodes, 128, at(0));
        let first = ramp.limit();
        let mut now = at(0);
        for (good, millis) in calls {
            now = now.plus(Duration::from_millis(millis));
            ramp.rise(now);
            let doublings = u32::try_from(now.since(at(0)).as_secs() / 5).unwrap().min(8);
            prop_assert!(ramp.limit() <= (first << doublings).min(128));
            let verdict = if good { Verdict::Good } else { Verdict::Bad };
            ramp.note(verdict);
        }
    }
}
