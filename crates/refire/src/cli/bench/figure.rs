//! Numbers as people read them.

use std::time::Duration;

use indicatif::HumanCount;

const MS_US: u64 = 1_000;
const SECOND_US: u64 = 1_000_000;

/// With a comma between thousands.
pub(super) fn grouped(number: u64) -> String {
    HumanCount(number).to_string()
}

/// A latency with three digits that count.
pub(super) fn latency(us: u64) -> String {
    let ms = us as f64 / MS_US as f64;
    match us {
        _ if us < 10 * MS_US => format!("{ms:.2}ms"),
        _ if us < 100 * MS_US => format!("{ms:.1}ms"),
        _ if us < SECOND_US => format!("{ms:.0}ms"),
        _ => format!("{:.2}s", us as f64 / SECOND_US as f64),
    }
}

/// How many in a second.
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "a rate is positive and far below the largest number"
)]
pub(super) fn per_second(count: u64, time: Duration) -> u64 {
    let seconds = time.as_secs_f64();
    if seconds <= 0.0 {
        return 0;
    }
    (count as f64 / seconds).round() as u64
}

/// `1 execution`, `2,000 executions`
pub(super) fn counted(number: u64, what: &str) -> String {
    let plural = if number == 1 { "" } else { "s" };
    format!("{} {what}{plural}", grouped(number))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_grouped() {
        for (number, expected) in [
            (0, "0"),
            (999, "999"),
            (1_000, "1,000"),
            (12_345, "12,345"),
            (1_234_567, "1,234,567"),
        ] {
            assert_eq!(grouped(number), expected);
        }
        assert_eq!(counted(1, "execution"), "1 execution");
        assert_eq!(counted(2_000, "execution"), "2,000 executions");
    }

    #[test]
    fn latencies_have_three_digits() {
        for (us, expected) in [
            (45, "0.04ms"),
            (450, "0.45ms"),
            (5_930, "5.93ms"),
            (17_840, "17.8ms"),
            (178_400, "178ms"),
            (1_234_000, "1.23s"),
        ] {
            assert_eq!(latency(us), expected);
        }
    }

    #[test]
    fn rates() {
        assert_eq!(per_second(10, Duration::from_millis(500)), 20);
        assert_eq!(per_second(10, Duration::ZERO), 0);
    }
}
