//! What a person sees at the start: where it is, the key once, and what to do next.

use std::fmt::Write as _;
use std::io::Write as _;
use std::net::SocketAddr;
use std::path::Path;

use refire_core::id::NodeId;
use refire_store::NodeRow;

use super::key::{Obtained, Origin};
use crate::config::{Database, ServeConfig, reachable};
use crate::program;

/// The address at which the command line looks by itself.
const USUAL: &str = "127.0.0.1:7373";

/// And where it looks for the key, from the directory it runs in.
const USUAL_DATA: &str = "./refire-data";

/// So many other nodes are named; of more only the count is said.
const NAMED_MAX: usize = 4;

/// A first workflow, the one of the README: it calls what its input says.
const FIRST: &str = r#"{id: ping, retry: {maxRetries: 2, initialDelay: 500ms}, steps: [{id: call, type: http, config: {url: "${input.url}"}}]}"#;

/// Where the console is.
pub(super) struct Console {
    /// As people reach the server.
    pub(super) address: String,
    /// A path below it that logs in, once.
    pub(super) link: Option<String>,
}

/// What there is to say.
pub(super) struct Greeting<'a> {
    refire: String,
    address: SocketAddr,
    key: &'a Obtained,
    data: String,
    /// Whether the data is where the command line looks by itself.
    is_usual: bool,
    dev: bool,
    /// Whether workflows may call this server itself.
    may_call_itself: bool,
    /// Whether anything can be run yet.
    has_workflows: bool,
    /// The database, if it is not in the data directory.
    database: Option<String>,
    /// This node among the others, if there can be others.
    node: Option<String>,
    console: Console,
}

impl<'a> Greeting<'a> {
    pub(super) fn new(
        config: &ServeConfig,
        address: SocketAddr,
        key: &'a Obtained,
        (nodes, node): (&[NodeRow], NodeId),
        has_workflows: bool,
        console: Console,
    ) -> Self {
        let data =
            std::path::absolute(&config.data_dir).unwrap_or_else(|_| config.data_dir.clone());
        let (database, node) = match &config.database {
            Database::Postgres(options) => (
                Some(format!("PostgreSQL at {}", options.place())),
                Some(among(&config.node.name, nodes, node)),
            ),
            Database::Sqlite(_) => (None, None),
        };
        Self {
            refire: program::name(),
            address,
            key,
            data: data.display().to_string(),
            is_usual: config.data_dir.as_path() == Path::new(USUAL_DATA),
            dev: config.dev,
            may_call_itself: config.allow.covers(reachable(address).ip()),
            has_workflows,
            database,
            node,
            console,
        }
    }

    /// Prints it; whoever does not read it is not bothered.
    pub(super) fn print(&self) {
        let mut out = std::io::stdout().lock();
        let _ = out.write_all(self.text().as_bytes());
        let _ = out.flush();
    }

    fn text(&self) -> String {
        let Self { address, data, .. } = self;
        let mut text = String::new();
        let version = env!("CARGO_PKG_VERSION");
        let _ = writeln!(text, "Refire {version} is ready at http://{address}");
        let _ = writeln!(text, "  console    {}/", self.console.address);
        if let Some(link) = &self.console.link {
            let _ = writeln!(text, "             {}{link}", self.console.address);
            let _ = writeln!(text, "             logs you in: once, within 15 minutes");
        }
        let _ = writeln!(text, "  docs       http://{address}/docs");
        if let Some(database) = &self.database {
            let _ = writeln!(text, "  database   {database}");
        }
        if let Some(node) = &self.node {
            let _ = writeln!(text, "  node       {node}");
        }
        let _ = writeln!(text, "  data       {data}");
        if self.dev {
            let _ = writeln!(
                text,
                "  dev        on: targets on this machine and in private networks can be called"
            );
        }
        if let Some((key, file)) = &self.key.new {
            let _ = writeln!(text, "  admin key  {key}");
            let _ = writeln!(
                text,
                "             shown only once; saved in {}",
                file.display()
            );
        }
        match self.key.origin {
            Origin::Kept => {}
            Origin::Given => {
                let _ = writeln!(text, "  admin key  the one in REFIRE_ADMIN_KEY");
            }
            Origin::Elsewhere => {
                let _ = writeln!(
                    text,
                    "  admin key  the one of all nodes: created by the first one, or by `refire admin-key rotate`"
                );
            }
        }
        self.next(&mut text);
        text
    }

