//! Commands that need no server.

use crate::refire::{Place, Run};

#[test]
fn the_default_policy_waits_2_4_8_16_32_seconds() {
    let place = Place::new();
    let text = place.run(&["simulate"]).code(0).out;
    for line in [
        "exponential from 2s, 5 retries, ±20 %",
        "    1  2s    1.6s – 2.4s     2s  █",
        "    5  32s   25.6s – 38.4s  62s                     █████████████████████",
        "62s of waiting in total, between 49.6s and 74.4s",
    ] {
        assert!(text.lines().any(|l| l == line), "{line:?} in\n{text}");
    }
    let json = place.run(&["simulate", "--format", "json"]).code(0).json();
    let delays: Vec<_> = json["retries"]
        .as_array()
        .unwrap()
        .iter()
        .map(number("delay_ms"))
        .collect();
    assert_eq!(delays, [2_000, 4_000, 8_000, 16_000, 32_000]);
    for planned in json["retries"].as_array().unwrap() {
        let delay = number("delay_ms")(planned);
        assert_eq!(number("min_ms")(planned), delay * 8 / 10);
        assert_eq!(number("max_ms")(planned), delay * 12 / 10);
    }
    assert_eq!(number("total_ms")(&json), 62_000);
    assert_eq!(number("total_min_ms")(&json), 49_600);
    assert_eq!(number("total_max_ms")(&json), 74_400);
}

fn number(field: &'static str) -> impl Fn(&serde_json::Value) -> u64 {
    move |value| value[field].as_u64().unwrap()
}

#[test]
fn every_option_of_a_policy_counts() {
    let place = Place::new();
    let table: [(&[&str], &[u64]); 5] = [
        (
            &["--strategy", "linear", "--max-retries", "3"],
            &[2_000, 4_000, 6_000],
        ),
        (
            &[
                "--strategy",
                "fixed",
                "--initial-delay",
                "1m",
                "--max-retries",
                "2",
            ],
            &[60_000, 60_000],
        ),
        (
            &[
                "--multiplier",
                "3",
                "--initial-delay",
                "100ms",
                "--max-retries",
                "3",
            ],
            &[100, 300, 900],
        ),
        (&["--max-delay", "5s"], &[2_000, 4_000, 5_000, 5_000, 5_000]),
        (
            &["--max-elapsed", "15s", "--jitter", "none"],
            &[2_000, 4_000, 8_000],
        ),
    ];
    for (options, expected) in table {
        let args = [&["simulate", "--format", "json"], options].concat();
        let json = place.run(&args).code(0).json();
        let delays: Vec<_> = json["retries"]
            .as_array()
            .unwrap()
            .iter()
            .map(number("delay_ms"))
            .collect();
        assert_eq!(delays, expected, "{options:?}");
    }
}

#[test]
fn a_policy_file_is_the_same_as_options() {
    let place = Place::new();
    place.write(
        "policy.yaml",
        "maxRetries: 2\ninitialDelay: 500ms\njitter: none\n",
    );
    let file = place
        .run(&["simulate", "-f", "policy.yaml", "--format", "json"])
        .code(0);
    let args = [
        "simulate",
        "--max-retries",
        "2",
        "--initial-delay",
        "500ms",
        "--jitter",
        "none",
    ];
    let options = place
        .run(&[&args[..], &["--format", "json"]].concat())
        .code(0);
    assert_eq!(file.out, options.out);

    place.write("bad.yaml", "maxRetries: 2\ninitialDelay: soon\n");
    let run = place.run(&["simulate", "-f", "bad.yaml"]).code(1);
    assert!(
        run.err.starts_with("bad.yaml:2:15: error: initialDelay: "),
        "{run:?}"
    );
}

