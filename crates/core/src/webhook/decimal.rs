//! Numbers of JSON compared by their value, digit by digit: no number is too big to be exact.

use std::cmp::Ordering;

/// An exponent with more digits than this is as good as infinite; nobody can write so many zeros.
const EXPONENT_DIGITS_MAX: usize = 15;

/// A number as `0.digits × 10^point`, without zeros at either end; zero has no digits.
#[derive(Debug, PartialEq, Eq)]
struct Decimal {
    negative: bool,
    point: i64,
    digits: Vec<u8>,
}

/// Which of two numbers, both valid JSON, is larger.
pub(super) fn compare(left: &str, right: &str) -> Ordering {
    let (left, right) = (Decimal::read(left), Decimal::read(right));
    match (left.sign(), right.sign()) {
        (-1, -1) => right.magnitude(&left),
        (1, 1) => left.magnitude(&right),
        (left, right) => left.cmp(&right),
    }
}

impl Decimal {
    fn read(text: &str) -> Self {
        let (negative, text) = match text.strip_prefix('-') {
            Some(rest) => (true, rest),
            None => (false, text),
        };
        let (mantissa, exponent) = text.split_once(['e', 'E']).unwrap_or((text, "0"));
        let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
        let mut digits: Vec<u8> = whole.bytes().chain(fraction.bytes()).collect();
        let leading = digits.iter().take_while(|digit| **digit == b'0').count();
        digits.drain(..leading);
        while digits.last() == Some(&b'0') {
            digits.pop();
        }
        let length = |count: usize| i64::try_from(count).unwrap_or(i64::MAX);
        Self {
            negative,
            point: exponent_value(exponent)
                .saturating_add(length(whole.len()))
                .saturating_sub(length(leading)),
            digits,
        }
    }

    fn sign(&self) -> i8 {
        match (self.digits.is_empty(), self.negative) {
            (true, _) => 0,
            (false, true) => -1,
            (false, false) => 1,
        }
    }

    fn magnitude(&self, other: &Self) -> Ordering {
        let by_point = self.point.cmp(&other.point);
        by_point.then_with(|| self.digits.cmp(&other.digits))
    }
}

fn exponent_value(text: &str) -> i64 {
    let (sign, digits) = match text.strip_prefix('-') {
        Some(digits) => (-1, digits),
        None => (1, text.strip_prefix('+').unwrap_or(text)),
    };
    let digits = digits.trim_start_matches('0');
    let value = match digits.len() {
        0 => 0,
        1..=EXPONENT_DIGITS_MAX => digits.parse().unwrap_or(i64::MAX / 2),
        _ => i64::MAX / 2,
    };
    sign * value
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn numbers_compare_by_value() {
        use Ordering::{Equal, Greater, Less};
        for (left, right, expected) in [
            ("1", "1.0", Equal),
            ("100", "1e2", Equal),
            ("0.001", "1E-3", Equal),
            ("-0", "0.0e9", Equal),
            ("0e999999999999999999999", "0", Equal),
            ("9007199254740993", "9007199254740992", Greater),
            (
                "123456789012345678901234567890",
                "123456789012345678901234567891",
                Less,
            ),
            ("-2", "-1", Less),
            ("-1", "1", Less),
            ("0", "-0.1", Greater),
            ("10", "9", Greater),
            ("0.1", "0.09", Greater),
            ("1e400", "1e399", Greater),
            ("1e-400", "0", Greater),
            ("1e99999999999999999999", "1e5", Greater),
            ("-1e99999999999999999999", "1e-99999999999999999999", Less),
            ("12", "1.2e+1", Equal),
            ("1.20", "1.2", Equal),
        ] {
            assert_eq!(compare(left, right), expected, "{left} {right}");
            assert_eq!(compare(right, left), expected.reverse(), "{right} {left}");
        }
    }

    proptest! {
        #[test]
        fn whole_numbers_compare_as_they_do(left: i64, right: i64) {
            prop_assert_eq!(compare(&left.to_string(), &right.to_string()), left.cmp(&right));
        }

        #[test]
        fn fractions_compare_as_they_do(left in -999_999_i32..999_999, right in -999_999_i32..999_999) {
            let text = |number: i32| {
                let sign = if number < 0 { "-" } else { "" };
                let size = number.unsigned_abs();
                format!("{sign}{}.{:03}", size / 1000, size % 1000)
            };
            prop_assert_eq!(compare(&text(left), &text(right)), left.cmp(&right));
        }
    }
}
