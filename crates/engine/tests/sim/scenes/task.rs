//! Workers that wait: nobody looks for what is not there, and what nobody knows goes back.

use refire_core::task::TaskStatus;
use refire_engine::task::{Delivery, Poll, TaskError, TaskTypes};

use super::*;

const TASK: &str =
    "id: w\nsteps:\n  - { id: a, type: external_task, config: { taskType: mail } }\n";
const WAIT: Duration = Duration::from_secs(300);

fn poll(task_type: &str, wait: Duration) -> Poll {
    Poll {
        types: TaskTypes {
            names: vec![task_type.to_owned()],
            prefixes: Vec::new(),
        },
        worker: None,
        worker_type: None,
        max: 1,
        wait,
    }
}

/// Somebody who waits for tasks.
fn waiting(engine: &Arc<Engine>, task_type: &'static str) -> Waiting {
    let engine = Arc::clone(engine);
    tokio::spawn(async move { engine.tasks().poll(poll(task_type, WAIT)).await })
}

type Waiting = tokio::task::JoinHandle<Result<Delivery, TaskError>>;

async fn save(engine: &Engine) {
    let saved = engine.definitions().apply(TASK, None, "somebody").await;
    saved.unwrap();
}

/// Where the only task stands.
fn stands(scene: &Scene) -> TaskStatus {
    let image = scene.disk.durable();
    assert_eq!(image.tasks.len(), 1);
    image.tasks.values().next().unwrap().status
}

fn shared() -> Arc<Scene> {
    let clock = SceneClock(Instant::now(), 0);
    Scene::on(Disk::shared(Arc::new(move || clock.now())))
}

#[tokio::test(start_paused = true)]
async fn nobody_looks_for_tasks_that_nobody_makes() {
    for (scene, every_s) in [(Scene::new(), 10), (shared(), 1)] {
        let engine = scene.start().await;
        save(&engine).await;
        sleep(Duration::from_secs(60)).await;
        let before = scene.reads("open_task_types");
        assert!(before <= 1, "nobody waits, and it is asked {before} times");
        let polls = [waiting(&engine, "other"), waiting(&engine, "another")];
        sleep(Duration::from_secs(100)).await;
        // A task of another type is nothing to them.
        engine.executions().submit(wish(0)).await.unwrap();
        sleep(Duration::from_secs(190)).await;
        assert_eq!(scene.locks.load(Ordering::SeqCst), 0, "nothing was locked");
        // The net below wake-ups and news: one question, however many wait.
        let asked = scene.reads("open_task_types") - before;
        assert!(asked <= 290 / every_s + 2, "{asked} looks");
        for poll in polls {
            assert!(poll.await.unwrap().unwrap().tasks().is_empty());
        }
        engine.stop().await;
    }
}

#[tokio::test(start_paused = true)]
async fn what_nobody_knows_to_be_written_goes_back() {
    // The task is made for somebody who waits, and it is fetched from the store.
    for is_made in [true, false] {
        let scene = shared();
        let engine = scene.start().await;
        save(&engine).await;
        if !is_made {
            engine.executions().submit(wish(0)).await.unwrap();
            assert_eq!(stands(&scene), TaskStatus::Pending);
        }
        scene.finds_nothing.store(true, Ordering::SeqCst);
        scene.judge_commits(Moment::Durable, Verdict::Unknown { durable: true });
        let worker = waiting(&engine, "mail");
        sleep(Duration::from_millis(100)).await;
        if is_made {
            let submitted = engine.executions().submit(wish(0)).await;
            assert!(submitted.is_err(), "{submitted:?}");
        }
        let told = worker.await.unwrap().err().unwrap();
        let is_unknown = matches!(told, TaskError::Failed(CommitFailure::Unknown));
        assert!(is_unknown, "{told}");
        *scene.verdict.lock().unwrap() = None;
        sleep(Duration::from_secs(5)).await;
        assert_eq!(stands(&scene), TaskStatus::Pending, "{is_made}");
        let fetched = waiting(&engine, "mail").await.unwrap().unwrap();
        let row = &fetched.tasks()[0].row;
        assert_eq!(row.releases, 1, "it was written, and given back");
        assert_eq!(row.attempt, 1, "that was no attempt");
        fetched.arrived();
        engine.stop().await;
    }
}

#[tokio::test(start_paused = true)]
async fn a_stop_answers_those_who_wait_and_gives_back_what_they_left() {
    let scene = Scene::new();
    let engine = scene.start().await;
    save(&engine).await;
    let worker = waiting(&engine, "mail");
    sleep(Duration::from_secs(1)).await;
    engine.executions().submit(wish(0)).await.unwrap();
    let delivery = worker.await.unwrap().unwrap();
    assert_eq!(stands(&scene), TaskStatus::Locked);
    let other = waiting(&engine, "mail");
    sleep(Duration::from_secs(1)).await;
    let stopping = Arc::clone(&engine);
    let stopping = tokio::spawn(async move { stopping.stop().await });
    assert!(other.await.unwrap().unwrap().tasks().is_empty());
    // Its connection broke before it took the answer.
    drop(delivery);
    stopping.await.unwrap();
    assert_eq!(stands(&scene), TaskStatus::Pending);
}
