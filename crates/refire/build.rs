//! Puts the console's built files into the binary, packed once here and not for every answer.
//!
//! `console/dist` is committed, so that a build needs nothing but Rust. Where it is missing, a page says how
//! to make it.

use std::error::Error;
use std::fmt::Write as _;
use std::fs;
use std::io::Write as _;
use std::path::{Path, PathBuf};

use flate2::Compression;
use flate2::write::GzEncoder;
use sha2::{Digest, Sha256};

/// The console's built files, from this crate.
const BUILT: &str = "../../console/dist";
/// What is served in their place where they are missing.
const UNBUILT: &str = "src/api/console/unbuilt";
/// Brotli's effort in a build that somebody waits for: a tenth larger than the best, in a fiftieth of its time.
const QUALITY_QUICK: i32 = 5;
/// And in one that is given to others.
const QUALITY_BEST: i32 = 11;
/// Brotli's window, as a power of two: larger than any file here.
const WINDOW_BITS: i32 = 22;
/// Bytes of the encoder's buffer.
const BUFFER_BYTES: usize = 4_096;
/// Bytes of the hash that stand in an ETag.
const TAG_BYTES: usize = 12;
/// Files that are packed already.
const PACKED: [&str; 5] = ["woff2", "png", "jpg", "webp", "ico"];

type Outcome<T> = Result<T, Box<dyn Error>>;

fn main() -> Outcome<()> {
    let crate_dir = PathBuf::from(std::env::var("CARGO_MANIFEST_DIR")?);
    let out = PathBuf::from(std::env::var("OUT_DIR")?);
    let is_release = std::env::var("PROFILE")? == "release";
    let quality = if is_release {
        QUALITY_BEST
    } else {
        QUALITY_QUICK
    };
    let built = crate_dir.join(BUILT);
    let root = match built.join("index.html").exists() {
        true => built.clone(),
        false => crate_dir.join(UNBUILT),
    };
    for watched in ["build.rs", BUILT, UNBUILT] {
        println!("cargo::rerun-if-changed={watched}");
    }
    let mut files = Vec::new();
    list(&root, &root, &mut files)?;
    files.sort();
    let mut table = String::from("&[\n");
    for (number, name) in files.iter().enumerate() {
        let path = root.join(name);
        let plain = fs::read(&path)?;
        let is_packed = path
            .extension()
            .is_some_and(|extension| PACKED.iter().any(|packed| extension == *packed));
        let pack = |ending: &str, packed: Outcome<Vec<u8>>| {
            let packed = packed?;
            if is_packed || packed.len() >= plain.len() {
                return Ok::<_, Box<dyn Error>>("None".to_owned());
            }
            let file = out.join(format!("console-{number}.{ending}"));
            fs::write(&file, packed)?;
            Ok(format!("Some(include_bytes!({file:?}))"))
        };
        let brotli = pack("br", brotli(&plain, quality))?;
        let gzip = pack("gz", gzip(&plain))?;
        let tag = tag(&plain);
        writeln!(
            table,
            "    File {{ name: {name:?}, tag: {tag:?}, plain: include_bytes!({path:?}), brotli: {brotli}, gzip: {gzip} }},"
        )?;
    }
    table.push(']');
    fs::write(out.join("console.rs"), table)?;
    Ok(())
}

/// Every file below a directory, by its path with `/`.
fn list(root: &Path, directory: &Path, found: &mut Vec<String>) -> Outcome<()> {
    for entry in fs::read_dir(directory)? {
        let path = entry?.path();
        if path.is_dir() {
            list(root, &path, found)?;
            continue;
        }
        let name = path.strip_prefix(root)?.components();
        let name: Vec<_> = name
            .map(|part| part.as_os_str().to_str().ok_or("a name that is not UTF-8"))
            .collect::<Result<_, _>>()?;
        found.push(name.join("/"));
    }
    Ok(())
}

fn brotli(plain: &[u8], quality: i32) -> Outcome<Vec<u8>> {
    let params = brotli::enc::BrotliEncoderParams {
        quality,
        lgwin: WINDOW_BITS,
        size_hint: plain.len(),
        ..Default::default()
    };
    let mut writer = brotli::CompressorWriter::with_params(Vec::new(), BUFFER_BYTES, &params);
    writer.write_all(plain)?;
    writer.flush()?;
    Ok(writer.into_inner())
}

fn gzip(plain: &[u8]) -> Outcome<Vec<u8>> {
    let mut writer = GzEncoder::new(Vec::new(), Compression::best());
    writer.write_all(plain)?;
    Ok(writer.finish()?)
}

fn tag(plain: &[u8]) -> String {
    let hash = Sha256::digest(plain);
    let bytes = hash.iter().take(TAG_BYTES);
    bytes.fold(String::new(), |mut text, byte| {
        let _ = write!(text, "{byte:02x}");
        text
    })
}