    fn next(&self, text: &mut String) {
        let refire = &self.refire;
        let place = if self.is_usual {
            " in this directory"
        } else {
            ""
        };
        let _ = writeln!(text, "\nNext, in another terminal{place}:");
        let address = reachable(self.address);
        if address.to_string() != USUAL {
            let _ = writeln!(text, "  export REFIRE_URL=http://{address}");
        }
        match self.key.origin {
            Origin::Kept if self.is_usual => {}
            Origin::Kept => {
                let _ = writeln!(text, "  export REFIRE_DATA_DIR={}", self.data);
            }
            // A file in the data directory would hold another key.
            Origin::Given | Origin::Elsewhere => {
                let _ = writeln!(text, "  export REFIRE_API_KEY=…");
            }
        }
        if self.has_workflows {
            for list in ["executions", "dlq", "trigger"] {
                let _ = writeln!(text, "  {refire} {list} list");
            }
            return;
        }
        if self.may_call_itself {
            // Nothing else is needed for it to succeed.
            let input = format!(r#"{{"url": "http://{address}/livez"}}"#);
            let _ = writeln!(text, "  echo '{FIRST}' > ping.yaml");
            let _ = writeln!(text, "  {refire} workflow apply -f ping.yaml");
            let _ = writeln!(text, "  {refire} execute ping --input '{input}' --wait 30s");
            let _ = writeln!(
                text,
                "\nMore to look at: `{refire} demo --listen 127.0.0.1:7374`"
            );
            self.tell_of_channels(text);
            return;
        }
        let _ = writeln!(text, "  {refire} workflow apply -f <a definition>");
        let _ = writeln!(text, "  {refire} execute <its id> --input '{{…}}'");
        let _ = writeln!(text, "  {refire} executions list");
        let _ = writeln!(
            text,
            "\nNo workflow yet? `{refire} demo --listen 127.0.0.1:7374` runs some examples. To try one of your \
             own on this machine, start the server with --dev."
        );
        self.tell_of_channels(text);
    }

    /// Alert rules are looked at from the start, and tell nobody until there is a channel.
    fn tell_of_channels(&self, text: &mut String) {
        let refire = &self.refire;
        let _ = writeln!(
            text,
            "To be told when something goes wrong, add a channel: `{refire} channels add -f <a channel>`"
        );
    }
}

/// `rack-7, the only node` or `rack-7, with 2 others: rack-8, rack-9`
fn among(name: &str, nodes: &[NodeRow], node: NodeId) -> String {
    let others: Vec<&str> = nodes
        .iter()
        .filter(|other| other.id != node)
        .map(|other| other.name.as_str())
        .collect();
    match others.len() {
        0 => format!("{name}, the only one so far"),
        1 => format!("{name}, with 1 other: {}", others[0]),
        count if count <= NAMED_MAX => {
            format!("{name}, with {count} others: {}", others.join(", "))
        }
        count => format!("{name}, with {count} others"),
    }
}

#[cfg(test)]
mod tests {
    use std::path::PathBuf;

    use refire_core::definition::canonical;
    use refire_core::time::Timestamp;

    use super::*;
    use crate::api::AdminKey;

    fn greeting(key: &Obtained) -> Greeting<'_> {
        Greeting {
            refire: "refire".to_owned(),
            address: USUAL.parse().unwrap(),
            key,
            data: "/data".to_owned(),
            is_usual: true,
            dev: false,
            may_call_itself: false,
            has_workflows: false,
            database: None,
            node: None,
            console: Console {
                address: "http://127.0.0.1:7373".to_owned(),
                link: None,
            },
        }
    }

    fn key(new: Option<(String, PathBuf)>, origin: Origin) -> Obtained {
        Obtained {
            hash: AdminKey::new("rf_secret"),
            new,
            origin,
        }
    }

    #[test]
    fn the_key_is_shown_only_when_it_is_new() {
        let made = ("rf_secret".to_owned(), "/data/admin.key".into());
        let first = greeting(&key(Some(made), Origin::Kept)).text();
        assert!(first.contains("rf_secret") && first.contains("/data/admin.key"));
        assert!(!first.contains("export") && !first.contains("  dev "));
        assert!(!first.contains("  node ") && !first.contains("  database "));
        let known = key(None, Origin::Kept);
        let later = Greeting {
            address: "127.0.0.1:1".parse().unwrap(),
            is_usual: false,
            dev: true,
            has_workflows: true,
            ..greeting(&known)
        };
        let later = later.text();
        assert!(later.contains("refire dlq list") && !later.contains("workflow"));
        assert!(first.contains("refire workflow apply -f"));
        assert!(!later.contains("rf_secret") && later.contains("  dev        on"));
        assert!(later.contains("export REFIRE_URL=http://127.0.0.1:1"));
        assert!(later.contains("export REFIRE_DATA_DIR=/data"));
    }

