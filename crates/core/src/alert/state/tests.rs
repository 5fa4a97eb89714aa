//! What becomes of alerts: a table of cases, and what holds whatever happens.

use proptest::prelude::*;

use super::*;

const TERMS: Terms = Terms {
    hold: Duration::from_secs(60),
    repeat: Duration::from_secs(3_600),
};

fn at(seconds: u32) -> Timestamp {
    Timestamp::from_millis(i64::from(seconds) * 1_000)
}

fn id(number: u32) -> AlertId {
    let mut bytes = [0; 16];
    bytes[12..].copy_from_slice(&number.to_be_bytes());
    AlertId::from_bytes(bytes)
}

/// One look: when, what is found, whether nobody is to be told.
type Look = (u32, Option<i64>, bool);

/// An alert that is looked at, and what was said of it.
#[derive(Default)]
struct Watched {
    alert: Option<Alert>,
    said: Vec<(u32, Say)>,
}

impl Watched {
    fn look(&mut self, (seconds, value, is_muted): Look, terms: Terms) {
        let (fresh, now) = (id(seconds), at(seconds));
        match step(self.alert.as_ref(), value, terms, is_muted, fresh, now) {
            Next::Same => {}
            Next::Remove => self.alert = None,
            Next::Put(alert, say) => {
                self.said.extend(say.map(|say| (seconds, say)));
                self.alert = Some(alert);
            }
        }
    }

    fn after(looks: &[Look]) -> Self {
        let mut watched = Self::default();
        looks.iter().for_each(|look| watched.look(*look, TERMS));
        watched
    }

    fn phase(&self) -> Option<Phase> {
        self.alert.as_ref().map(|alert| alert.phase)
    }
}

#[test]
fn it_waits_fires_and_is_over() {
    let bad = Some(5);
    let watched = Watched::after(&[(0, bad, false), (59, bad, false)]);
    assert_eq!(
        (watched.phase(), watched.said.len()),
        (Some(Phase::Pending), 0)
    );
    let watched = Watched::after(&[(0, bad, false), (30, None, false)]);
    assert_eq!(watched.phase(), None, "it was nothing");
    let watched = Watched::after(&[(0, bad, false), (60, bad, false), (70, Some(6), false)]);
    assert_eq!(watched.said, [(60, Say::Firing)]);
    let alert = watched.alert.unwrap();
    assert_eq!(
        (alert.began_at, alert.since, alert.value),
        (at(0), at(60), 5)
    );
    let looks = [
        (0, bad, false),
        (60, bad, false),
        (120, Some(6), false),
        (130, None, false),
        (140, None, false),
    ];
    let watched = Watched::after(&looks);
    assert_eq!(watched.said, [(60, Say::Firing), (130, Say::Resolved)]);
    assert_eq!(watched.alert.unwrap().value, 6);
}

#[test]
fn who_is_not_acknowledged_reminds() {
    let bad = Some(5);
    let mut watched = Watched::after(&[(0, bad, false), (60, bad, false), (3_659, bad, false)]);
    watched.look((3_660, bad, false), TERMS);
    assert_eq!(watched.said, [(60, Say::Firing), (3_660, Say::Again)]);
    watched.alert.as_mut().unwrap().acked = Some((at(3_700), "me".to_owned()));
    watched.look((9_000, bad, false), TERMS);
    watched.look((9_010, None, false), TERMS);
    assert_eq!(watched.said[2..], [(9_010, Say::Resolved)]);
    // The next one is another alert, which nobody has acknowledged.
    watched.look((9_020, bad, false), TERMS);
    let alert = watched.alert.unwrap();
    assert_eq!(
        (alert.id, alert.acked, alert.told),
        (id(9_020), None, Told::Nothing)
    );
}

#[test]
fn a_silence_hides_messages_and_what_still_fires_at_its_end_is_told() {
    let bad = Some(5);
    let watched = Watched::after(&[(0, bad, true), (60, bad, true)]);
    assert_eq!(
        (watched.phase(), watched.said.len()),
        (Some(Phase::Firing), 0)
    );
    let watched = Watched::after(&[(0, bad, true), (60, bad, true), (70, bad, false)]);
    assert_eq!(watched.said, [(70, Say::Firing)]);
    let watched = Watched::after(&[
        (0, bad, true),
        (60, bad, true),
        (70, None, true),
        (80, None, false),
    ]);
    assert_eq!(watched.said, [], "nobody was told that it fired");
    let told = [(0, bad, false), (60, bad, false), (70, bad, true)];
    let watched = Watched::after(&[&told[..], &[(80, bad, false)]].concat());
    assert_eq!(watched.said, [(60, Say::Firing), (80, Say::Again)]);
    let watched = Watched::after(
        &[
            &told[..],
            &[(80, None, true), (90, None, true), (100, None, false)],
        ]
        .concat(),
    );
    assert_eq!(watched.said, [(60, Say::Firing), (100, Say::Resolved)]);
    let watched = Watched::after(
        &[
            &told[..],
            &[(80, None, true), (90, bad, true), (100, bad, false)],
        ]
        .concat(),
    );
    assert_eq!(watched.said, [(60, Say::Firing), (100, Say::Again)]);
    assert_eq!(watched.alert.unwrap().id, id(0), "it never was over");
}

fn looks() -> impl Strategy<Value = Vec<Look>> {
    let look = (
        1_u32..600,
        proptest::option::weighted(0.6, 1_i64..4),
        any::<bool>(),
    );
    proptest::collection::vec(look, 1..60).prop_map(|looks| {
        let mut now = 0;
        let timed = looks.into_iter().map(|(wait, value, is_muted)| {
            now += wait;
            (now, value, is_muted)
        });
        timed.collect()
    })
}

proptest! {
    /// Whoever is told that it fires is told once, is told of its end, and never of an end without a
    /// beginning; nobody is told anything while it is muted.
    #[test]
    fn every_beginning_has_one_end(looks in looks(), hold in 0_u64..120, repeat in 60_u64..900) {
        let terms = Terms { hold: Duration::from_secs(hold), repeat: Duration::from_secs(repeat) };
        let mut watched = Watched::default();
        for look in &looks {
            let before = watched.said.len();
            watched.look(*look, terms);
            prop_assert!(watched.said.len() <= before + usize::from(!look.2));
            let is_told = watched.alert.as_ref().is_some_and(|alert| alert.told == Told::Firing);
            let said = watched.said.iter().filter(|(_, say)| *say != Say::Again);
            prop_assert_eq!(is_told, said.count() % 2 == 1);
        }
        let last = looks.last().map_or(0, |look| look.0);
        for later in 1..3 {
            watched.look((last + later, None, false), terms);
        }
        let mut is_firing = false;
        for (seconds, say) in &watched.said {
            let must_fire = *say != Say::Firing;
            prop_assert_eq!(is_firing, must_fire, "{} {:?}", seconds, say);
            is_firing = *say != Say::Resolved;
        }
        prop_assert!(!is_firing);
        let end = (last + 10, None, false);
        let said = watched.said.len();
        watched.look(end, terms);
        prop_assert_eq!(watched.said.len(), said);
    }

    /// The same look twice changes and says nothing the second time, but for the clock.
    #[test]
    fn looking_twice_is_looking_once(looks in looks()) {
        let mut watched = Watched::default();
        for look in looks {
            watched.look(look, TERMS);
            let (alert, said) = (watched.alert.clone(), watched.said.len());
            watched.look(look, TERMS);
            prop_assert_eq!(&watched.alert, &alert);
            prop_assert_eq!(watched.said.len(), said);
        }
    }
}
