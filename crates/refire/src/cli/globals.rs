//! Options that every command takes.

use std::path::{Path, PathBuf};

use clap::{Args, ValueEnum};

use crate::config::Here;

/// Where a server on this machine is found.
pub(crate) const DEFAULT_URL: &str = "http://127.0.0.1:7373";

const DATA_DIR: &str = "./refire-data";

const HEADING: &str = "Global options";

/// Which server, whose key, and how to answer.
#[derive(Debug, Clone, Args)]
pub(crate) struct Globals {
    /// The server's address [default: `listen` in ./refire.yaml, else http://127.0.0.1:7373]
    #[arg(long, global = true, env = "REFIRE_URL", value_name = "URL")]
    #[arg(help_heading = HEADING, hide_env_values = true)]
    url: Option<String>,

    /// The API key [default for a server on this machine: `admin.key` in the data directory]
    #[arg(long, global = true, env = "REFIRE_API_KEY", value_name = "KEY")]
    #[arg(help_heading = HEADING, hide_env_values = true)]
    api_key: Option<String>,

    /// The data directory of a server on this machine [default: `data_dir` in ./refire.yaml, else
    /// ./refire-data]
    // Without a default here: `serve` has the same option, and its settings file stands between
    // the two.
    #[arg(long, global = true, env = "REFIRE_DATA_DIR", value_name = "DIR")]
    #[arg(help_heading = HEADING, hide_env_values = true)]
    data_dir: Option<PathBuf>,

    /// Output: a table, or the API's answer as one JSON document
    #[arg(long, short = 'o', global = true, value_enum, default_value_t, help_heading = HEADING)]
    pub(crate) format: Format,

    /// Turn colours off, also on a terminal (the same as NO_COLOR)
    #[arg(long, global = true, help_heading = HEADING)]
    pub(crate) no_color: bool,
}

impl Globals {
    /// The server's address.
    pub(crate) fn url(&self) -> &str {
        given(self.url.as_ref()).unwrap_or(DEFAULT_URL)
    }

    /// The key that was given, if one was.
    pub(crate) fn own_key(&self) -> Option<&str> {
        given(self.api_key.as_ref())
    }

    /// Takes over what the settings file of a server says, where nothing else was said.
    pub(crate) fn fill_from(&mut self, here: &Here) {
        if given(self.url.as_ref()).is_none() {
            self.url = here.address.map(|address| format!("http://{address}"));
        }
        if self.data_dir.is_none() {
            self.data_dir.clone_from(&here.data_dir);
        }
    }

    /// Where a server on this machine keeps its data.
    pub(crate) fn data_dir(&self) -> &Path {
        self.data_dir
            .as_deref()
            .unwrap_or_else(|| Path::new(DATA_DIR))
    }
}

/// What was given; a variable that is set to nothing counts as not set.
fn given(text: Option<&String>) -> Option<&str> {
    text.map(|text| text.trim()).filter(|text| !text.is_empty())
}

/// How data is written to the standard output: for people, or for programs.
// The variants have no comments of their own, since those would make every help text longer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, ValueEnum)]
pub(crate) enum Format {
    #[default]
    Table,
    Json,
}