#[test]
fn a_definition_has_the_policies_of_its_workflow_and_its_steps() {
    let place = Place::new();
    place.write(
        "w.yaml",
        "id: w
retry: { maxRetries: 2, jitter: none }
steps:
  - { id: a, type: http, config: { method: GET, url: 'https://a.example' } }
  - { id: pay, type: http, retry: { maxRetries: 4 }, config: { method: GET, url: 'https://a.example' } }
",
    );
    place.write("retry.yaml", "retry: { maxRetries: 2, jitter: none }\n");
    let simulate = |args: &[&str]| {
        let args = [&["simulate"], args, &["--format", "json"]].concat();
        let run = place.run(&args).code(0);
        let retries = run.json()["retries"].as_array().unwrap().len();
        (retries, run.err)
    };
    let (retries, told) = simulate(&["-f", "w.yaml"]);
    assert_eq!(retries, 2);
    assert!(told.contains("their own (--step): pay"), "{told}");
    assert_eq!(simulate(&["-f", "w.yaml", "--step", "a"]).0, 2);
    assert_eq!(simulate(&["-f", "w.yaml", "--step", "pay"]).0, 4);
    assert_eq!(simulate(&["-f", "retry.yaml"]).0, 2);
    for (args, expected) in [
        (
            ["-f", "w.yaml", "--step", "pya"],
            "there is no step `pya`; did you mean `pay`?",
        ),
        (
            ["-f", "retry.yaml", "--step", "a"],
            "--step a: the file has no steps",
        ),
    ] {
        let run = place.run(&[&["simulate"], &args[..]].concat()).code(2);
        assert!(run.err.contains(expected), "{run:?}");
    }
    place.write("bad.yaml", "id: w\nretry: { maxRetries: 99 }\nsteps: []\n");
    let run = place.run(&["simulate", "-f", "bad.yaml"]).code(1);
    assert!(
        run.err.contains("bad.yaml:2:22: error: retry.maxRetries"),
        "{run:?}"
    );
}

#[test]
fn a_wrong_option_is_named_as_typed() {
    let run = Place::new()
        .run(&["simulate", "--max-retries", "50", "--initial-delay", "x"])
        .code(2);
    assert!(
        run.err.contains("error: --max-retries: 50 is not"),
        "{run:?}"
    );
    assert!(run.err.contains("error: --initial-delay: "), "{run:?}");
    assert!(run.out.is_empty());
}

#[test]
fn codes_are_explained() {
    let place = Place::new();
    let all = place.run(&["explain"]).code(0);
    assert!(
        all.out.lines().count() > 10 && all.out.contains("RF0006"),
        "{all:?}"
    );
    let page = place.run(&["explain", "RF0006"]).code(0).out;
    assert!(page.starts_with("RF0006"), "{page}");
    assert!(!page.contains("```") && !page.contains("# "), "{page}");
    assert_eq!(place.run(&["explain", "rf6"]).code(0).out, page);
    let json = place
        .run(&["explain", "rf6", "--format", "json"])
        .code(0)
        .json();
    assert_eq!(json["code"], "RF0006");
    let unknown = place.run(&["explain", "RF9999"]).code(1);
    assert!(
        unknown.err.contains("unknown error code RF9999"),
        "{unknown:?}"
    );
}

#[test]
fn shells_complete_commands() {
    let place = Place::new();
    for (shell, mark) in [
        ("bash", "_refire()"),
        ("zsh", "#compdef refire"),
        ("fish", "complete -c refire"),
        ("powershell", "Register-ArgumentCompleter"),
        ("elvish", "edit:completion"),
    ] {
        let script = place.run(&["completions", shell]).code(0).out;
        assert!(script.contains(mark) && script.contains("dlq"), "{shell}");
    }
    place.run(&["completions", "cmd.exe"]).code(2);
}

#[test]
fn the_schema_is_json() {
    let schema = Place::new().run(&["schema"]).code(0).json();
    assert!(schema["properties"]["steps"].is_object());
}

#[test]
fn a_server_that_is_not_there_is_said_so() {
    let place = Place::new();
    for args in [
        &["executions", "list"][..],
        &["execute", "w"],
        &["dlq", "summary"],
        &["workflow", "list"],
        &["retries", "list"],
        &["backup", "copy.db"],
    ] {
        let run = place
            .run(&[args, &["--url", "http://127.0.0.1:1"]].concat())
            .code(1);
        let expected = "error: cannot reach http://127.0.0.1:1 — is it running? start it with: \
                        refire serve";
        assert!(run.err.starts_with(expected), "{run:?}");
        assert!(run.out.is_empty());
    }
    let json = [
        "executions",
        "list",
        "--format",
        "json",
        "--url",
        "http://127.0.0.1:1",
    ];
    let run = place.run(&json).code(1);
    let problem: serde_json::Value = serde_json::from_str(&run.err).unwrap();
    assert_eq!(problem["title"], "unreachable");
}

