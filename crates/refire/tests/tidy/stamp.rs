//! The built console that is committed is the one that its sources give. `console/scripts/stamp.mjs` has
//! the same rule.

use std::fs;
use std::path::Path;

use sha2::{Digest, Sha256};

use super::root;

/// Folders that the console is not built from.
const SKIPPED_FOLDERS: [&str; 4] = ["node_modules", "dist", "coverage", "screenshots"];
/// A file that a system leaves by itself.
const SKIPPED_FILE: &str = ".DS_Store";

/// Every source below a folder, by its path with `/`.
fn sources(folder: &Path, below: &str, found: &mut Vec<String>) {
    for entry in fs::read_dir(folder).unwrap() {
        let entry = entry.unwrap();
        let name = entry.file_name().into_string().unwrap();
        let kind = entry.file_type().unwrap();
        if kind.is_dir() && !SKIPPED_FOLDERS.contains(&name.as_str()) {
            sources(&entry.path(), &format!("{below}{name}/"), found);
        } else if kind.is_file() && name != SKIPPED_FILE {
            found.push(format!("{below}{name}"));
        }
    }
}

#[test]
fn the_built_console_is_that_of_its_sources() {
    let console = root().join("console");
    if !console.exists() {
        println!("SKIPPED: there is no console/ whose build could be old");
        return;
    }
    let mut paths = Vec::new();
    sources(&console, "", &mut paths);
    paths.sort();
    let mut hash = Sha256::new();
    for path in &paths {
        hash.update(path.as_bytes());
        hash.update([0]);
        hash.update(fs::read(console.join(path)).unwrap());
        hash.update([0]);
    }
    let found: String = hash
        .finalize()
        .iter()
        .map(|byte| format!("{byte:02x}"))
        .collect();
    let stamp = fs::read_to_string(console.join("dist/stamp.json"))
        .expect("console/dist is committed; `make console` builds it");
    let stamp: serde_json::Value = serde_json::from_str(&stamp).unwrap();
    assert_eq!(
        stamp["sources"], found,
        "console/dist is older than its sources, or newer; `make console` builds it again"
    );
}
