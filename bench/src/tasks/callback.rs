//! `CB callbacks`: targets that call back, as many as come over 64 connections. `CB history`: a page of a
//! scheduled task's history, alone and beside a million executions of others.

use std::net::SocketAddr;
use std::sync::atomic::{AtomicUsize, Ordering};

use super::worker::Worker;
use super::{Ground, Kind};
use crate::ingest::measure_completed;
use crate::load::Client;
use crate::prelude::*;
use crate::process::Server;
use crate::series::Series;

const REPEATS: u32 = 3;
const CONNECTIONS: usize = 64;
/// Attempts that wait for their targets, each time.
const WAITING: usize = 10_000;
/// How long it may take until all of them do.
const ALL_WAIT_WITHIN: Duration = Duration::from_secs(120);
/// How long the last answers of targets take to be written.
const SETTLES_FOR: Duration = Duration::from_secs(2);
/// Executions of other workflows beside the history.
const BESIDE: usize = 1_000_000;
/// Cycles of the task whose history is asked for.
const CYCLES: usize = 200;
/// Pages that are asked for, each time.
const PAGES: usize = 100;
/// Records of a page.
const RECORDS: usize = 50;

/// Prints `CB`.
pub(super) async fn report(kind: &Kind) -> anyhow::Result<()> {
    callbacks(kind).await?;
    history(kind).await
}

async fn callbacks(kind: &Kind) -> anyhow::Result<()> {
    let client = Client::best();
    let plain = Target::start(Manner::AtOnce).await?;
    let (mut rate, mut latency, mut cpu_us) = <(Repeats, Latency, Repeats)>::default();
    let (mut beside, mut ratio) = <(Repeats, Repeats)>::default();
    let mut series = Series::default();
    let what = format_args!(
        "callbacks on {} over {CONNECTIONS} connections",
        kind.name()
    );
    for _ in repeats(REPEATS, what) {
        let beside_it = Ground::new(kind)?;
        let url = beside_it.url();
        let completed = measure_completed(client, &plain, url.as_deref(), &mut series).await?;
        let ground = Ground::new(kind)?;
        let (server, tokens) = waiting(&ground).await?;
        let before = server.process.cpu_time()?;
        let (waits, took) = call_back(&server, tokens).await?;
        let cpu = server.process.cpu_time()? - before;
        let said_s = waits.len() as f64 / took.as_secs_f64();
        cpu_us.add(cpu.as_secs_f64() * 1e6 / waits.len() as f64);
        rate.add(said_s);
        latency.add(&waits);
        beside.add(completed);
        ratio.add(said_s / completed);
    }
    Line::new("CB", "callbacks")
        .word("store", kind.name())
        .word("c", CONNECTIONS)
        .figure("callback_s", &rate)
        .latency(&latency)
        .figure("completed_s", &beside)
        .figure("ratio", &ratio)
        .figure("cpu_us", &cpu_us)
        .goal("callback_s", Goal::AtLeast(kind.of(5_000.0, 1_500.0)))
        .print();
    Ok(())
}

/// A server with attempts that wait, and the tokens that their targets were given.
async fn waiting(ground: &Ground) -> anyhow::Result<(Server, Vec<String>)> {
    let tokens: Arc<Mutex<Vec<String>>> = Arc::default();
    let heard = Arc::clone(&tokens);
    let target = Target::start_and_tell(Manner::AtOnce, move |body| {
        let token = String::from_utf8_lossy(body).trim_matches('"').to_owned();
        locked(&heard).push(token);
    });
    let target = target.await?;
    let server = ground.server_of(&workflow(target.address)).await?;
    let next = Arc::new(AtomicUsize::new(0));
    let mut creating = Vec::new();
    for _ in 0..CONNECTIONS {
        let mut worker = Worker::connect(&server).await?;
        let next = Arc::clone(&next);
        creating.push(tokio::spawn(async move {
            while next.fetch_add(1, Ordering::Relaxed) < WAITING {
                worker.create().await?;
            }
            anyhow::Ok(())
        }));
    }
    for one in creating {
        one.await??;
    }
    let began = Instant::now();
    while target.calls() < WAITING as u64 {
        anyhow::ensure!(
            began.elapsed() < ALL_WAIT_WITHIN,
            "{} of {WAITING} targets were called",
            target.calls()
        );
        tokio::time::sleep(Duration::from_millis(100)).await;
    }
    // Their last answers are written.
    tokio::time::sleep(SETTLES_FOR).await;
    let tokens = std::mem::take(&mut *locked(&tokens));
    Ok((server, tokens))
}

