//! The example does what its text says.

#[test]
fn it_runs_and_shows_its_retries() {
    let dir = tempfile::tempdir().unwrap();
    let mut program = assert_cmd::Command::cargo_bin("refire-example-embedded").unwrap();
    let output = program
        .arg(dir.path())
        .assert()
        .success()
        .get_output()
        .stdout
        .clone();
    let output = String::from_utf8(output).unwrap();
    assert!(
        output.contains(r#"sent {"to":"ann@example.com","total":42}"#),
        "{output}"
    );
    assert!(output.contains("RETRY_SCHEDULED send#3"), "{output}");
    assert!(output.contains("EXECUTION_COMPLETED"), "{output}");
}
