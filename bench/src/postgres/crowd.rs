//! Claims while a million finished executions are in the tables: what ends leaves the table that
//! claims look at, so they should not notice.

use refire_store::postgres::Scratch;
use tokio_postgres::NoTls;

use super::node;
use crate::prelude::*;

const REPEATS: u32 = 3;
/// Finished executions.
const FINISHED: i64 = 1_000_000;
/// Copied by one statement.
const COPIED_AT_ONCE: i64 = 50_000;
/// Executions that wait to be claimed.
const WAITING: usize = 20_000;

/// Copies the only execution there is, log and all, under ids that sort before it.
const COPY: &str = "WITH original AS (SELECT * FROM executions ORDER BY id LIMIT 1),
     ids AS (SELECT n, lpad(to_hex(n), 32, '0')::uuid AS id FROM generate_series($1::bigint, $2) AS n),
     copied AS (INSERT INTO executions
         SELECT ids.id, ns, workflow, workflow_version, version, commit_id, status, phase, trigger,
                priority, created_at, updated_at, retry_count, next_retry_at, parent, ids.id,
                snapshot_version, snapshot_crc, snapshot
           FROM ids, original)
     INSERT INTO workflow_events
     SELECT ids.id, sequence, type, v, at, step, attempt, backoff_ms, reason, crc, payload
       FROM ids, workflow_events WHERE execution = (SELECT id FROM original)";

pub(crate) async fn report() -> anyhow::Result<()> {
    let scratch = Scratch::new();
    let definition = target::workflow_to_nowhere();
    let caller = Arc::new(AtOnce::new());
    let one = node(&scratch, &definition, Some(caller), Limits::default()).await?;
    let mut ended = 1;
    one.engine
        .executions()
        .submit(one.submission(0, None))
        .await?;
    one.ended(ended).await?;
    fill(&scratch.url()).await?;
    // A node without slots puts them in, so that all of them wait for the claims of the other.
    let intake = node(&scratch, &definition, None, embedded::no_room()).await?;
    let (mut latency, mut drained) = (Latency::default(), Repeats::default());
    let _ = one.store.take_claims();
    for _ in repeats(REPEATS, format_args!("claims: {WAITING} wait")) {
        let began = Instant::now();
        for _ in 0..WAITING / TOGETHER {
            let many = (0..TOGETHER).map(|n| intake.submission(n, None));
            intake.submit_all(many.collect()).await?;
        }
        ended += WAITING as u64;
        one.ended(ended).await?;
        drained.add(WAITING as f64 / began.elapsed().as_secs_f64());
        latency.add(&one.store.take_claims());
    }
    Line::new("PG", "claims")
        .word("finished", FINISHED)
        .latency(&latency)
        .figure("completed_s", &drained)
        .goal("p99_ms", Goal::Below(25.0))
        .print();
    intake.stop().await;
    one.stop().await;
    Ok(())
}

async fn fill(url: &str) -> anyhow::Result<()> {
    let (client, connection) = tokio_postgres::connect(url, NoTls).await?;
    let driving = tokio::spawn(connection);
    for first in (0..FINISHED).step_by(COPIED_AT_ONCE as usize) {
        say(format_args!(
            "claims: {first} of {FINISHED} finished executions are there"
        ));
        let last = (first + COPIED_AT_ONCE).min(FINISHED) - 1;
        client.execute(COPY, &[&first, &last]).await?;
    }
    client.batch_execute("VACUUM ANALYZE").await?;
    drop(client);
    driving.await??;
    Ok(())
}
