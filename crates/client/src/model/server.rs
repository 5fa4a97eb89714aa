//! The server itself.

use serde::{Deserialize, Serialize};

/// Whether the server is well.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct Health {
    /// `ok`, or why not.
    pub status: String,
}

/// What runs.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct Version {
    /// The server's version.
    pub version: String,
    /// This process.
    pub node_id: String,
    /// `sqlite` or `postgres`
    pub store: String,
}

/// Copies the whole store to a new file while it is in use.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct BackupRequest {
    /// A file on the server's machine that does not exist yet. A relative path starts in the
    /// directory in which the server was started.
    pub to: String,
}

/// A finished backup.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct BackupResult {
    /// The file, as an absolute path.
    pub path: String,
    /// Its size.
    pub bytes: u64,
    /// How long it took.
    pub duration_ms: u64,
}
