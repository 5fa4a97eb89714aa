//! The fuzz targets over their corpus, with the usual compiler: what was found once stays mended.
//!
//! The functions are those of `fuzz/src`; nothing of libFuzzer is needed to call them.
#![expect(clippy::unwrap_used, reason = "a test that cannot go on should panic")]

#[path = "../../../fuzz/src/lib.rs"]
pub mod targets;

use std::fs;
use std::path::{Path, PathBuf};

use self::targets::TARGETS;

/// Inputs that every target begins with; fewer would mean that a folder was not found.
const INPUTS_MIN: usize = 5;

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// The inputs of a target: its corpus, what ever failed, and real definitions.
fn inputs(target: &str) -> Vec<PathBuf> {
    let mut folders = vec![
        format!("fuzz/corpus/{target}"),
        format!("fuzz/regressions/{target}"),
    ];
    if target == "definition" {
        folders.extend(["examples/workflows".to_owned(), "examples/demo".to_owned()]);
    }
    let files = folders.into_iter().flat_map(|folder| {
        // A target that nothing was ever found in has no folder of regressions.
        fs::read_dir(root().join(folder)).into_iter().flatten()
    });
    files.map(|file| file.unwrap().path()).collect()
}

#[test]
fn every_input_passes_its_target() {
    for (name, run) in TARGETS {
        let inputs = inputs(name);
        assert!(
            inputs.len() >= INPUTS_MIN,
            "{name} has {} inputs",
            inputs.len()
        );
        for path in inputs {
            let data = fs::read(&path).unwrap();
            let passed = std::panic::catch_unwind(|| run(&data)).is_ok();
            assert!(passed, "{name} fails on {}", path.display());
        }
    }
}

#[test]
fn every_input_cut_short_passes_too() {
    for (name, run) in TARGETS {
        for path in inputs(name) {
            let data = fs::read(&path).unwrap();
            let step = data.len() / 20 + 1;
            for end in (0..data.len()).step_by(step) {
                let passed = std::panic::catch_unwind(|| run(&data[..end])).is_ok();
                assert!(
                    passed,
                    "{name} fails on the first {end} bytes of {}",
                    path.display()
                );
            }
        }
    }
}

#[test]
fn every_folder_belongs_to_a_target_and_every_target_has_its_door() {
    for kind in ["corpus", "regressions"] {
        for folder in fs::read_dir(root().join("fuzz").join(kind))
            .into_iter()
            .flatten()
        {
            let name = folder.unwrap().file_name().into_string().unwrap();
            let known = TARGETS.iter().any(|(target, _)| *target == name);
            assert!(known, "fuzz/{kind}/{name} is run by nobody");
        }
    }
    let manifest = fs::read_to_string(root().join("fuzz/Cargo.toml")).unwrap();
    for (name, _) in TARGETS {
        assert!(
            manifest.contains(&format!("path = \"targets/{name}.rs\"")),
            "{name}"
        );
        assert!(
            root().join(format!("fuzz/targets/{name}.rs")).exists(),
            "{name}"
        );
    }
}
