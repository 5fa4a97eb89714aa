//! Secrets for step configuration. They are looked up at the moment of the call and go nowhere
//! else: not into events, not into state, not into logs.

/// Shorter secrets are not used: cut out of a text, they would match by chance all over it, and the
/// mask would then spell them out.
pub const SECRET_BYTES_MIN: usize = 4;

/// What the names of secrets have before them in the environment.
const PREFIX: &str = "REFIRE_SECRET_";

/// Finds secrets by name.
pub trait Secrets: Send + Sync + 'static {
    /// The secret's value.
    fn get(&self, name: &str) -> Option<String>;
}

/// Secrets from the environment: `${secret.CRM_TOKEN}` is `REFIRE_SECRET_CRM_TOKEN`.
#[derive(Debug, Clone, Copy, Default)]
pub struct EnvironmentSecrets;

impl EnvironmentSecrets {
    /// The variables whose values are too short to be used, in order.
    #[must_use]
    pub fn too_short() -> Vec<String> {
        let mut names: Vec<String> = std::env::vars_os()
            .filter(|(_, value)| value.len() < SECRET_BYTES_MIN)
            .filter_map(|(name, _)| name.into_string().ok())
            .filter(|name| name.starts_with(PREFIX))
            .collect();
        names.sort();
        names
    }
}

impl Secrets for EnvironmentSecrets {
    fn get(&self, name: &str) -> Option<String> {
        std::env::var(format!("{PREFIX}{name}")).ok()
    }
}
