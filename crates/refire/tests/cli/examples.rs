//! The examples of triggers do what their first lines say, with nothing but the server.

use std::path::Path;

use serde_json::Value;

use crate::server::Server;

/// The address in the examples.
const SERVER: &str = "http://127.0.0.1:7373";

/// The commands in the comment at the beginning of an example.
fn commands(text: &str) -> Vec<Vec<String>> {
    let lines = text
        .lines()
        .filter_map(|line| line.strip_prefix("#   refire "));
    lines.map(words).collect()
}

/// The words of a command; single quotes hold them together, as in a shell.
fn words(line: &str) -> Vec<String> {
    let mut words = Vec::new();
    for (at, part) in line.split('\'').enumerate() {
        match at % 2 {
            1 => words.push(part.to_owned()),
            _ => words.extend(part.split_whitespace().map(str::to_owned)),
        }
    }
    words
}

/// Puts a file of the repository where the command line runs, with the address of this server.
fn copy(server: &Server, path: &str) {
    let root = concat!(env!("CARGO_MANIFEST_DIR"), "/../..");
    let text = std::fs::read_to_string(Path::new(root).join(path)).unwrap();
    let to = server.place.path().join(path);
    std::fs::create_dir_all(to.parent().unwrap()).unwrap();
    std::fs::write(to, text.replace(SERVER, &server.url)).unwrap();
}

/// The status of an execution once it has ended.
fn ended(server: &Server, execution: &str) -> Value {
    for _ in 0..400 {
        let shown = server.json(&["executions", "show", execution]);
        if !shown["completed_at"].is_null() {
            return shown;
        }
        std::thread::sleep(std::time::Duration::from_millis(25));
    }
    panic!("{execution} never ended");
}

#[test]
fn each_example_does_what_its_first_lines_say() {
    let server = Server::start();
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../../examples/triggers");
    let mut kinds = Vec::new();
    for file in std::fs::read_dir(folder).unwrap() {
        let path = file.unwrap().path();
        if path.is_dir() {
            continue;
        }
        let text = std::fs::read_to_string(&path).unwrap();
        let mut id = String::new();
        let mut outputs = Vec::new();
        for command in commands(&text) {
            let files = command.iter().filter(|word| word.starts_with("examples/"));
            files.for_each(|file| copy(&server, file));
            let args: Vec<&str> = command
                .iter()
                .map(|word| {
                    if word == "trg_…" {
                        &id
                    } else {
                        word.as_str()
                    }
                })
                .collect();
            let run = server.run(&[args.as_slice(), &["--format", "json"]].concat());
            let answer = run.code(0).json();
            match (args[0], args[1]) {
                ("trigger", "create") => {
                    id = answer["id"].as_str().unwrap().to_owned();
                    kinds.push(answer["trigger_type"].as_str().unwrap().to_owned());
                }
                ("trigger", "test") => {
                    let execution = answer["result"]["execution_id"].as_str().unwrap();
                    outputs.push(ended(&server, execution));
                }
                ("trigger", "run") => outputs.push(answer),
                _ => {}
            }
        }
        let name = path.display();
        assert_eq!(outputs.len(), 1, "{name} starts one execution");
        let execution = &outputs[0];
        assert_eq!(execution["status"], "completed", "{name}: {execution}");
        assert_eq!(execution["output"]["answer"], 200, "{name}: {execution}");
        if kinds.last().unwrap() == "webhook" {
            // What comes without the fields that it asks for is genuine, and left out.
            let run = server.run(&["trigger", "test", &id]).code(5);
            assert!(run.out.starts_with("filtered "), "{run:?}");
        }
    }
    kinds.sort();
    assert_eq!(kinds, ["cron", "webhook", "webhook", "webhook", "webhook"]);
}
