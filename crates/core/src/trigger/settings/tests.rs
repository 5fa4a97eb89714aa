//! Triggers as people write them.

use proptest::prelude::*;

use super::*;
use crate::trigger::fixture::at;

const NOW: &str = "2026-11-16T09:30:00Z";

fn create(source: &str) -> Result<Draft, Problems> {
    Draft::create(&Wish::parse(source)?, at(NOW))
}

fn patch(old: &Settings, patch: &str, now: &str) -> Result<Draft, Problems> {
    let wish = Wish::parse(patch)?;
    Draft::patch(old.kind.name(), old.text.as_str(), &wish, at(now))
}

fn settings(source: &str) -> Settings {
    create(source)
        .unwrap_or_else(|problems| panic!("{source}: {problems}"))
        .settings
}

fn stored(source: &str) -> String {
    settings(source).text.to_string()
}

/// What is wrong, as `path: message; hint`.
fn wrong(result: Result<Draft, Problems>) -> Vec<String> {
    let line = |problem: &Problem| {
        let hint = problem.hint.as_ref().map(|hint| format!("; {hint}"));
        format!(
            "{}: {}{}",
            problem.path,
            problem.message,
            hint.unwrap_or_default()
        )
    };
    result.unwrap_err().iter().map(line).collect()
}

#[test]
fn what_was_said_is_stored_and_read_again() {
    for (source, expected) in [
        (
            r#"{"cron_expression": "0 * * * *", "trigger_type": "cron"}"#,
            r#"{"trigger_type":"cron","cron_expression":"0 * * * *"}"#,
        ),
        (
            r#"{"triggerType":"cron","cronExpression":"0 9 * * MON","misfireMax":5,"deadMan":{"grace":"1h"},"timezone":null}"#,
            r#"{"trigger_type":"cron","cron_expression":"0 9 * * MON","misfire_max":5,"dead_man":{"grace":"1h"}}"#,
        ),
        (
            r#"{"trigger_type":"cron","cron":"0 9 * * *","enabled":false,"dst":{"gap":"skip"},"overlap":"buffer_one"}"#,
            r#"{"trigger_type":"cron","cron_expression":"0 9 * * *","dst":{"gap":"skip"},"overlap":"buffer_one"}"#,
        ),
        (
            r#"{"trigger_type":"schedule","weekly":{"day_of_week":["MON",5],"time":"09:00"},"retry":{"max_retries":3}}"#,
            r#"{"trigger_type":"schedule","weekly":{"dayOfWeek":["MON",5],"time":"09:00"},"retry":{"maxRetries":3}}"#,
        ),
        (
            r#"{"trigger_type":"cron","cron_expression":"0 * * * *","retry":{"jitter_enabled":true,"retryable_error_codes":[503],"baseDelayMs":500,"retry_enabled":true}}"#,
            r#"{"trigger_type":"cron","cron_expression":"0 * * * *","retry":{"enabled":true,"baseDelayMs":500,"jitter":true,"retryableErrors":[503]}}"#,
        ),
        (
            r#"{"trigger_type":"webhook","signatureHeader":"X-S","authentication":"hmac","filters":[{"json_path":"$.n","operator":"equals","value":12345678901234567890}]}"#,
            r#"{"trigger_type":"webhook","signature_header":"X-S","authentication":"hmac","filters":[{"json_path":"$.n","operator":"equals","value":12345678901234567890}]}"#,
        ),
        (
            "trigger_type: schedule\nmonthly: {dayOfMonth: last, time: '09:00'}\ninput: {a: 1}\n",
            r#"{"trigger_type":"schedule","monthly":{"dayOfMonth":"last","time":"09:00"},"input":{"a":1}}"#,
        ),
    ] {
        let settings = settings(source);
        assert_eq!(settings.text.as_str(), expected);
        assert_eq!(Settings::parse(expected).unwrap(), settings, "{source}");
    }
}