#[test]
fn an_address_that_is_none_is_said_so() {
    let run = Place::new()
        .run(&["workflow", "list", "--url", "not a url"])
        .code(2);
    assert!(
        run.err
            .contains("`not a url` is not the address of a server"),
        "{run:?}"
    );
}

/// Nothing is sent when the input is wrong, so the place of the mistake is all that is said.
#[test]
fn an_input_is_checked_before_it_is_sent() {
    let place = Place::new();
    let run = place.run(&["execute", "w", "--input", "{\"a\": }"]).code(2);
    assert!(
        run.err.starts_with("error: the input:1:7: not JSON: "),
        "{run:?}"
    );
    let run = place
        .run_with(&["execute", "w", "--input", "-"], "[1,")
        .code(2);
    assert!(run.err.starts_with("error: <stdin>:1:"), "{run:?}");
    let run = place
        .run(&["execute", "w", "--input", "@gone.json"])
        .code(1);
    assert!(run.err.contains("gone.json cannot be read"), "{run:?}");
}

#[test]
fn nothing_is_deleted_without_an_answer() {
    let place = Place::new();
    for args in [&["workflow", "delete", "w"], &["dlq", "delete", "dlq_1"]] {
        let run = place.run(args).code(1);
        assert!(run.err.contains("add --yes"), "{run:?}");
    }
}

/// There is nobody who reads: that is no reason to panic, or to fail.
#[cfg(unix)]
#[test]
fn a_closed_pipe_ends_quietly() {
    let place = Place::new();
    let binary = assert_cmd::cargo::cargo_bin!("refire");
    for command in [
        "schema",
        "completions bash",
        "explain",
        "simulate --format json",
    ] {
        let script = format!("{} {command} | head -c 1 >/dev/null", binary.display());
        let mut shell = assert_cmd::Command::new("bash");
        shell
            .args(["-o", "pipefail", "-c", &script])
            .current_dir(place.path());
        let run = Run::of(&mut shell).code(0);
        assert!(
            !run.err.contains("panic") && !run.err.contains("error"),
            "{run:?}"
        );
    }
}

/// A compiled zone without changes, so many hours behind UTC.
fn zone_file(hours_behind: i32) -> Vec<u8> {
    let mut block = b"TZif2".to_vec();
    block.extend([0; 15]);
    // Counts: UTC and standard marks, leap seconds, changes, one kind of time, four letters.
    for count in [0_u32, 0, 0, 0, 1, 4] {
        block.extend(count.to_be_bytes());
    }
    block.extend((-hours_behind * 3600).to_be_bytes());
    block.extend(*b"\0\0CXT\0");
    let mut file = [block.clone(), block].concat();
    file.extend(format!("\nCXT{hours_behind}\n").into_bytes());
    file
}

#[test]
fn the_time_zones_of_the_machine_can_be_used() {
    let place = Place::new();
    let zones = place.path().join("zones/America");
    std::fs::create_dir_all(&zones).unwrap();
    for (name, hours_behind) in [("New_York", 5), ("Havana", 4)] {
        std::fs::write(zones.join(name), zone_file(hours_behind)).unwrap();
    }
    let next = |setting: Option<&str>, directory: &str| {
        let mut command = place.command();
        command.args([
            "cron",
            "next",
            "0 9 * * *",
            "--tz",
            "America/Havana",
            "-n",
            "1",
        ]);
        command.args(["--from", "2026-11-17T00:00:00Z", "--format", "json"]);
        command.env("TZDIR", directory);
        if let Some(setting) = setting {
            command.env("REFIRE_TIME_ZONES", setting);
        }
        Run::of(&mut command)
    };
    let system = next(Some("system"), "zones").code(0).out;
    assert!(system.contains("2026-11-17T09:00:00-04:00"), "{system}");
    // The built-in ones do not look at files.
    for setting in [None, Some("built-in")] {
        let built_in = next(setting, "zones").code(0).out;
        assert!(built_in.contains("2026-11-17T09:00:00-05:00"), "{built_in}");
    }
    let nowhere = next(Some("system"), "nowhere").code(1).err;
    assert!(
        nowhere.contains("there is no time-zone database in nowhere") && nowhere.contains("TZDIR"),
        "{nowhere}"
    );
    next(Some("mine"), "zones").code(2);
}
