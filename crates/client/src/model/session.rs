//! Sessions of the console.

shapes! {
    /// What begins a session of the console: a key, or what a one-time link has behind `#t=`.
    #[serde(deny_unknown_fields)]
    pub struct LogIn {
        /// An API key.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub key: Option<String>,
        /// The token of a one-time link.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub token: Option<String>,
    }

    /// Who calls, and where.
    pub struct Session {
        /// The name of the key.
        pub actor: String,
        /// What the key may do.
        pub scopes: Vec<String>,
        /// When the session ends if nobody uses it; null for calls with a key.
        pub expires_at: Option<String>,
        /// The server's version.
        pub version: String,
        /// The process that answers.
        pub node_id: String,
        /// Whether targets on this machine and in private networks may be called (`--dev`).
        pub dev: bool,
        /// The public address of the server (`--public-url`).
        pub public_url: Option<String>,
        /// The server's clock.
        pub server_time: String,
    }

    /// A link that logs in to the console by itself.
    pub struct SessionLink {
        /// Where to go, once.
        pub url: String,
        /// Until when.
        pub expires_at: String,
    }
}
