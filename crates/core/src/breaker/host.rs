//! How people name a target.

use crate::definition::authority;

/// The names that a person may mean by a text such as `API.Example.com:443`, the likeliest first: as targets
/// are called, a port that is the scheme's own is left out. What is wrong with it, if it can be none.
pub fn names(text: &str) -> Result<Vec<String>, String> {
    let text = text.trim();
    let mut names = Vec::with_capacity(2);
    for scheme in ["https", "http"] {
        let name = authority(text, scheme)?;
        if !names.contains(&name) {
            names.push(name);
        }
    }
    Ok(names)
}
