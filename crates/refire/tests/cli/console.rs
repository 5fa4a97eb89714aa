//! `refire console`: a link that logs in, shown or opened.

use std::os::unix::fs::PermissionsExt as _;

use crate::refire::Run;
use crate::server::Server;

#[test]
fn a_link_is_printed_and_works_where_it_leads() {
    let server = Server::start();
    let run = server.run(&["console"]).code(0);
    let begins = format!("{}/login#t=", server.url);
    assert!(
        run.out.starts_with(&begins) && run.out.ends_with('\n'),
        "{run:?}"
    );
    assert_eq!(run.out.lines().count(), 1);
    assert!(run.err.contains("once, and ends in 1"), "{run:?}");
    let json = server.json(&["console"]);
    assert!(json["url"].as_str().unwrap().starts_with(&begins));
    assert!(json["expires_at"].is_string());
}

#[test]
fn it_is_opened_if_that_is_wanted() {
    let server = Server::start();
    let path = server.place.path().to_owned();
    let missing = Run::of(
        server
            .place
            .command()
            .args(["console", "--open"])
            .env("REFIRE_URL", &server.url)
            .env("PATH", &path),
    );
    let missing = missing.code(1);
    assert!(
        missing.err.contains("open this yourself: http://"),
        "{missing:?}"
    );
    for opener in ["xdg-open", "open"] {
        let file = path.join(opener);
        std::fs::write(&file, "#!/bin/sh\necho \"$1\" > opened\n").unwrap();
        std::fs::set_permissions(&file, std::fs::Permissions::from_mode(0o755)).unwrap();
    }
    let run = Run::of(
        server
            .place
            .command()
            .args(["console", "--open"])
            .env("REFIRE_URL", &server.url)
            .env("PATH", &path),
    );
    let run = run.code(0);
    let opened = std::fs::read_to_string(path.join("opened")).unwrap();
    assert_eq!(opened, run.out);
}

#[test]
fn a_server_that_no_terminal_shows_prints_no_link() {
    let server = Server::start();
    let said = server.said_before("Next, ");
    let console = format!("  console    {}/", server.url);
    assert!(said.contains(&console), "{said:#?}");
    assert!(said.iter().all(|line| !line.contains("#t=")), "{said:#?}");
}
