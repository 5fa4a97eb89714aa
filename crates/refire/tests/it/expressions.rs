//! Every form of a cron expression, through a trigger: taken, and the next times are right.

use reqwest::Method;
use serde_json::{Value, json};

use crate::server::{Answer, Server, send};
use crate::target::Target;
use crate::workflow::one_step;

/// An expression, its zone if that is said apart, and the next times of 2028.
type Form = (&'static str, Option<&'static str>, [&'static str; 3]);

const FORMS: [Form; 10] = [
    (
        "*/20 30 8 * * *",
        None,
        [
            "01-01T08:30:00+00:00",
            "01-01T08:30:20+00:00",
            "01-01T08:30:40+00:00",
        ],
    ),
    (
        "0 12 L * *",
        None,
        [
            "01-31T12:00:00+00:00",
            "02-29T12:00:00+00:00",
            "03-31T12:00:00+00:00",
        ],
    ),
    (
        // The last days are a Sunday, a Monday and a Saturday.
        "0 12 LW 4,7,9 *",
        None,
        [
            "04-28T12:00:00+00:00",
            "07-31T12:00:00+00:00",
            "09-29T12:00:00+00:00",
        ],
    ),
    (
        // The fifteenth is a Saturday, a Tuesday and a Wednesday.
        "0 12 15W * *",
        None,
        [
            "01-14T12:00:00+00:00",
            "02-15T12:00:00+00:00",
            "03-15T12:00:00+00:00",
        ],
    ),
    (
        "0 9 * * MON#1",
        Some("Asia/Taipei"),
        [
            "01-03T09:00:00+08:00",
            "02-07T09:00:00+08:00",
            "03-06T09:00:00+08:00",
        ],
    ),
    (
        "0 9 * * 5L",
        None,
        [
            "01-28T09:00:00+00:00",
            "02-25T09:00:00+00:00",
            "03-31T09:00:00+00:00",
        ],
    ),
    (
        "@hourly",
        Some("Asia/Kolkata"),
        [
            "01-01T06:00:00+05:30",
            "01-01T07:00:00+05:30",
            "01-01T08:00:00+05:30",
        ],
    ),
    (
        "@weekly",
        None,
        [
            "01-02T00:00:00+00:00",
            "01-09T00:00:00+00:00",
            "01-16T00:00:00+00:00",
        ],
    ),
    (
        "TZ=Europe/Warsaw 0 9 1 * *",
        None,
        [
            "01-01T09:00:00+01:00",
            "02-01T09:00:00+01:00",
            "03-01T09:00:00+01:00",
        ],
    ),
    (
        "CRON_TZ=America/New_York @daily",
        None,
        [
            "01-01T00:00:00-05:00",
            "01-02T00:00:00-05:00",
            "01-03T00:00:00-05:00",
        ],
    ),
];

async fn ready() -> Server {
    let (server, target) = (Server::start().await, Target::start().await);
    server.apply("w", &one_step("w", &target.url("/x"))).await;
    server
}

/// A trigger whose planned times begin with the year 2028: it begins on a Saturday, and is a leap year.
async fn create(server: &Server, expression: &str, zone: Option<&str>) -> Answer {
    let mut body = json!({"trigger_type": "cron", "cron_expression": expression,
        "start": "2028-01-01T00:00:00Z"});
    if let Some(zone) = zone {
        body["timezone"] = json!(zone);
    }
    server
        .post("/api/workflows/w/triggers", body.to_string())
        .await
}

async fn next(server: &Server, trigger: &Value) -> Vec<String> {
    let id = trigger["id"].as_str().unwrap();
    let path = format!("/api/triggers/{id}/next?count=3");
    let page = server.get(&path).await.expect(200);
    let items = page["items"].as_array().unwrap().iter();
    items
        .map(|one| one["local"].as_str().unwrap().to_owned())
        .collect()
}

#[tokio::test]
async fn every_form_has_the_right_next_times() {
    let server = ready().await;
    for (expression, zone, expected) in FORMS {
        let trigger = create(&server, expression, zone).await.expect(201);
        assert_eq!(trigger["cron_expression"], expression);
        let expected = expected.map(|local| format!("2028-{local}"));
        assert_eq!(next(&server, &trigger).await, expected, "{expression}");
        let told = trigger["next_executions"].as_array().unwrap();
        assert_eq!(*told, expected[..2], "{expression}");
    }
}

#[tokio::test]
async fn a_zone_is_said_once_or_twice_the_same() {
    let server = ready().await;
    for (expression, zone) in [
        ("TZ=Asia/Taipei 0 9 * * *", "Asia/Taipei"),
        ("CRON_TZ=asia/taipei 0 9 * * *", "Asia/Taipei"),
    ] {
        let trigger = create(&server, expression, Some(zone)).await.expect(201);
        let first = &next(&server, &trigger).await[0];
        assert_eq!(first, "2028-01-01T09:00:00+08:00", "{expression}");
    }
    let refused = create(&server, "TZ=Asia/Taipei 0 9 * * *", Some("UTC")).await;
    let problem = refused.problem(400, "RF0032");
    let error = &problem["errors"][0];
    assert_eq!(error["field"], "timezone", "{problem}");
    let said = error["message"].as_str().unwrap();
    assert!(said.contains("Asia/Taipei"), "{said}");
    // Nor does a change make two zones of one.
    let trigger = create(&server, "TZ=Asia/Taipei 0 9 * * *", None).await;
    let trigger = trigger.expect(201);
    let path = format!("/api/triggers/{}", trigger["id"].as_str().unwrap());
    let change = |body: Value| send(server.request(Method::PATCH, &path).body(body.to_string()));
    let problem = change(json!({"timezone": "UTC"})).await;
    let problem = problem.problem(400, "RF0032");
    assert_eq!(problem["errors"][0]["field"], "timezone", "{problem}");
    let changed = change(json!({"timezone": "UTC", "cron_expression": "0 9 * * *"})).await;
    let changed = changed.expect(200);
    assert_eq!(
        next(&server, &changed).await[0],
        "2028-01-01T09:00:00+00:00"
    );
}

#[tokio::test]
async fn the_history_and_the_trigger_name_the_zone_of_the_expression() {
    let server = ready().await;
    let trigger = create(&server, "TZ=Asia/Taipei 0 9 * * *", None).await;
    let trigger = trigger.expect(201);
    let words = trigger["description_in_words"]["en"].as_str().unwrap();
    assert!(words.contains("Asia/Taipei"), "{words}");
    let history = server
        .get("/api/workflows/w/cron-history")
        .await
        .expect(200);
    assert_eq!(history["timezone"], "Asia/Taipei", "{history}");
    let next = history["next_execution"].as_str().unwrap();
    assert_eq!(next, "2028-01-01T09:00:00+08:00");
}