fn workflow(to: SocketAddr) -> String {
    format!(
        "id: {WORKFLOW}\nsteps:\n  - id: call\n    type: http\n    callback: {{window: 24h}}\n    config: \
         {{ method: POST, url: \"http://{to}/\", body: \"${{callback.token}}\" }}\n"
    )
}

/// Every target says its last word; how long each waited for the answer, and all of them together.
async fn call_back(server: &Server, tokens: Vec<String>) -> anyhow::Result<(Waits, Duration)> {
    let tokens = Arc::new(Mutex::new(tokens));
    let began = Instant::now();
    let mut calling = Vec::new();
    for _ in 0..CONNECTIONS {
        let mut target = Worker::connect(server).await?;
        let tokens = Arc::clone(&tokens);
        calling.push(tokio::spawn(async move {
            let mut waits = Waits::default();
            loop {
                let token = locked(&tokens).pop();
                let Some(token) = token else {
                    return anyhow::Ok(waits);
                };
                let began = Instant::now();
                target.call_back(&token).await?;
                waits.add(began.elapsed());
            }
        }));
    }
    let mut waits = Waits::default();
    for one in calling {
        waits.extend(one.await??);
    }
    Ok((waits, began.elapsed()))
}

async fn history(kind: &Kind) -> anyhow::Result<()> {
    let target = Target::start(Manner::AtOnce).await?;
    let ground = Ground::new(kind)?;
    say(format_args!("history on {}: {CYCLES} cycles", kind.name()));
    let server = ground.server_of(&target.workflow()).await?;
    let api = server.client()?;
    let source = format!(
        r#"{{"scheduleType":"daily","scheduleConfig":{{"time":"09:00"}},"taskConfig":{{"taskType":"custom","callbackWindow":0,"taskPayload":{{"n":1}},"targetConfig":{{"triggerType":"http","url":"http://{}/"}}}}}}"#,
        target.address
    );
    let task = api.schedule_task(&source).await?.task_id;
    for _ in 0..CYCLES {
        api.run_scheduled_task(&task).await?;
    }
    let mut worker = Worker::connect(&server).await?;
    worker.create().await?;
    tokio::time::sleep(SETTLES_FOR).await;
    let alone = pages(&server, &task).await?;
    drop(server);
    say(format_args!("history on {}: {BESIDE} others", kind.name()));
    ground.copy_executions(BESIDE).await?;
    let server = ground.server_of(&target.workflow()).await?;
    let beside = pages(&server, &task).await?;
    Line::new("CB", "history")
        .word("store", kind.name())
        .word("executions", BESIDE)
        .word("records", RECORDS)
        .latency(&beside)
        .figure("alone_p50_ms", &alone.p50_ms)
        .figure("alone_p99_ms", &alone.p99_ms)
        .goal("p99_ms", Goal::Below(kind.of(20.0, 40.0)))
        .print();
    Ok(())
}

async fn pages(server: &Server, task: &str) -> anyhow::Result<Latency> {
    let mut latency = Latency::default();
    let mut reader = Worker::connect(server).await?;
    for _ in repeats(REPEATS, "history: pages") {
        let mut waits = Waits::default();
        for _ in 0..PAGES {
            let began = Instant::now();
            reader.history(task, RECORDS).await?;
            waits.add(began.elapsed());
        }
        latency.add(&waits);
    }
    Ok(latency)
}
