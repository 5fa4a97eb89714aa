//! Typed identifiers: sixteen time-ordered bytes inside, a prefix and 26 letters outside.
//!
//! The bytes follow the layout of UUID version 7, so keys grow at the right edge of every index.
//! Ids are made by the shell (`refire-engine`) or derived from another id; this file only
//! reads and writes them.

use std::fmt;
use std::str::FromStr;

/// Crockford's alphabet in lower case: sorts like the bytes and has no `i`, `l`, `o`, `u`.
const ALPHABET: &[u8; 32] = b"0123456789abcdefghjkmnpqrstvwxyz";
/// Letters needed for 128 bits at five bits each.
const TEXT_LEN: usize = 26;

/// A text that is not an id of the expected kind.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("not {article} id: expected `{prefix}` followed by {letters} letters and digits")]
pub struct IdError {
    prefix: &'static str,
    article: &'static str,
    letters: usize,
}

fn encode(bytes: [u8; 16]) -> [u8; TEXT_LEN] {
    let number = u128::from_be_bytes(bytes);
    let mut text = [0u8; TEXT_LEN];
    for (place, letter) in text.iter_mut().enumerate() {
        let shift = 5 * (TEXT_LEN - 1 - place);
        *letter = ALPHABET[((number >> shift) & 31) as usize];
    }
    text
}

fn decode(text: &str) -> Option<[u8; 16]> {
    if text.len() != TEXT_LEN {
        return None;
    }
    let mut number = 0u128;
    for (place, letter) in text.bytes().enumerate() {
        let value = ALPHABET.iter().position(|known| *known == letter)? as u128;
        // 26 letters hold 130 bits: the first may use only three of its five.
        if place == 0 && value > 7 {
            return None;
        }
        number = (number << 5) | value;
    }
    Some(number.to_be_bytes())
}

/// Sixteen bytes in UUID version 7 layout from a time and ten bytes of entropy.
#[must_use]
pub fn time_ordered(unix_ms: u64, entropy: [u8; 10]) -> [u8; 16] {
    let mut bytes = [0u8; 16];
    bytes[..6].copy_from_slice(&unix_ms.to_be_bytes()[2..]);
    bytes[6..].copy_from_slice(&entropy);
    bytes[6] = 0x70 | (bytes[6] & 0x0f);
    bytes[8] = 0x80 | (bytes[8] & 0x3f);
    bytes
}

macro_rules! typed_id {
    ($(#[$doc:meta])* $name:ident, $prefix:literal, $article:literal) => {
        $(#[$doc])*
        #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub struct $name([u8; 16]);

        impl $name {
            /// What the text form begins with.
            pub const PREFIX: &'static str = $prefix;

            /// An id from its bytes.
            #[must_use]
            pub const fn from_bytes(bytes: [u8; 16]) -> Self {
                Self(bytes)
            }

            /// The bytes, as they are stored.
            #[must_use]
            pub const fn as_bytes(&self) -> &[u8; 16] {
                &self.0
            }

            /// The millisecond in which the id was made.
            #[must_use]
            pub fn unix_ms(&self) -> u64 {
                let mut bytes = [0u8; 8];
                bytes[2..].copy_from_slice(&self.0[..6]);
                u64::from_be_bytes(bytes)
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str($prefix)?;
                let text = encode(self.0);
                f.write_str(std::str::from_utf8(&text).unwrap_or_default())
            }
        }

        impl fmt::Debug for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                fmt::Display::fmt(self, f)
            }
        }

        impl FromStr for $name {
            type Err = IdError;

            fn from_str(text: &str) -> Result<Self, IdError> {
                text.strip_prefix($prefix)
                    .and_then(decode)
                    .map(Self)
                    .ok_or(IdError {
                        prefix: $prefix,
                        article: $article,
                        letters: TEXT_LEN,
                    })
            }
        }

        impl serde::Serialize for $name {
            fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                serializer.collect_str(self)
            }
        }

        impl<'de> serde::Deserialize<'de> for $name {
            fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                let text = <std::borrow::Cow<'de, str>>::deserialize(deserializer)?;
                text.parse().map_err(serde::de::Error::custom)
            }
        }
    };
}

typed_id!(
    /// One run of a workflow.
    ExecutionId, "exec_", "an execution"
);
typed_id!(
    /// One dead letter.
    DlqId, "dlq_", "a dead letter"
);
typed_id!(
    /// One running server process.
    NodeId, "node_", "a node"
);
typed_id!(
    /// What starts a workflow.
    TriggerId, "trg_", "a trigger"
);
typed_id!(
    /// The unguessable name in a webhook's address: sixteen random bytes, without a time in them.
    WebhookId, "wh_", "a webhook"
);
typed_id!(
    /// One request to a webhook.
    RequestId, "whr_", "a webhook request"
);
typed_id!(
    /// One scheduled task. Its workflow is called the same, and its trigger has the same bytes.
    ScheduledTaskId, "task-", "a scheduled task"
);
typed_id!(
    /// A rule by which people are alerted.
    AlertRuleId, "rule_", "an alert rule"
);
typed_id!(
    /// One alert, from when it begins until it is over.
    AlertId, "alert_", "an alert"
);
typed_id!(
    /// A time in which alerts are told to nobody.
    SilenceId, "sil_", "a silence"
);
typed_id!(
    /// A way to tell people.
    ChannelId, "chn_", "a channel"
);
typed_id!(
    /// Something that people are to be told of.
    NoticeId, "ntc_", "a notice"
);
typed_id!(
    /// Notices that are told of together: the first bytes of a hash of what they have in common.
    GroupId, "grp_", "a group of notices"
);
typed_id!(
    /// A message to people. It is sent by an execution with the same bytes.
    NotificationId, "ntf_", "a notification"
);
typed_id!(
    /// A worker's hold on a task: sixteen random bytes, without a time in them.
    LockToken, "lk_", "a lock token"
);

