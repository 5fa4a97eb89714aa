//! The server itself.

shapes! {
    /// Whether the server is healthy.
    pub struct Health {
        /// `ok`, or why not.
        pub status: String,
    }

    /// What runs.
    pub struct Version {
        /// The server's version.
        pub version: String,
        /// This process.
        pub node_id: String,
        /// `sqlite` or `postgres`
        pub store: String,
        /// The version of the time-zone database that is used, such as `2026e`.
        #[serde(default)]
        pub time_zones: String,
        /// Where that comes from: `built-in` or `system`
        #[serde(default)]
        pub time_zone_source: String,
    }

    /// A process that runs executions. Several share one PostgreSQL; on SQLite there is one.
    pub struct Node {
        /// The process; a new one with every start, and after a lost lease.
        pub node_id: String,
        /// Its name for people, `--node-name`.
        pub name: String,
        /// Where it listens.
        pub address: String,
        /// The program's version.
        pub version: String,
        /// When it became a node, by the database's clock.
        pub started_at: String,
        /// When it was last heard of.
        pub renewed_at: String,
        /// When the other nodes may take over its work, if it stays silent until then.
        pub expires_at: String,
        /// Attempts in flight there.
        pub running: u64,
        /// Work that it holds and has not begun, such as waits that end soon.
        pub holding: u64,
        /// How long all but one of a hundred of its newest commits took at most, in milliseconds; only of the
        /// node that answers.
        pub commit_ms_p99: Option<f64>,
        /// Whether it is the one that answers.
        pub is_this: bool,
    }

    /// Backs up all data to a new SQLite file while the server runs.
    #[serde(deny_unknown_fields)]
    pub struct BackupRequest {
        /// A file that does not exist yet, in the server's directory for backups (`--backup-dir`); a
        /// relative path starts there.
        pub to: String,
    }

    /// A finished backup.
    pub struct BackupResult {
        /// The file, as an absolute path.
        pub path: String,
        /// Its size.
        pub bytes: u64,
        /// How long it took.
        pub duration_ms: u64,
    }
}
