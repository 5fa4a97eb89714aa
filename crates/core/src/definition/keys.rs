//! The keys a definition may have (those of `config` are with the step types): one table for the parser, the schema's test and the canonical
//! form, so that they cannot disagree.

/// A key, its other spellings, and what stands below it.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Known {
    /// The spelling of the documentation: camelCase in definitions, snake_case in triggers. The
    /// other one is accepted as well.
    pub(crate) name: &'static str,
    /// Further spellings.
    pub(crate) also: &'static [&'static str],
    /// Other words for it that are not accepted, but tell what is meant.
    pub(crate) mistaken: &'static [&'static str],
    /// The keys of the mapping below it, or of the mappings in the list below it.
    pub(crate) below: &'static [Known],
}

impl Known {
    pub(crate) const fn new(name: &'static str) -> Self {
        Self {
            name,
            also: &[],
            mistaken: &[],
            below: &[],
        }
    }

    pub(crate) const fn also(name: &'static str, also: &'static [&'static str]) -> Self {
        Self {
            also,
            ..Self::new(name)
        }
    }

    pub(crate) const fn mistaken_for(
        name: &'static str,
        mistaken: &'static [&'static str],
    ) -> Self {
        Self {
            mistaken,
            ..Self::new(name)
        }
    }

    /// The same with words that are not accepted for it.
    const fn not_written(self, mistaken: &'static [&'static str]) -> Self {
        Self { mistaken, ..self }
    }

    pub(crate) const fn with(name: &'static str, below: &'static [Known]) -> Self {
        Self {
            below,
            ..Self::new(name)
        }
    }

    /// Whether `written` is a spelling of this key.
    pub(crate) fn is(&self, written: &str) -> bool {
        self.name == written
            || self.also.contains(&written)
            || snake(self.name) == written
            || camel(self.name) == written
    }
}

pub(crate) const WORKFLOW: &[Known] = &[
    Known::new("$schema"),
    Known::new("id"),
    Known::new("name"),
    Known::new("description"),
    Known::with("retry", RETRY).not_written(&["retries", "maxRetries"]),
    Known::with("concurrency", CONCURRENCY),
    Known::with("rateLimit", RATE_LIMIT),
    Known::new("deadLetter"),
    Known::with("steps", STEP),
    Known::new("output"),
];

pub(crate) const STEP: &[Known] = &[
    Known::new("id"),
    Known::new("type"),
    Known::new("needs"),
    Known::new("when"),
    Known::with("retry", RETRY).not_written(&["retries", "maxRetries"]),
    Known::with("callback", CALLBACK),
    Known::new("compensate"),
    // Its keys are those of the step type.
    Known::new("config"),
    Known::new("outputMapping"),
];

pub(crate) const RETRY: &[Known] = &[
    Known::also("enabled", &["retry_enabled", "retryEnabled"]),
    Known::new("maxRetries"),
    Known::new("maxAttempts"),
    Known::also("initialDelay", &["initial_delay_seconds"]),
    Known::new("baseDelayMs"),
    Known::also("strategy", &["backoff_strategy", "backoff"]),
    Known::new("multiplier"),
    Known::new("maxDelay"),
    Known::new("maxElapsed"),
    Known {
        also: &["jitter_enabled", "jitterEnabled"],
        ..Known::with("jitter", JITTER)
    },
    Known::with("retryOn", RETRY_ON),
    Known::also(
        "retryableErrors",
        &["retryable_error_codes", "retryableErrorCodes"],
    ),
    Known::with("failOn", FAIL_ON),
];

pub(crate) const CALLBACK: &[Known] = &[Known::new("window")];

pub(crate) const JITTER: &[Known] = &[Known::new("type"), Known::new("ratio")];

pub(crate) const RETRY_ON: &[Known] = &[Known::new("statuses"), Known::new("errors")];

pub(crate) const FAIL_ON: &[Known] = &[Known::new("statuses")];

pub(crate) const CONCURRENCY: &[Known] = &[
    Known::new("max"),
    Known::new("key"),
    Known::new("maxPerKey"),
];

pub(crate) const RATE_LIMIT: &[Known] = &[Known::new("max"), Known::new("per"), Known::new("key")];

/// `maxRetries` → `max_retries`.
pub(crate) fn snake(name: &str) -> String {
    let mut out = String::with_capacity(name.len() + 4);
    for c in name.chars() {
        if c.is_ascii_uppercase() {
            out.push('_');
        }
        out.push(c.to_ascii_lowercase());
    }
    out
}

/// `misfire_max` → `misfireMax`.
fn camel(name: &str) -> String {
    let mut out = String::with_capacity(name.len());
    let mut raise = false;
    for c in name.chars() {
        match c {
            '_' => raise = true,
            _ if raise => {
                out.push(c.to_ascii_uppercase());
                raise = false;
            }
            _ => out.push(c),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_spellings_are_one_key() {
        let key = Known::new("maxResponseBytes");
        assert!(key.is("maxResponseBytes") && key.is("max_response_bytes"));
        assert!(!key.is("maxresponsebytes"));
        let key = Known::new("misfire_max");
        assert!(key.is("misfireMax") && key.is("misfire_max"));
        assert!(!key.is("misfiremax"));
    }
}
