//! `--time-zones`: whose rules of time zones are used.

use std::path::{Path, PathBuf};

use anyhow::{Context as _, bail};
use clap::ValueEnum;
use refire_schedule::use_zone_files;

/// Where systems keep their compiled zones, in the order in which they are tried.
const DIRECTORIES: [&str; 4] = [
    "/usr/share/zoneinfo",
    "/usr/lib/zoneinfo",
    "/usr/share/lib/zoneinfo",
    "/etc/zoneinfo",
];

/// Whose rules of time zones are used.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, ValueEnum)]
pub(crate) enum TimeZones {
    /// Those of this program: the same on every machine.
    #[default]
    BuiltIn,
    /// Those of this machine (TZDIR, else /usr/share/zoneinfo): as new as its packages.
    System,
}

impl TimeZones {
    /// The word in a settings file.
    pub(super) fn parse(text: &str) -> anyhow::Result<Self> {
        match text {
            "built-in" => Ok(Self::BuiltIn),
            "system" => Ok(Self::System),
            _ => bail!("`{text}` is neither built-in nor system"),
        }
    }

    /// Uses them from now on, in the whole process; before any schedule is read.
    pub(crate) fn choose(self) -> anyhow::Result<()> {
        match self {
            Self::BuiltIn => Ok(()),
            Self::System => use_zone_files(&directory()).context(
                "--time-zones system: install the package tzdata, or name its directory in TZDIR",
            ),
        }
    }
}

fn directory() -> PathBuf {
    let named = std::env::var_os("TZDIR").filter(|path| !path.is_empty());
    let usual = || {
        let there = DIRECTORIES.iter().find(|path| Path::new(path).is_dir());
        there.unwrap_or(&DIRECTORIES[0]).into()
    };
    named.map_or_else(usual, PathBuf::from)
}
