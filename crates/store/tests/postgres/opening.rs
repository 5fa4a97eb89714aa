//! Opening: migrations, servers that cannot be used, and what errors say.

use std::time::{Duration, Instant};

use refire_store::postgres::{Options, Postgres, Scratch};
use refire_store::{ReadError, Store};
use tokio::net::TcpListener;

use crate::server::{all_words, open, options, session};

/// Programs that start at the same time.
const TOGETHER: usize = 6;

fn file_error<T>(opened: Result<T, ReadError>) -> String {
    match opened {
        Err(error @ ReadError::File { .. }) => all_words(&error),
        Err(other) => panic!("{other:?}"),
        Ok(_) => panic!("it is not refused"),
    }
}

#[tokio::test]
async fn programs_that_start_together_migrate_once() {
    let scratch = Scratch::new();
    let opening = (0..TOGETHER).map(|_| {
        let options = options(&scratch);
        tokio::spawn(async move { Postgres::open(&options).await.map(drop) })
    });
    for opened in futures_util::future::join_all(opening).await {
        opened.unwrap().unwrap();
    }
    let applied = session(&scratch)
        .await
        .query(
            "SELECT number, name FROM schema_migrations ORDER BY number",
            &[],
        )
        .await
        .unwrap();
    let names: Vec<&str> = applied.iter().map(|row| row.get(1)).collect();
    assert_eq!(names, ["initial", "triggers", "records"]);
}

/// The names of what is still to be applied.
async fn pending(options: &Options) -> Vec<String> {
    let pending = Postgres::pending(options).await.unwrap();
    pending.into_iter().map(|one| one.name).collect()
}

#[tokio::test]
async fn migrations_wait_for_whoever_applies_them() {
    let scratch = Scratch::new();
    let options = options(&scratch);
    let missing = ["0001_initial", "0002_triggers", "0003_records"].map(str::to_owned);
    assert_eq!(pending(&options).await, missing);
    let mut waiting = options.clone();
    waiting.migrate = false;
    let said = file_error(Postgres::open(&waiting).await);
    assert!(said.contains("run `refire migrate`"), "{said}");
    assert!(said.contains("0001_initial"), "{said}");
    assert_eq!(pending(&options).await, missing);
    assert_eq!(Postgres::migrate(&options).await.unwrap(), missing);
    assert!(Postgres::pending(&options).await.unwrap().is_empty());
    assert!(Postgres::migrate(&options).await.unwrap().is_empty());
    Postgres::open(&waiting).await.unwrap().close().await;
}

/// A database from before there were triggers.
#[tokio::test]
async fn an_older_database_is_brought_up_to_date() {
    let scratch = Scratch::new();
    open(&scratch).await.close().await;
    let older = "DROP TABLE workflow_triggers, trigger_state, trigger_slots, webhook_requests,
             request_rings;
         ALTER TABLE work DROP COLUMN begun_at;
         DELETE FROM schema_migrations WHERE number > 1";
    session(&scratch).await.batch_execute(older).await.unwrap();
    let options = options(&scratch);
    assert_eq!(pending(&options).await, ["0002_triggers", "0003_records"]);
    let store = open(&scratch).await;
    assert_eq!(store.next_trigger_due().await.unwrap(), None);
    assert!(pending(&options).await.is_empty());
    store.close().await;
}

#[tokio::test]
async fn a_newer_database_is_refused() {
    let scratch = Scratch::new();
    let options = options(&scratch);
    open(&scratch).await.close().await;
    let session = session(&scratch).await;
    session
        .batch_execute("INSERT INTO schema_migrations VALUES (9999, 'of tomorrow', '\\x00', now())")
        .await
        .unwrap();
    let newer = "made by a newer Refire";
    assert!(file_error(Postgres::open(&options).await).contains(newer));
    assert!(file_error(Postgres::pending(&options).await).contains(newer));
    assert!(file_error(Postgres::migrate(&options).await).contains(newer));
    session
        .batch_execute(
            "DELETE FROM schema_migrations WHERE number = 9999;
             UPDATE schema_migrations SET sha256 = '\\x00'",
        )
        .await
        .unwrap();
    let said = file_error(Postgres::open(&options).await);
    assert!(
        said.contains("not the one that this database was made with"),
        "{said}"
    );
}

