//! Tasks for workers outside.

use super::history::History;
use crate::execution::Outcome;
use crate::failure::{ErrorClass, Failure};

pub(super) fn histories() -> Vec<History> {
    vec![
        History::new("a task waits for a worker", "", &["a~"], |_| {}),
        History::new("a worker does a task", "", &["a~", "b"], |run| {
            run.wait(30).begin("a").wait(900).ok("a", r#"{"n":[1]}"#);
            run.ok("b", "2");
        }),
        History::new("a worker fails, the next one does it", "", &["a~"], |run| {
            let mut failure = Failure::new(ErrorClass::Worker, "no room \u{0} left");
            failure.causes = vec!["at line 1".to_owned(), "at line 2".to_owned()];
            failure.retry_after_ms = Some(9_000);
            run.report("a", Outcome::Failed(failure)).ok("a", "1");
        }),
        History::new("a task kills its workers", "", &["a~"], |run| {
            run.begin("a")
                .wait(5_000)
                .expire("a", ErrorClass::LockExpired);
            run.begin("a")
                .wait(5_000)
                .expire("a", ErrorClass::HeartbeatMissed);
        }),
        History::new("nobody fetches a task in time", "", &["a~"], |run| {
            run.wait(60_000).expire("a", ErrorClass::TaskTimeout);
            run.wait(62_000).expire("a", ErrorClass::TaskTimeout);
        }),
        History::new(
            "a task is retired while a worker finishes another",
            "",
            &["a | needs: []", "b~ | needs: []", "c~ | needs: []"],
            |run| {
                run.begin("b").fail("a", "400").retired("c");
                run.wait(7).ok("b", "1");
            },
        ),
        History::new("a pause holds a task back", "", &["a~"], |run| {
            run.wait(10).pause().wait(500).resume().begin("a").pause();
            run.wait(1)
                .fail("a", "worker")
                .wait(1)
                .resume()
                .ok("a", "1");
        }),
        History::new(
            "cancelled while workers have tasks",
            "",
            &["a~ | needs: []", "b~ | needs: []", "c | needs: []"],
            |run| {
                run.wait(5).begin("b").wait(5).begin("c").wait(5).begin("a");
                run.wait(5).cancel();
            },
        ),
        History::new(
            "a worker undoes a step",
            "",
            &["a | compensate: undo", "b", "undo~"],
            |run| {
                run.ok("a", "1").fail("b", "400").wait(3).ok("undo", "2");
            },
        ),
    ]
}
