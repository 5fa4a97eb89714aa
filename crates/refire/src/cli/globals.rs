//! Options that every command takes.

use std::path::{Path, PathBuf};

use clap::{Args, ValueEnum};

/// Where a server on this machine is found.
pub(crate) const DEFAULT_URL: &str = "http://127.0.0.1:7373";

const DATA_DIR: &str = "./refire-data";

const HEADING: &str = "Global options";

/// Which server, whose key, and how to answer.
#[derive(Debug, Clone, Args)]
pub(crate) struct Globals {
    /// The server's address
    #[arg(long, global = true, env = "REFIRE_URL", value_name = "URL", default_value = DEFAULT_URL)]
    #[arg(help_heading = HEADING, hide_env_values = true)]
    url: String,

    /// The API key; without one, `admin.key` in the data directory is used for a server on this
    /// machine
    #[arg(long, global = true, env = "REFIRE_API_KEY", value_name = "KEY")]
    #[arg(help_heading = HEADING, hide_env_values = true)]
    pub(crate) api_key: Option<String>,

    /// Where a server on this machine keeps its data [default: ./refire-data]
    // Without a default here: `serve` has the same option, and its settings file stands between
    // the two.
    #[arg(long, global = true, env = "REFIRE_DATA_DIR", value_name = "DIR")]
    #[arg(help_heading = HEADING, hide_env_values = true)]
    data_dir: Option<PathBuf>,

    /// Tables for people, or the API's answer as one JSON document
    #[arg(long, global = true, value_enum, default_value_t, help_heading = HEADING)]
    pub(crate) format: Format,

    /// No colours, also on a terminal (NO_COLOR does the same)
    #[arg(long, global = true, help_heading = HEADING)]
    pub(crate) no_color: bool,
}

impl Globals {
    /// The server's address; a variable that is set to nothing counts as not set.
    pub(crate) fn url(&self) -> &str {
        match self.url.trim() {
            "" => DEFAULT_URL,
            url => url,
        }
    }

    /// Where a server on this machine keeps its data.
    pub(crate) fn data_dir(&self) -> &Path {
        self.data_dir
            .as_deref()
            .unwrap_or_else(|| Path::new(DATA_DIR))
    }
}

/// How data is written to the standard output: for people, or for programs.
// The variants have no comments of their own, since those would make every help text longer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, ValueEnum)]
pub(crate) enum Format {
    #[default]
    Table,
    Json,
}
