//! What a person types to run this program: `refire` if the shell finds it, else the way to it.

use std::env;
use std::path::Path;

/// The command to show in hints.
pub(crate) fn name() -> String {
    let Ok(path) = env::current_exe() else {
        return "refire".to_owned();
    };
    let on_path = env::var_os("PATH").is_some_and(|paths| {
        env::split_paths(&paths).any(|folder| folder.join("refire").is_file())
    });
    if on_path {
        return "refire".to_owned();
    }
    let here = env::current_dir().unwrap_or_default();
    shown(&path, &here)
}

/// Relative where that is shorter.
fn shown(path: &Path, here: &Path) -> String {
    match path.strip_prefix(here) {
        Ok(below) => format!("./{}", below.display()),
        Err(_) => path.display().to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_shortest_way_is_shown() {
        let path = Path::new("/src/refire/target/debug/refire");
        assert_eq!(
            shown(path, Path::new("/src/refire")),
            "./target/debug/refire"
        );
        assert_eq!(
            shown(path, Path::new("/home")),
            "/src/refire/target/debug/refire"
        );
    }
}