#[test]
fn what_was_not_said_has_a_default() {
    let draft = create(r#"{"trigger_type":"cron","cron_expression":"0 * * * *"}"#).unwrap();
    assert_eq!(draft.enabled, None);
    let settings = draft.settings;
    assert_eq!(settings.input.as_str(), "{}");
    assert_eq!(
        (settings.overlap, settings.misfire),
        (Overlap::Allow, Misfire::FireOnce)
    );
    assert_eq!(settings.misfire_max, MISFIRE_MAX_DEFAULT);
    assert_eq!(settings.misfire_window, MISFIRE_WINDOW_DEFAULT);
    assert_eq!(settings.dead_man, None);
    assert!(settings.retry.is_empty());
}

#[test]
fn the_input_is_kept_byte_for_byte() {
    let input = r#"{ "n": 12345678901234567890.10,  "t":"\u0041\u0000", "z":[ 1,2 ] }"#;
    let source =
        format!(r#"{{"trigger_type":"cron","input": {input} ,"cron_expression":"0 * * * *"}}"#);
    let settings = settings(&source);
    assert_eq!(settings.input.as_str(), input);
    let again = Settings::parse(settings.text.as_str()).unwrap();
    assert_eq!(again.input.as_str(), input);
    let patched = patch(&again, r#"{"name":"x"}"#, NOW).unwrap();
    assert_eq!(patched.settings.input.as_str(), input);
}

#[test]
fn an_interval_counts_from_its_creation() {
    assert_eq!(
        stored(r#"{"trigger_type":"schedule","every":"13h"}"#),
        r#"{"trigger_type":"schedule","every":"13h","anchor":"2026-11-16T09:30:00.000000Z"}"#
    );
    for said in [
        r#""start":"2026-12-01T00:00:00Z""#,
        r#""anchor":"2026-12-01T00:00:00Z""#,
    ] {
        let source = format!(r#"{{"trigger_type":"schedule","every":"13h",{said}}}"#);
        assert_eq!(stored(&source), source);
    }
}

#[test]
fn everything_that_is_wrong_is_said_at_once() {
    let source = r#"{"trigger_type":"cron","cron_expression":"61 * * * *","timezone":"Europe/Warsav",
        "start":"2026-02-01","end":"2026-01-01","overlap":"skipp","misfire":"fire_al","misfire_max":1001,
        "misfireWindow":"2y","dead_man":{"grace":"1h","success_within":"2h"},"retry":{"maxRetries":99},
        "dst":{"gap":"leap"},"enabled":"yes","name":7,"evry":"1h","every":"1h","jitter":"25h"}"#;
    let said = wrong(create(source));
    for expected in [
        "cron_expression: ",
        "timezone: ",
        "end: the end is before the start",
        "overlap: \"skipp\" is not one of allow, skip, buffer_one, cancel_previous; did you mean \"skip\"?",
        "misfire: \"fire_al\" is not one of fire_once, fire_all, skip; did you mean \"fire_all\"?",
        "misfire_max: 1001 is not a whole number from 1 to 1000",
        "misfireWindow: ",
        "dead_man.success_within: `grace` is already set; use one of the two",
        "retry.maxRetries: ",
        "dst.gap: \"leap\" is not one of next_valid, skip",
        "enabled: expected true or false, found a string",
        "name: expected a string, found a number",
        "evry: unknown key \"evry\"; did you mean \"every\"? it belongs to triggers of type `schedule`",
        "every: unknown key \"every\"; `every` belongs to triggers of type `schedule`",
        "jitter: the window is longer than a day",
    ] {
        assert!(
            said.iter().any(|line| line.starts_with(expected)),
            "{expected}\n{said:#?}"
        );
    }
    assert_eq!(said.len(), 15, "{said:#?}");

    let slip = r#"{"trigger_type":"schedule","daily":{"tiem":"09:00"}}"#;
    assert_eq!(
        wrong(create(slip)),
        [
            "daily.time: `time` is required",
            "daily.tiem: unknown key \"tiem\"; did you mean \"time\"?",
        ]
    );
}

/// Sources with one thing wrong each, and how its line begins.
fn assert_one_is_wrong<const N: usize>(table: [(String, &str); N]) {
    for (source, expected) in table {
        let said = wrong(create(&source));
        assert!(said[0].starts_with(expected), "{source}\n{said:#?}");
        assert_eq!(said.len(), 1, "{source}\n{said:#?}");
    }
}

#[test]
fn what_is_wrong_with_an_expression_has_the_name_that_was_written() {
    let cron = |more: &str| format!(r#"{{"trigger_type":"cron",{more}}}"#);
    let hourly = |more: &str| cron(&format!(r#""cron_expression":"0 * * * *",{more}"#));
    assert_one_is_wrong([
        (
            cron(r#""cron_expression":"0 0 30 2 *""#),
            "cron_expression: ",
        ),
        (cron(r#""cronExpression":"@reboot""#), "cronExpression: "),
        (cron(r#""cron":"0 0 L-3 * *""#), "cron: "),
        (hourly(r#""timezone":"Mars/Olympus""#), "timezone: "),
        (
            hourly(r#""cron":"0 * * * *""#),
            "cron: \"cron\" and \"cron_expression\" are the same key",
        ),
        (
            cron(r#""timezone":"UTC""#),
            "cron_expression: `cron_expression` is required",
        ),
        (
            cron(r#""cron_expression":5"#),
            "cron_expression: expected a string, found a number",
        ),
    ]);
}

#[test]
fn what_is_wrong_with_a_schedule_has_the_name_that_was_written() {
    let schedule = |more: &str| format!(r#"{{"trigger_type":"schedule",{more}}}"#);
    let weekly = |more: &str| schedule(&format!(r#""weekly":{{{more}}}"#));
    let daily = |more: &str| schedule(&format!(r#""daily":{{"time":"09:00"}},{more}"#));
    assert_one_is_wrong([
        (
            schedule(r#""name":"x""#),
            ": nothing says when it fires; write `every`, `at`, `daily`",
        ),
        (daily(r#""every":"1h""#), "daily: `every` already says when"),
        (
            daily(r#""anchor":"2026-01-01""#),
            "anchor: only `every` counts",
        ),
        (
            daily(r#""start":"2026-01-01T10:00","end":"2026-01-01T11:00""#),
            "end: nothing is planned",
        ),
        (schedule(r#""every":"10ms""#), "every: "),
        (
            schedule(r#""every":{}"#),
            "every: expected a text or a number, found a mapping",
        ),
        (
            schedule(r#""every":"1h","dead_man":{}"#),
            "dead_man: no time limit is given",
        ),
        (
            weekly(r#""day_of_week":["MON","FUN"],"time":"09:00""#),
            "weekly.day_of_week[1]: ",
        ),
        (
            weekly(r#""time":"09:00""#),
            "weekly.dayOfWeek: `dayOfWeek` is required",
        ),
        (
            schedule(r#""monthly":{"dayOfMonth":32,"time":"09:00"}"#),
            "monthly.dayOfMonth: ",
        ),
        (
            schedule(r#""at":["2026-01-01T00:00:00Z",true]"#),
            "at[1]: expected a text or a number",
        ),
        (schedule(r#""at":"soon""#), "at: "),
    ]);
}

#[test]
fn what_is_wrong_with_the_whole() {
    let webhook =
        |more: &str| format!(r#"{{"trigger_type":"webhook","authentication":"none",{more}}}"#);
    let slip =
        r#"trigger_type: "corn" is not one of cron, schedule, webhook; did you mean "cron"?"#;
    assert_one_is_wrong([
        (r#"{"trigger_type":"corn"}"#.into(), slip),
        (
            r#"{"triger_type":"cron"}"#.into(),
            r#"trigger_type: `trigger_type` is required; is "triger_type" a typo?"#,
        ),
        (
            "{}".into(),
            "trigger_type: `trigger_type` is required; write `cron`",
        ),
        ("[]".into(), ": a trigger is a mapping"),
        ("{".into(), ": "),
        (
            webhook(r#""overlap":"skip""#),
            r#"overlap: unknown key "overlap"; `overlap` belongs to triggers of type `cron` and `schedule`"#,
        ),
        (
            webhook(r#""every":"1h""#),
            r#"every: unknown key "every"; `every` belongs to triggers of type `schedule`"#,
        ),
        (
            webhook(r#""dead_man":{"grace":"1h"}"#),
            "dead_man.grace: a webhook has no planned times",
        ),
        (
            webhook(r#""rateLimit":1,"rate_limit":2"#),
            r#"rate_limit: "rate_limit" and "rateLimit" are the same key"#,
        ),
    ]);
}

#[test]
fn a_change_is_laid_over_what_was_said() {
    let old = r#"{"trigger_type":"cron","name":"n","cron_expression":"0 * * * *","timezone":"Asia/Taipei","dst":{"gap":"skip","repeat":"both"},"input":{"a":{"b":1}},"retry":{"maxRetries":3,"strategy":"fixed"}}"#;
    for (change, expected) in [
        ("{}", old.to_owned()),
        (r#"{"name":null}"#, old.replace(r#""name":"n","#, "")),
        (r#"{"enabled":false}"#, old.to_owned()),
        (
            r#"{"cronExpression":"5 * * * *"}"#,
            old.replace("0 *", "5 *"),
        ),
        (r#"{"cron":"5 * * * *"}"#, old.replace("0 *", "5 *")),
        (
            r#"{"dst":{"gap":null}}"#,
            old.replace(r#""gap":"skip","#, ""),
        ),
        (
            r#"{"dst":{"gap":"next_valid"}}"#,
            old.replace(r#""gap":"skip""#, r#""gap":"next_valid""#),
        ),
        (
            r#"{"retry":{"max_retries":4}}"#,
            old.replace(r#"Retries":3"#, r#"Retries":4"#),
        ),
        (
            r#"{"input":{"c": 2}}"#,
            old.replace(r#"{"a":{"b":1}}"#, r#"{"c": 2}"#),
        ),
        (
            r#"{"input":null}"#,
            old.replace(r#""input":{"a":{"b":1}},"#, ""),
        ),
        (
            r#"{"trigger_type":"cron","overlap":"skip"}"#,
            old.replace(r#""input""#, r#""overlap":"skip","input""#),
        ),
    ] {
        let draft = patch(&settings(old), change, NOW)
            .unwrap_or_else(|problems| panic!("{change}: {problems}"));
        assert_eq!(draft.settings.text.as_str(), expected, "{change}");
        assert_eq!(draft.enabled.is_some(), change.contains("enabled"));
    }
    for (change, expected) in [
        (
            r#"{"trigger_type":"schedule","every":"1h"}"#,
            "trigger_type: the type of a trigger cannot be changed; it is `cron`",
        ),
        (
            r#"{"trigger_type":null}"#,
            "trigger_type: the type of a trigger cannot be changed",
        ),
        (
            r#"{"cron_expression":null}"#,
            "cron_expression: `cron_expression` is required",
        ),
        (r#"{"timezone":"Asia/Taipej"}"#, "timezone: "),
        (r#"{"timezon":"Asia/Tokyo"}"#, "timezon: unknown key"),
        ("3", ": a trigger is a mapping"),
    ] {
        let said = wrong(patch(&settings(old), change, NOW));
        assert!(said[0].starts_with(expected), "{change}: {said:?}");
    }
}

#[test]
fn the_anchor_of_an_interval_stays_until_the_interval_goes() {
    let old = settings(r#"{"trigger_type":"schedule","every":"13h"}"#);
    let patched = |change: &str| {
        let draft = patch(&old, change, "2026-12-01T00:00:00Z").unwrap();
        draft.settings.text.to_string()
    };
    assert_eq!(
        patched(r#"{"every":"2h"}"#),
        r#"{"trigger_type":"schedule","every":"2h","anchor":"2026-11-16T09:30:00.000000Z"}"#
    );
    assert_eq!(
        patched(r#"{"anchor":null}"#),
        r#"{"trigger_type":"schedule","every":"13h","anchor":"2026-12-01T00:00:00.000000Z"}"#
    );
    assert_eq!(
        patched(r#"{"every":null,"daily":{"time":"09:00"}}"#),
        r#"{"trigger_type":"schedule","daily":{"time":"09:00"}}"#
    );
}

#[test]
fn planned_times_that_have_all_passed_are_refused() {
    let said = |source: &str| {
        let wish = Wish::parse(source).unwrap();
        let now = NOW.parse().unwrap();
        let settings = Draft::create(&wish, now).unwrap().settings.text;
        let id = crate::id::TriggerId::from_bytes([1; 16]);
        let workflow = crate::definition::WorkflowId::new("w").unwrap();
        let trigger = Trigger::new(id, workflow, 1, true, settings.as_str()).unwrap();
        let told = wish.to_come(&trigger, now).err();
        let line = |problem: &Problem| format!("{}: {}", problem.path, problem.message);
        told.map(|problems| problems.iter().map(line).collect::<Vec<_>>())
    };
    for (more, expected) in [
        (
            r#""trigger_type":"schedule","at":"2020-01-01T00:00:00Z""#,
            "at: is in the past",
        ),
        (
            r#""trigger_type":"schedule","at":["2020-01-01T00:00:00Z","2021-01-01T00:00:00Z"]"#,
            "at: is in the past",
        ),
        (
            r#""trigger_type":"cron","cron_expression":"0 9 * * *","end":"2026-01-01T00:00:00Z""#,
            "end: is before the next planned time (2026-11-17T09:00:00+00:00)",
        ),
        (
            r#""trigger_type":"schedule","every":"1h","end":"2026-11-16T09:45:00Z""#,
            "end: is before the next planned time",
        ),
    ] {
        let told = said(&format!("{{{more}}}")).unwrap_or_default();
        assert!(
            told.len() == 1 && told[0].starts_with(expected),
            "{more}: {told:?}"
        );
    }
    for more in [
        r#""trigger_type":"schedule","at":["2020-01-01T00:00:00Z","2027-01-01T00:00:00Z"]"#,
        r#""trigger_type":"cron","cron_expression":"0 9 * * *","end":"2026-11-17T09:00:00Z""#,
        r#""trigger_type":"webhook","authentication":"none""#,
    ] {
        assert_eq!(said(&format!("{{{more}}}")), None, "{more}");
    }
}

#[test]
fn jitter_moves_no_slot_and_everything_else_may() {
    let base = r#"{"trigger_type":"schedule","daily":{"time":"09:00"}}"#;
    let old = settings(base);
    for (change, same) in [
        (r#"{"jitter":"5m"}"#, true),
        (r#"{"overlap":"skip","name":"x"}"#, true),
        (r#"{"timezone":"Asia/Tokyo"}"#, false),
        (r#"{"daily":{"time":"10:00"}}"#, false),
        (r#"{"end":"2030-01-01"}"#, false),
        (r#"{"dst":{"gap":"skip"}}"#, false),
    ] {
        let new = patch(&old, change, NOW).unwrap().settings;
        assert_eq!(new.plans_like(&old), same, "{change}");
    }
}

#[test]
fn a_secret_is_taken_out_before_anything_is_read() {
    let source = r#"{"trigger_type":"webhook","secret":"s3cret","input":{ "a":1 },"name":null,"enabled":true}"#;
    let wish = Wish::parse(source).unwrap();
    assert_eq!(wish.secret(), Some("s3cret"));
    assert_eq!(wish.secret_place().column, 36);
    assert!(wish.written.node.get("secret").is_none());
    let stored = Settings::parse(source).unwrap_err();
    assert!(
        stored
            .to_string()
            .starts_with("secret: a secret is kept apart")
    );
    assert!(Wish::parse(r#"{"secret":5}"#).is_err());
    let none = Wish::parse(r#"{"secret":null}"#).unwrap();
    assert_eq!(none.secret(), None);
    assert_eq!(none.secret_place(), Mark::NOWHERE);
}

#[test]
fn a_problem_has_the_place_where_it_was_written() {
    let places = |result: Result<Draft, Problems>| -> Vec<(String, u32, u32)> {
        let problems = result.unwrap_err();
        let place = |problem: &Problem| (problem.path.clone(), problem.line, problem.column);
        problems.iter().map(place).collect()
    };
    let place = |field: &str, line, column| (field.to_owned(), line, column);
    let cron =
        "trigger_type: cron\nname: x\ntimezone: Mars/Olympus\ncron_expression: \"61 * * * *\"\n";
    assert_eq!(
        places(create(cron)),
        [place("timezone", 3, 11), place("cron_expression", 4, 18)]
    );
    let webhook = "trigger_type: webhook\nsecret: \"\"\nauthentication: hmac\nfilters:\n  \
                   - { json_path: $.a, operator: exists }\n  \
                   - json_path: \"$.(\"\n    operator: equals\n    value: 1\nip_allow:\n  - nowhere\n";
    assert_eq!(
        places(create(webhook)),
        [
            place("filters[1].json_path", 6, 16),
            place("ip_allow[0]", 10, 5)
        ]
    );
    // What is stored stands in no text that somebody has; a change does.
    let old = settings(r#"{"trigger_type":"cron","cron_expression":"0 * * * *"}"#);
    let said = places(patch(&old, "jitter: 1h\ntimezone: Mars/Olympus\n", NOW));
    assert_eq!(said, [place("timezone", 2, 11)]);
    let broken =
        r#"{"trigger_type":"cron","cron_expression":"0 * * * *","timezone":"Mars/Olympus"}"#;
    let problems = Settings::parse(broken).unwrap_err();
    assert_eq!(problems.iter().next().unwrap().place(), None);
    assert!(problems.to_string().starts_with("timezone: `Mars/Olympus`"));
}

#[test]
fn what_cannot_be_read_any_more_is_mended_by_a_change_or_replaced() {
    for (broken, change) in [
        (
            r#"{"trigger_type":"cron","cron_expression":"0 9 * * *","timezone":"Mars/Olympus"}"#,
            r#"{"timezone":"Asia/Taipei"}"#,
        ),
        (
            r#"{"trigger_type":"cron","cron_expression":"0 9 * * *","timezone":"Asia/Taipei","speed":3}"#,
            r#"{"speed":null}"#,
        ),
    ] {
        assert!(Settings::parse(broken).is_err());
        let wish = Wish::parse(change).unwrap();
        let mended = Draft::patch("cron", broken, &wish, at(NOW)).unwrap();
        let whole =
            r#"{"trigger_type":"cron","cron_expression":"0 9 * * *","timezone":"Asia/Taipei"}"#;
        assert_eq!(mended.settings.text.as_str(), whole);
        let wish = Wish::parse(whole).unwrap();
        let replaced = Draft::replace("cron", &wish, at(NOW)).unwrap();
        assert_eq!(replaced, mended);
        let said = wrong(Draft::replace("webhook", &wish, at(NOW)));
        assert!(said[0].starts_with("trigger_type: the type of a trigger"));
    }
    let wish = Wish::parse(r#"{"name":"x"}"#).unwrap();
    assert!(Draft::patch("cron", "not JSON: {", &wish, at(NOW)).is_err());
}

/// Fields with values that are right, wrong, or of another kind.
const MEMBERS: &[&str] = &[
    r#""cron_expression":"0 * * * *""#,
    r#""cronExpression":"30 2 * * *""#,
    r#""cron":"61 * * * *""#,
    r#""every":"13h""#,
    r#""every":90"#,
    r#""anchor":"2026-01-01""#,
    r#""at":["2026-12-01T00:00:00Z","2026-12-02"]"#,
    r#""daily":{"time":["09:00","17:00"]}"#,
    r#""weekly":{"dayOfWeek":1,"time":"09:00"}"#,
    r#""monthly":{"day_of_month":"last","time":"09:00"}"#,
    r#""timezone":"Europe/Warsaw""#,
    r#""timezone":"Nowhere""#,
    r#""start":"2026-11-20""#,
    r#""end":"2027-01-01T00:00:00Z""#,
    r#""jitter":"5m""#,
    r#""dst":{"gap":"skip"}"#,
    r#""dst":[]"#,
    r#""overlap":"BUFFER_ONE""#,
    r#""misfireMax":7"#,
    r#""misfire_window":"1h""#,
    r#""input":[ 1, {"a" : "\u0041"} ]"#,
    r#""input":null"#,
    r#""retry":{"maxRetries":2,"jitter":{"type":"Full"}}"#,
    r#""retry":false"#,
    r#""dead_man":{"success_within":"26h"}"#,
    r#""deadMan":{"grace":60}"#,
    r#""enabled":false"#,
    r#""name":"\u00fc \"x\"""#,
    r#""description":null"#,
    r#""authentication":"none""#,
    r#""ipAllow":["10.0.0.0/8"]"#,
    r#""unknown":{"a":1}"#,
];

proptest! {
    #[test]
    fn whatever_is_accepted_is_stored_and_read_as_the_same(
        kind in prop::sample::select(&["cron", "schedule", "webhook", "amqp"][..]),
        members in prop::sample::subsequence(MEMBERS, 0..8),
    ) {
        let mut source = format!(r#"{{"trigger_type":"{kind}""#);
        for member in members {
            source += ",";
            source += member;
        }
        source += "}";
        match create(&source) {
            Ok(Draft { settings, enabled }) => {
                let text = settings.text.as_str();
                prop_assert_eq!(&Settings::parse(text).unwrap(), &settings);
                let same = patch(&settings, "{}", "2030-01-01T00:00:00Z").unwrap();
                prop_assert_eq!(&same.settings, &settings);
                let replaced = patch(&settings, &source, NOW).unwrap();
                prop_assert_eq!(&replaced.settings, &settings);
                prop_assert_eq!(replaced.enabled, enabled);
            }
            Err(problems) => {
                prop_assert!(!problems.is_empty());
                prop_assert!(problems.iter().all(|problem| !problem.message.is_empty()));
            }
        }
    }

    #[test]
    fn no_text_is_a_crash(text in "\\PC{0,60}", change in "[{}\\[\\]a-z_:,\"0-9]{0,40}") {
        let _ = create(&text);
        let old = settings(r#"{"trigger_type":"schedule","every":"1h"}"#);
        let _ = patch(&old, &change, NOW);
    }
}
