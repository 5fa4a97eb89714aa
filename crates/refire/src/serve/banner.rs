//! What a person sees at the start: where it is, the key once, and what to do next.

use std::fmt::Write as _;
use std::io::Write as _;
use std::net::SocketAddr;
use std::path::Path;

use super::key::Obtained;
use crate::config::ServeConfig;
use crate::program;

/// The address at which the command line looks by itself.
const USUAL: &str = "127.0.0.1:7373";

/// And where it looks for the key, from the directory it runs in.
const USUAL_DATA: &str = "./refire-data";

/// Prints it; whoever does not read it is not bothered.
pub(super) fn print(config: &ServeConfig, address: SocketAddr, key: &Obtained) {
    let data = std::path::absolute(&config.data_dir).unwrap_or_else(|_| config.data_dir.clone());
    let is_usual = config.data_dir.as_path() == Path::new(USUAL_DATA);
    let refire = program::name();
    let data = data.display().to_string();
    let text = text(&refire, (&data, is_usual), config.dev, address, key);
    let mut out = std::io::stdout().lock();
    let _ = out.write_all(text.as_bytes());
    let _ = out.flush();
}

fn text(
    refire: &str,
    (data, is_usual): (&str, bool),
    dev: bool,
    address: SocketAddr,
    key: &Obtained,
) -> String {
    let mut text = String::new();
    let version = env!("CARGO_PKG_VERSION");
    let _ = writeln!(text, "Refire {version} is ready at http://{address}");
    let _ = writeln!(text, "  docs       http://{address}/docs");
    let _ = writeln!(text, "  data       {data}");
    if dev {
        let _ = writeln!(
            text,
            "  dev        on: targets on this machine and in private networks may be called"
        );
    }
    if let Some(file) = &key.new_file {
        let _ = writeln!(text, "  admin key  {}", key.text);
        let _ = writeln!(
            text,
            "             shown only this once, kept in {}",
            file.display()
        );
    }
    let place = if is_usual { " in this directory" } else { "" };
    let _ = writeln!(text, "\nNext, in another terminal{place}:");
    if address.to_string() != USUAL {
        let _ = writeln!(text, "  export REFIRE_URL=http://{address}");
    }
    if !is_usual {
        let _ = writeln!(text, "  export REFIRE_DATA_DIR={data}");
    }
    let _ = writeln!(text, "  {refire} workflow apply -f {}", example());
    let _ = writeln!(
        text,
        "  {refire} execute <workflow> --input '{{\"customer_id\": 4711}}'"
    );
    let _ = writeln!(text, "  {refire} executions list");
    let _ = writeln!(
        text,
        "\nNo workflow yet? `{refire} demo --listen 127.0.0.1:7374` shows some at work."
    );
    text
}

/// A definition that is there, where the server is started from its own sources.
fn example() -> &'static str {
    const SHIPPED: &str = "examples/workflows/hello.yaml";
    if Path::new(SHIPPED).is_file() {
        SHIPPED
    } else {
        "workflow.yaml"
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_key_is_shown_only_when_it_is_new() {
        let address: SocketAddr = "127.0.0.1:7373".parse().unwrap();
        let key = |new_file| Obtained {
            text: "rf_secret".to_owned(),
            new_file,
        };
        let first = text(
            "refire",
            ("/data", true),
            false,
            address,
            &key(Some("/data/admin.key".into())),
        );
        assert!(first.contains("rf_secret") && first.contains("/data/admin.key"));
        assert!(!first.contains("export") && !first.contains("dev "));
        let later = text(
            "refire",
            ("/data", false),
            true,
            "127.0.0.1:1".parse().unwrap(),
            &key(None),
        );
        assert!(!later.contains("rf_secret") && later.contains("  dev        on"));
        assert!(later.contains("export REFIRE_URL=http://127.0.0.1:1"));
        assert!(later.contains("export REFIRE_DATA_DIR=/data"));
    }
}