#[tokio::test]
async fn an_encoding_that_cannot_hold_every_text_is_refused() {
    let scratch = Scratch::with("ENCODING 'LATIN1' TEMPLATE template0 LC_COLLATE 'C' LC_CTYPE 'C'");
    let said = file_error(Postgres::open(&options(&scratch)).await);
    assert!(said.contains("encoding is LATIN1"), "{said}");
}

#[tokio::test]
async fn a_database_that_takes_no_writes_is_refused() {
    let scratch = Scratch::new();
    let read_only = "DO $$ BEGIN EXECUTE format(
        'ALTER DATABASE %I SET default_transaction_read_only = on', current_database()); END $$";
    session(&scratch)
        .await
        .batch_execute(read_only)
        .await
        .unwrap();
    match Postgres::open(&options(&scratch)).await {
        Err(error @ ReadError::Unavailable(_)) => {
            let said = all_words(&error);
            assert!(said.contains("does not allow writes"), "{said}");
        }
        Err(other) => panic!("{other:?}"),
        Ok(_) => panic!("it is opened"),
    }
}

#[tokio::test]
async fn tls_is_not_given_up_where_it_is_required() {
    let scratch = Scratch::new();
    for mode in ["require", "verify-full"] {
        let url = scratch.url().replace('?', &format!("?sslmode={mode}&"));
        let error = Postgres::open(&Options::new(&url).unwrap())
            .await
            .map(drop)
            .unwrap_err();
        let said = all_words(&error);
        assert!(
            said.contains("server does not support TLS"),
            "{mode}: {said}"
        );
    }
    let url = scratch.url().replace('?', "?sslmode=prefer&");
    let store = Postgres::open(&Options::new(&url).unwrap()).await.unwrap();
    store.close().await;
}

#[tokio::test]
async fn an_error_names_the_place_and_not_the_password() {
    let refused = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let nowhere = refused.local_addr().unwrap();
    drop(refused);
    let scratch = Scratch::new();
    // The password of the server, or any where it asks for none.
    let url = scratch.url();
    let (user, rest) = url.split_once('@').unwrap();
    let given = user
        .rsplit_once(':')
        .filter(|(scheme, _)| scheme.contains("//"));
    let (user, password) = given.unwrap_or((user, "s3cr3t"));
    let elsewhere = format!("{user}:{password}@{rest}");
    let no_database = elsewhere.replace("refire_test_", "no_such_");
    for (url, named) in [
        (
            format!("postgres://me:{password}@{nowhere}/app"),
            nowhere.to_string(),
        ),
        (no_database, "no_such_".to_owned()),
    ] {
        let error = Postgres::open(&Options::new(&url).unwrap())
            .await
            .map(drop)
            .unwrap_err();
        let said = all_words(&error);
        assert!(matches!(error, ReadError::Unavailable(_)), "{said}");
        assert!(said.contains(&named), "{said}");
        assert!(!said.contains(password), "{said}");
    }
    let store = Postgres::open(&Options::new(&elsewhere).unwrap())
        .await
        .unwrap();
    store.close().await;
    let error = store.workflows(None, 1).await.unwrap_err();
    assert!(!all_words(&error).contains(password));
}

#[tokio::test]
async fn a_server_that_says_nothing_is_given_up() {
    let silent = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let place = silent.local_addr().unwrap();
    let options = Options::new(&format!("postgres://me@{place}/app")).unwrap();
    let began = Instant::now();
    let said = all_words(&Postgres::open(&options).await.map(drop).unwrap_err());
    assert!(
        began.elapsed() < Duration::from_secs(20),
        "{:?}",
        began.elapsed()
    );
    assert!(said.contains(&place.to_string()), "{said}");
    assert!(
        said.contains("did not answer") || said.contains("imed out"),
        "{said}"
    );
}

#[tokio::test]
async fn the_first_to_choose_a_setting_chooses_for_all() {
    let scratch = Scratch::new();
    let (one, other) = (open(&scratch).await, open(&scratch).await);
    assert_eq!(one.setting("key").await.unwrap(), None);
    let (a, b) = tokio::join!(
        one.put_setting_if_absent("key", b"of one"),
        other.put_setting_if_absent("key", b"of the other\0"),
    );
    let stands = a.unwrap();
    assert_eq!(stands, b.unwrap());
    assert!([&b"of one"[..], b"of the other\0"].contains(&stands.as_slice()));
    assert_eq!(other.setting("key").await.unwrap(), Some(stands.clone()));
    assert_eq!(
        one.put_setting_if_absent("key", b"late").await.unwrap(),
        stands
    );
    one.close().await;
    other.close().await;
}
