//! Load made by `wrk`, and what it says about it.

use std::fmt::Write as _;
use std::process::{Command, Stdio};
use std::time::Duration;

use anyhow::Context;

use super::{Loaded, Shot, UNIQUE_DIGITS};

/// Threads that it uses for more than one connection.
const THREADS: usize = 2;
/// An answer that takes longer counts as an error.
const ANSWER_WITHIN: &str = "30s";

pub(super) fn is_installed() -> bool {
    let asked = Command::new("wrk")
        .arg("-v")
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .status();
    asked.is_ok()
}

pub(super) fn load(shot: &Shot, connections: usize, wanted: Duration) -> anyhow::Result<Loaded> {
    let script = tempfile::Builder::new().suffix(".lua").tempfile()?;
    std::fs::write(script.path(), lua(shot)?)?;
    let output = Command::new("wrk")
        .args(["--latency", "--timeout", ANSWER_WITHIN])
        .args(["--threads", &THREADS.min(connections).to_string()])
        .args(["--connections", &connections.to_string()])
        .args(["--duration", &format!("{}s", wanted.as_secs().max(1))])
        .arg("--script")
        .arg(script.path())
        .arg(format!("http://{}{}", shot.to, shot.path))
        .output()
        .context("wrk did not start")?;
    let text = String::from_utf8_lossy(&output.stdout);
    read(&text).with_context(|| {
        format!(
            "wrk said: {text}{}",
            String::from_utf8_lossy(&output.stderr)
        )
    })
}

/// The request as wrk's script.
fn lua(shot: &Shot) -> anyhow::Result<String> {
    let body = std::str::from_utf8(&shot.body)?;
    anyhow::ensure!(!body.contains("]]"), "the body would end its own quotation");
    let mut script = format!("wrk.method = \"POST\"\nwrk.body = [[{body}]]\n");
    for (name, value) in &shot.headers {
        let _ = writeln!(script, "wrk.headers[\"{name}\"] = \"{value}\"");
    }
    if let Some(name) = shot.unique {
        // Each thread of wrk has a world of its own, so each counts from its own beginning.
        let _ = write!(
            script,
            "local threads = 0\n\
             function setup(thread) threads = threads + 1; thread:set(\"own\", threads) end\n\
             local count = 0\n\
             function request()\n\
               count = count + 1\n\
               wrk.headers[\"{name}\"] = string.format(\"%d%0{}d\", own, count)\n\
               return wrk.format()\n\
             end\n",
            UNIQUE_DIGITS - 1,
        );
    }
    Ok(script)
}

fn read(text: &str) -> anyhow::Result<Loaded> {
    let after = |start: &str| {
        let line = text
            .lines()
            .find_map(|line| line.trim().strip_prefix(start));
        line.map(str::trim)
    };
    let req_s: f64 = after("Requests/sec:").context("no rate")?.parse()?;
    let answers = text
        .lines()
        .find_map(|line| line.trim().split_once(" requests in "))
        .context("no count")?
        .0
        .parse()?;
    let not_2xx: u64 = after("Non-2xx or 3xx responses:").map_or(Ok(0), str::parse)?;
    let broken: u64 = after("Socket errors:").map_or(0, |line| {
        let counts = line.split(|c: char| !c.is_ascii_digit());
        counts.filter_map(|count| count.parse::<u64>().ok()).sum()
    });
    Ok(Loaded {
        answers,
        req_s,
        p50_ms: milliseconds(after("50%").context("no median")?)?,
        p99_ms: milliseconds(after("99%").context("no p99")?)?,
        errors: not_2xx + broken,
    })
}

/// `85.00us`, `1.41ms`, `1.02s` or `1.50m`.
fn milliseconds(text: &str) -> anyhow::Result<f64> {
    let unit = text
        .find(|c: char| c.is_ascii_alphabetic())
        .context("no unit")?;
    let (number, unit) = text.split_at(unit);
    let scale = match unit {
        "us" => 0.001,
        "ms" => 1.0,
        "s" => 1_000.0,
        "m" => 60_000.0,
        other => anyhow::bail!("`{other}` is an unknown unit"),
    };
    Ok(number.parse::<f64>()? * scale)
}

#[cfg(test)]
mod tests {
    use super::*;

    const SAID: &str = "Running 3s test @ http://127.0.0.1:7373/
  2 threads and 64 connections
  Thread Stats   Avg      Stdev     Max   +/- Stdev
    Latency     1.50ms    2.00ms  35.00ms   93.00%
    Req/Sec    19.20k     1.00k   21.00k    70.00%
  Latency Distribution
     50%    1.10ms
     75%    1.60ms
     90%    2.40ms
     99%   16.20ms
  115260 requests in 3.00s, 12.00MB read
  Socket errors: connect 0, read 2, write 0, timeout 1
  Non-2xx or 3xx responses: 7
Requests/sec:  38420.00
Transfer/sec:      4.00MB
";

    #[test]
    fn what_it_says_is_read() {
        let loaded = read(SAID).unwrap();
        assert_eq!((loaded.answers, loaded.errors), (115_260, 10));
        assert_eq!(
            (loaded.req_s, loaded.p50_ms, loaded.p99_ms),
            (38_420.0, 1.1, 16.2)
        );
        assert!(read("unable to connect").is_err());
    }

    #[test]
    fn units_are_milliseconds() {
        for (text, expected) in [("85.00us", 0.085), ("1.41ms", 1.41), ("1.02s", 1_020.0)] {
            assert!(
                (milliseconds(text).unwrap() - expected).abs() < 1e-9,
                "{text}"
            );
        }
        assert!(milliseconds("12h").is_err());
    }
}
