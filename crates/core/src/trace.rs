//! The caller's trace (W3C Trace Context): read from a request, kept with the execution, continued
//! in the calls of its steps.
//!
//! A trace that cannot be read is as good as none, as the standard says: nothing is refused for it.

use serde::{Deserialize, Serialize};

/// Characters of a `traceparent` as this version of the standard has it.
const PARENT_LENGTH: usize = 55;
/// Characters of all of `tracestate`; a longer one is left out.
const STATE_LENGTH_MAX: usize = 512;
/// Entries of `tracestate`.
const STATE_ENTRIES_MAX: usize = 32;
/// The flags that this version of the standard knows: sampled, and made at random.
const FLAGS_KNOWN: u8 = 0b11;

/// Where an execution belongs in the traces of its caller.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Trace {
    /// `00-<trace>-<the caller's span>-<flags>`
    traceparent: String,
    /// What the systems on the way noted, passed on as it is.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    tracestate: Option<String>,
}

impl Trace {
    /// Reads the headers of a request; `tracestate` may be given in parts.
    #[must_use]
    pub fn read<'a>(
        mut parents: impl Iterator<Item = &'a [u8]>,
        states: impl Iterator<Item = &'a [u8]>,
    ) -> Option<Self> {
        let (parent, None) = (parents.next()?, parents.next()) else {
            return None;
        };
        Some(Self {
            traceparent: known(parent)?,
            tracestate: state(states),
        })
    }

    /// The trace, as 32 hex digits.
    #[must_use]
    pub fn id(&self) -> &str {
        self.traceparent.get(3..35).unwrap_or_default()
    }

    /// The `traceparent` of a call in this trace, whose span has this id.
    #[must_use]
    pub fn parent_of_call(&self, span: &str) -> String {
        let flags = self.traceparent.get(53..).unwrap_or("01");
        format!("00-{}-{span}-{flags}", self.id())
    }

    /// `tracestate`, as it came.
    #[must_use]
    pub fn state(&self) -> Option<&str> {
        self.tracestate.as_deref()
    }
}

/// A `traceparent` as this version of the standard writes it, also if a later one wrote it.
fn known(parent: &[u8]) -> Option<String> {
    let text = std::str::from_utf8(parent).ok()?.trim_matches([' ', '\t']);
    let head = text.get(..PARENT_LENGTH)?;
    let is_hex = |part: &str| {
        let mut digits = part.bytes();
        digits.all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'))
    };
    let is_zero = |part: &str| part.bytes().all(|byte| byte == b'0');
    let parts: Vec<&str> = head.split('-').collect();
    let [version, trace, span, flags] = parts.as_slice() else {
        return None;
    };
    let lengths = [version.len(), trace.len(), span.len(), flags.len()];
    let is_known = lengths == [2, 32, 16, 2]
        && parts.iter().all(|part| is_hex(part))
        && !is_zero(trace)
        && !is_zero(span);
    // A later version may add parts, and this one may not.
    let rest = &text[PARENT_LENGTH..];
    let may_have_rest = match *version {
        "00" => rest.is_empty(),
        "ff" => false,
        _ => rest.is_empty() || rest.starts_with('-'),
    };
    let flags = u8::from_str_radix(flags, 16).ok()? & FLAGS_KNOWN;
    (is_known && may_have_rest).then(|| format!("00-{trace}-{span}-{flags:02x}"))
}

fn state<'a>(parts: impl Iterator<Item = &'a [u8]>) -> Option<String> {
    let parts: Vec<&str> = parts
        .map(|part| std::str::from_utf8(part).map(str::trim))
        .collect::<Result<_, _>>()
        .ok()?;
    let whole = parts.join(",");
    let entries = whole.split(',').filter(|entry| !entry.trim().is_empty());
    let is_usable = (1..=STATE_ENTRIES_MAX).contains(&entries.count())
        && whole.len() <= STATE_LENGTH_MAX
        && whole
            .bytes()
            .all(|byte| matches!(byte, b'\t' | b' '..=b'~'));
    is_usable.then_some(whole)
}

#[cfg(test)]
mod tests {
    use super::*;

    const TRACE: &str = "4bf92f3577b34da6a3ce929d0e0e4736";

    fn read(parents: &[&str], states: &[&str]) -> Option<Trace> {
        Trace::read(
            parents.iter().map(|text| text.as_bytes()),
            states.iter().map(|text| text.as_bytes()),
        )
    }

    #[test]
    fn a_trace_goes_on_with_another_span() {
        let parent = format!("00-{TRACE}-00f067aa0ba902b7-01");
        let trace = read(&[&parent], &["congo=t61rcWkgMzE", "rojo=1"]).unwrap();
        assert_eq!(trace.id(), TRACE);
        let call = trace.parent_of_call("1111111111111111");
        assert_eq!(call, format!("00-{TRACE}-1111111111111111-01"));
        assert_eq!(trace.state(), Some("congo=t61rcWkgMzE,rojo=1"));
        let text = serde_json::to_string(&trace).unwrap();
        assert_eq!(serde_json::from_str::<Trace>(&text).unwrap(), trace);
        // Not sampled stays not sampled; flags of later versions are not passed on.
        for (flags, expected) in [("00", "00"), ("03", "03"), ("ff", "03")] {
            let parent = format!("00-{TRACE}-00f067aa0ba902b7-{flags}");
            let call = read(&[&parent], &[]).unwrap().parent_of_call("1");
            assert!(call.ends_with(&format!("-1-{expected}")), "{call}");
        }
        let later = format!("42-{TRACE}-00f067aa0ba902b7-01-more");
        assert_eq!(read(&[&later], &[]).unwrap().id(), TRACE);
    }

    #[test]
    fn what_cannot_be_read_is_left_out() {
        let good = format!("00-{TRACE}-00f067aa0ba902b7-01");
        for parents in [
            vec![],
            vec![&*good, &*good],
            vec![""],
            vec!["00"],
            vec!["00-4BF92F3577B34DA6A3CE929D0E0E4736-00f067aa0ba902b7-01"],
            vec!["00-00000000000000000000000000000000-00f067aa0ba902b7-01"],
            vec!["00-4bf92f3577b34da6a3ce929d0e0e4736-0000000000000000-01"],
            vec!["ff-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"],
            vec!["00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01-more"],
            vec!["42-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01more"],
            vec!["00-4bf92f3577b34da6a3ce929d0e0e473-00f067aa0ba902b7a-01"],
            vec!["00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902é7-01"],
        ] {
            assert_eq!(read(&parents, &["a=1"]), None, "{parents:?}");
        }
        let long = format!("a={}", "x".repeat(STATE_LENGTH_MAX));
        let many = vec!["a=1"; STATE_ENTRIES_MAX + 1];
        for states in [vec![&*long], many, vec![], vec![" "], vec!["a=é"]] {
            let trace = read(&[&good], &states).unwrap();
            assert_eq!(trace.state(), None, "{states:?}");
        }
    }
}
