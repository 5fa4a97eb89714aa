//! Admissions beside executions that map large answers: what costs by the size of a payload must not
//! hold up those who only want to be admitted.

use async_trait::async_trait;
use refire_core::definition::WorkflowId;
use refire_core::failure::Failure;
use refire_core::json::Json;

use crate::prelude::*;

const REPEATS: u32 = 3;
/// How long admissions are measured in one repeat.
const FOR: Duration = Duration::from_secs(6);
/// Executions with large answers that begin together, and how long after the last ones.
const TOGETHER: usize = 4;
const APART: Duration = Duration::from_secs(2);
/// Those who want to be admitted, and how long each rests in between.
const CALLERS: usize = 8;
const REST: Duration = Duration::from_millis(2);
/// Admissions wait for this long before they run: they are measured alone.
const LATER: Duration = Duration::from_secs(3_600);
/// Paths of a mapping: as many as there may be.
const PATHS: usize = 100;
/// What is allowed beside the same answers without a mapping, and at all.
const RATIO_MAX: f64 = 2.0;
const P99_MS_MAX: f64 = 250.0;

/// A target that always gives the same answer.
struct Answers(Json);

#[async_trait]
impl Caller for Answers {
    async fn call(&self, _: HttpRequest) -> Result<HttpAnswer, Failure> {
        Ok(HttpAnswer::new(200, self.0.clone()))
    }
}

/// Prints `payloads` for each kind of mapping.
pub(crate) async fn report() -> anyhow::Result<()> {
    let kinds = [
        ("plain", 7_800_000, "$.body[N].name"),
        ("filters", 650_000, "$.body[?@.id == N].name"),
        ("descents", 650_000, "$..*..*"),
    ];
    for (name, bytes, path) in kinds {
        let mapping: Vec<String> = (0..PATHS)
            .map(|n| format!("k{n}: \"{}\"", path.replace('N', &n.to_string())))
            .collect();
        let mapping = format!(", outputMapping: {{ {} }}", mapping.join(", "));
        let (mut with, mut without) = <(Latency, Latency)>::default();
        let mut ratio = Repeats::default();
        for _ in repeats(REPEATS, format_args!("payloads: {name}")) {
            let plain = admitted("", bytes).await?;
            let mapped = admitted(&mapping, bytes).await?;
            ratio.add(mapped.percentile_ms(0.99) / plain.percentile_ms(0.99));
            without.add(&plain);
            with.add(&mapped);
        }
        Line::new("payloads", "admissions")
            .word("paths", name)
            .word("answer_kb", bytes / 1_000)
            .latency(&with)
            .figure("without_p99_ms", &without.p99_ms)
            .figure("ratio", &ratio)
            .goal("ratio", Goal::Below(RATIO_MAX))
            .goal("p99_ms", Goal::Below(P99_MS_MAX))
            .print();
    }
    Ok(())
}

/// How long admissions take beside executions with such a mapping.
async fn admitted(mapping: &str, bytes: usize) -> anyhow::Result<Waits> {
    let source = format!(
        "id: large\nsteps: [{{ id: a, type: http, config: {{ url: \"https://target.example/\"{mapping} }} }}]\n"
    );
    let caller = Arc::new(Answers(answer(bytes)?));
    let embedded = Embedded::start(&source, Some(caller)).await?;
    let small =
        "id: small\nsteps: [{ id: a, type: http, config: { url: \"https://target.example/\" } }]\n";
    let applied = embedded
        .engine
        .definitions()
        .apply(small, None, "bench")
        .await?;
    let small = applied.definition.workflow.id.clone();
    let until = Instant::now() + FOR;
    let engine = || Arc::clone(&embedded.engine);
    let crowd: Vec<_> = (0..CALLERS)
        .map(|_| tokio::spawn(callers(engine(), small.clone(), until)))
        .collect();
    let large = tokio::spawn(begin(engine(), embedded.workflow.clone(), until));
    let mut waits = Waits::default();
    for one in crowd {
        waits.extend(one.await??);
    }
    large.await??;
    embedded.stop().await;
    Ok(waits)
}

async fn callers(
    engine: Arc<Engine>,
    workflow: WorkflowId,
    until: Instant,
) -> anyhow::Result<Waits> {
    let mut waits = Waits::default();
    while Instant::now() < until {
        let began = Instant::now();
        let submission = Submission {
            delay: Some(LATER),
            ..Submission::manual(workflow.clone(), Json::empty_object())
        };
        engine.executions().submit(submission).await?;
        waits.add(began.elapsed());
        tokio::time::sleep(REST).await;
    }
    Ok(waits)
}

/// Begins executions with large answers, some at a time.
async fn begin(engine: Arc<Engine>, workflow: WorkflowId, until: Instant) -> anyhow::Result<()> {
    while Instant::now() < until {
        for _ in 0..TOGETHER {
            let submission = Submission::manual(workflow.clone(), Json::empty_object());
            engine.executions().submit(submission).await?;
        }
        tokio::time::sleep(APART).await;
    }
    Ok(())
}

/// An answer of about so many bytes: a list of small objects.
fn answer(bytes: usize) -> anyhow::Result<Json> {
    let item =
        |n: usize| format!(r#"{{"id":{n:>6},"name":"item {n:>6}","tags":["a","b"],"ok":true}}"#);
    let items: Vec<String> = (0..bytes / item(0).len()).map(item).collect();
    Ok(Json::parse(format!(
        r#"{{"status":200,"headers":{{}},"body":[{}]}}"#,
        items.join(",")
    ))?)
}