typed_id!(
    /// One bulk job.
    BulkId, "bulk_", "a bulk job"
);
typed_id!(
    /// What a bulk job is about: the bytes of a dead letter's id, or of an execution's.
    ItemId, "item_", "an item"
);

impl From<DlqId> for ItemId {
    fn from(letter: DlqId) -> Self {
        Self(letter.0)
    }
}

impl From<ExecutionId> for ItemId {
    fn from(execution: ExecutionId) -> Self {
        Self(execution.0)
    }
}

impl ItemId {
    /// After every item: a walk goes from the newest to the oldest, and ends here.
    pub const END: Self = Self([0; 16]);

    /// The dead letter that it is.
    #[must_use]
    pub const fn letter(self) -> DlqId {
        DlqId(self.0)
    }

    /// The execution that it is.
    #[must_use]
    pub const fn execution(self) -> ExecutionId {
        ExecutionId(self.0)
    }
}

/// One task for workers. It *is* its step, so it needs no number of its own: 18 bytes, or `xt_` and 29
/// letters and digits.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct TaskId {
    /// The execution.
    pub execution: ExecutionId,
    /// The place of the step in its definition.
    pub step: u16,
}

impl TaskId {
    /// What the text form begins with.
    pub const PREFIX: &'static str = "xt_";
    /// Letters needed for 144 bits at five bits each.
    const TEXT_LEN: usize = 29;

    fn from_text(text: &str) -> Option<Self> {
        let text = text.strip_prefix(Self::PREFIX)?;
        let mut bytes = Vec::with_capacity(18);
        let (mut held, mut bits) = (0u32, 0);
        for (place, letter) in text.bytes().enumerate() {
            let value = ALPHABET.iter().position(|known| *known == letter)?;
            held = (held << 5) | u32::try_from(value).ok()?;
            // 29 letters hold 145 bits: the first may use only four of its five.
            bits += if place == 0 { 4 } else { 5 };
            if bits >= 8 {
                bits -= 8;
                bytes.push(u8::try_from(held >> bits).ok()?);
                held &= (1 << bits) - 1;
            }
        }
        let (execution, step) = bytes.split_first_chunk::<16>()?;
        let step: [u8; 2] = step.try_into().ok()?;
        (text.len() == Self::TEXT_LEN).then_some(Self {
            execution: ExecutionId::from_bytes(*execution),
            step: u16::from_be_bytes(step),
        })
    }
}

impl fmt::Display for TaskId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(Self::PREFIX)?;
        // The first letter has one bit less.
        let (mut held, mut bits) = (0u32, 1);
        let step = self.step.to_be_bytes();
        for byte in self.execution.as_bytes().iter().chain(&step) {
            held = (held << 8) | u32::from(*byte);
            bits += 8;
            while bits >= 5 {
                bits -= 5;
                let letter = ALPHABET[(held >> bits) as usize & 31];
                fmt::Write::write_char(f, char::from(letter))?;
                held &= (1 << bits) - 1;
            }
        }
        Ok(())
    }
}

impl fmt::Debug for TaskId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl FromStr for TaskId {
    type Err = IdError;

    fn from_str(text: &str) -> Result<Self, IdError> {
        Self::from_text(text).ok_or(IdError {
            prefix: Self::PREFIX,
            article: "a task",
            letters: Self::TEXT_LEN,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn text_and_bytes_agree_and_sort_alike(a: [u8; 16], b: [u8; 16]) {
            let (a, b) = (ExecutionId::from_bytes(a), ExecutionId::from_bytes(b));
            prop_assert_eq!(a.to_string().parse::<ExecutionId>().unwrap(), a);
            prop_assert_eq!(a.cmp(&b), a.to_string().cmp(&b.to_string()));
        }
    }

    proptest! {
        #[test]
        fn a_task_is_its_step(execution: [u8; 16], step: u16, other: u16) {
            let of = |step| TaskId { execution: ExecutionId::from_bytes(execution), step };
            let (id, other) = (of(step), of(other));
            prop_assert_eq!(id.to_string().parse::<TaskId>().unwrap(), id);
            prop_assert_eq!(id.cmp(&other), id.to_string().cmp(&other.to_string()));
            prop_assert!((id.to_string() + "0").parse::<TaskId>().is_err());
            prop_assert!(id.to_string()[..31].parse::<TaskId>().is_err());
            prop_assert!(id.to_string().replace("xt_", "exec_").parse::<TaskId>().is_err());
        }
    }

    #[test]
    fn other_prefixes_lengths_and_letters_are_refused() {
        let good = ExecutionId::from_bytes([7; 16]).to_string();
        assert!(
            good.replace("exec_", "dlq_")
                .parse::<ExecutionId>()
                .is_err()
        );
        assert!(good[..good.len() - 1].parse::<ExecutionId>().is_err());
        assert!(format!("{good}0").parse::<ExecutionId>().is_err());
        assert!(
            "exec_8zzzzzzzzzzzzzzzzzzzzzzzzz"
                .parse::<ExecutionId>()
                .is_err(),
            "129 bits"
        );
        assert!(
            "exec_uuuuuuuuuuuuuuuuuuuuuuuuuu"
                .parse::<ExecutionId>()
                .is_err()
        );
    }

    #[test]
    fn time_ordered_ids_carry_their_millisecond() {
        let id = ExecutionId::from_bytes(time_ordered(1_763_200_000_123, [0xff; 10]));
        assert_eq!(id.unix_ms(), 1_763_200_000_123);
    }
}
