//! Secrets for step configuration. They are looked up at the moment of the call and go nowhere
//! else: not into events, not into state, not into logs.

/// Finds secrets by name.
pub trait Secrets: Send + Sync + 'static {
    /// The secret's value.
    fn get(&self, name: &str) -> Option<String>;
}

/// Secrets from the environment: `${secret.CRM_TOKEN}` is `REFIRE_SECRET_CRM_TOKEN`.
#[derive(Debug, Clone, Copy, Default)]
pub struct EnvironmentSecrets;

impl Secrets for EnvironmentSecrets {
    fn get(&self, name: &str) -> Option<String> {
        std::env::var(format!("REFIRE_SECRET_{name}")).ok()
    }
}