    #[test]
    fn the_console_is_named_and_only_a_terminal_gets_the_link() {
        let known = key(None, Origin::Kept);
        let text = greeting(&known).text();
        assert!(text.contains("  console    http://127.0.0.1:7373/\n") && !text.contains("#t="));
        let console = Console {
            address: "https://example.com/refire".to_owned(),
            link: Some("/login#t=abc".to_owned()),
        };
        let text = Greeting {
            console,
            ..greeting(&known)
        };
        let text = text.text();
        assert!(
            text.contains("  https://example.com/refire/login#t=abc\n"),
            "{text}"
        );
    }

    #[test]
    fn a_node_says_where_the_database_and_the_key_are() {
        let elsewhere = key(None, Origin::Elsewhere);
        let node = Greeting {
            is_usual: false,
            database: Some("PostgreSQL at db:5432/refire".to_owned()),
            node: Some("b, with 1 other: a".to_owned()),
            ..greeting(&elsewhere)
        };
        let text = node.text();
        for line in [
            "  database   PostgreSQL at db:5432/refire\n",
            "  node       b, with 1 other: a\n",
            "  admin key  the one of all nodes: created by the first one, or by",
            "  export REFIRE_API_KEY=…\n",
        ] {
            assert!(text.contains(line), "{line}: {text}");
        }
        assert!(!text.contains("REFIRE_DATA_DIR"), "no key is there: {text}");
    }

    #[test]
    fn a_given_key_is_not_looked_for_in_a_file() {
        let given = key(None, Origin::Given);
        for is_usual in [true, false] {
            let text = Greeting {
                is_usual,
                ..greeting(&given)
            };
            let text = text.text();
            assert!(text.contains("  export REFIRE_API_KEY=…\n"), "{text}");
            assert!(text.contains("the one in REFIRE_ADMIN_KEY\n"), "{text}");
            assert!(!text.contains("REFIRE_DATA_DIR"), "{text}");
            assert!(!text.contains("rf_secret"), "{text}");
        }
    }

    #[test]
    fn a_server_that_listens_everywhere_is_called_on_this_machine() {
        let known = key(None, Origin::Kept);
        for (address, url) in [
            ("0.0.0.0:7373", None),
            ("0.0.0.0:1", Some("export REFIRE_URL=http://127.0.0.1:1\n")),
            ("[::]:1", Some("export REFIRE_URL=http://[::1]:1\n")),
        ] {
            let text = Greeting {
                address: address.parse().unwrap(),
                ..greeting(&known)
            };
            let text = text.text();
            assert!(text.contains(&format!("is ready at http://{address}\n")));
            match url {
                Some(url) => assert!(text.contains(url), "{text}"),
                None => assert!(!text.contains("REFIRE_URL"), "{text}"),
            }
        }
    }

    /// What is shown calls nobody else, and is what the README shows.
    #[test]
    fn the_first_workflow_is_that_of_the_readme() {
        let known = key(None, Origin::Kept);
        let first = Greeting {
            dev: true,
            may_call_itself: true,
            ..greeting(&known)
        };
        let text = first.text();
        let readme = include_str!("../../../../README.md");
        let commands = text.lines().filter(|line| line.starts_with("  refire "));
        let commands: Vec<&str> = commands.map(str::trim_start).collect();
        assert_eq!(commands.len(), 2, "{text}");
        for command in commands {
            assert!(readme.contains(&format!("$ {command}\n")), "{command}");
        }
        let (_, rest) = readme.split_once("cat > ping.yaml <<'END'\n").unwrap();
        let (written, _) = rest.split_once("END\n").unwrap();
        let read = |text: &str| canonical(text, None).unwrap();
        assert_eq!(read(FIRST), read(written));
        // Where it may not call itself, no example would succeed for sure.
        let strict = greeting(&known).text();
        assert!(!strict.contains("://127.0.0.1:7373/livez"), "{strict}");
        assert!(!strict.contains("example.com"), "{strict}");
    }

    #[test]
    fn others_are_named_while_they_are_few() {
        let row = |number: u8| NodeRow {
            id: NodeId::from_bytes([number; 16]),
            name: format!("n{number}"),
            address: String::new(),
            version: String::new(),
            started_at: Timestamp::from_micros(0),
            renewed_at: Timestamp::from_micros(0),
            expires_at: Timestamp::from_micros(0),
            running: 0,
            holding: 0,
        };
        let me = NodeId::from_bytes([1; 16]);
        let rows: Vec<NodeRow> = (1..=9).map(row).collect();
        assert_eq!(among("n1", &rows[..1], me), "n1, the only one so far");
        assert_eq!(among("n1", &rows[..2], me), "n1, with 1 other: n2");
        assert_eq!(among("n1", &rows[..3], me), "n1, with 2 others: n2, n3");
        assert_eq!(among("n1", &rows, me), "n1, with 8 others");
    }
}
