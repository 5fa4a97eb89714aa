//! What is wrong, how bad it is and in which order, by table.

use super::*;

const SECOND: u64 = 1;
const MINUTE: u64 = 60;
const HOUR: u64 = 60 * MINUTE;

fn now() -> Timestamp {
    "2026-11-15T12:00:00Z".parse().unwrap()
}

fn ago(seconds: u64) -> Timestamp {
    now().minus(Duration::from_secs(seconds))
}

fn workflow() -> WorkflowId {
    WorkflowId::new("orders").unwrap()
}

fn trigger() -> TriggerId {
    TriggerId::from_bytes([1; 16])
}

fn severities(facts: &Facts) -> Vec<Severity> {
    let all = judge(facts, now()).into_iter();
    all.map(|trouble| trouble.severity).collect()
}

#[test]
fn letters_are_as_bad_as_they_are_fresh() {
    for (newest, severity) in [
        (0, Severity::Critical),
        (HOUR, Severity::Critical),
        (HOUR + SECOND, Severity::Warning),
        (24 * HOUR, Severity::Warning),
        (24 * HOUR + SECOND, Severity::Info),
    ] {
        let facts = Facts {
            letters: vec![Letters {
                workflow: workflow(),
                count: 3,
                oldest: ago(48 * HOUR),
                newest: ago(newest),
            }],
            ..Facts::default()
        };
        let found = judge(&facts, now()).remove(0);
        assert_eq!(found.severity, severity, "{newest}");
        assert_eq!((found.count, found.since), (Some(3), ago(48 * HOUR)));
        assert_eq!(found.subject(), "orders");
    }
}

#[test]
fn workers_are_missed_for_a_day_unless_others_do_their_tasks() {
    for (seen, is_replaced, expected) in [
        (10 * MINUTE, false, vec![Severity::Warning]),
        (10 * MINUTE, true, vec![Severity::Info]),
        (24 * HOUR, false, vec![Severity::Warning]),
        (24 * HOUR + SECOND, false, vec![]),
    ] {
        let facts = Facts {
            workers: vec![Silent {
                worker: "n8n-2".to_owned(),
                seen_at: ago(seen),
                is_replaced,
            }],
            ..Facts::default()
        };
        assert_eq!(severities(&facts), expected, "{seen} {is_replaced}");
    }
}

#[test]
fn a_node_is_silent_and_then_lost() {
    for (renewed, expected) in [
        (0, vec![]),
        (5, vec![]),
        (6, vec![Severity::Warning]),
        (9, vec![Severity::Warning]),
        (10, vec![Severity::Critical]),
    ] {
        let facts = Facts {
            nodes: vec![Lease {
                node: NodeId::from_bytes([2; 16]),
                name: "a".to_owned(),
                renewed_at: ago(renewed),
                expires_at: ago(renewed).plus(Duration::from_secs(10)),
            }],
            ..Facts::default()
        };
        assert_eq!(severities(&facts), expected, "{renewed}");
    }
}

#[test]
fn tasks_may_wait_a_moment_for_a_worker() {
    for (since, expected) in [
        (MINUTE, vec![]),
        (MINUTE + SECOND, vec![Severity::Warning]),
        (15 * MINUTE, vec![Severity::Warning]),
        (15 * MINUTE + SECOND, vec![Severity::Critical]),
    ] {
        let facts = Facts {
            waiting: vec![Waiting {
                task_type: "n8n-jira".to_owned(),
                count: 1,
                since: ago(since),
            }],
            ..Facts::default()
        };
        assert_eq!(severities(&facts), expected, "{since}");
    }
    let later = Facts {
        waiting: vec![Waiting {
            task_type: "n8n-jira".to_owned(),
            count: 1,
            since: now().plus(Duration::from_secs(HOUR)),
        }],
        ..Facts::default()
    };
    assert!(judge(&later, now()).is_empty(), "it waits for its time");
}

/// One of each.
fn everything() -> Facts {
    Facts {
        letters: vec![Letters {
            workflow: workflow(),
            count: 1,
            oldest: ago(HOUR),
            newest: ago(MINUTE),
        }],
        overdue: vec![Overdue {
            trigger: trigger(),
            workflow: workflow(),
            since: ago(HOUR),
        }],
        unreadable: vec![Unreadable {
            trigger: trigger(),
            workflow: workflow(),
            since: ago(HOUR),
            problem: "timezone: no such zone".to_owned(),
        }],
        workers: vec![Silent {
            worker: "n8n-2".to_owned(),
            seen_at: ago(HOUR),
            is_replaced: false,
        }],
        nodes: vec![Lease {
            node: NodeId::from_bytes([2; 16]),
            name: "a".to_owned(),
            renewed_at: ago(HOUR),
            expires_at: ago(HOUR),
        }],
        refused: vec![Refused {
            trigger: trigger(),
            workflow: workflow(),
            count: 3,
            since: ago(HOUR),
        }],
        waiting: vec![Waiting {
            task_type: "n8n-jira".to_owned(),
            count: 2,
            since: ago(HOUR),
        }],
        alarms: vec![alarm(RuleKind::FailureRate)],
        broken: vec![Broken {
            channel: ChannelId::from_bytes([4; 16]),
            name: "ops".to_owned(),
            because: "404".to_owned(),
            since: ago(MINUTE),
        }],
    }
}

fn alarm(kind: RuleKind) -> Alarm {
    Alarm {
        alert: AlertId::from_bytes([3; 16]),
        rule: "Rule".to_owned(),
        kind,
        subject: "ship_order".to_owned(),
        workflow: Some(workflow()),
        since: ago(HOUR),
    }
}

#[test]
fn an_alert_whose_cause_is_in_the_list_is_not_told_twice() {
    let facts = Facts {
        alarms: RuleKind::ALL.map(alarm).to_vec(),
        ..Facts::default()
    };
    let found = judge(&facts, now());
    assert_eq!(found.len(), RuleKind::ALL.len() - 3);
    assert_eq!(found[0].words().en, "alert: Rule (ship_order)");
    assert_eq!(found[0].words().zh_tw, "告警：Rule（ship_order）");
}

#[test]
fn the_worst_comes_first_and_the_list_is_short() {
    let found = judge(&everything(), now());
    let names: Vec<&str> = found.iter().map(|trouble| trouble.kind.name()).collect();
    assert_eq!(
        names,
        [
            "node_lost",
            "channel_broken",
            "trigger_unreadable",
            "trigger_overdue",
            "task_waiting_without_worker",
            "alert_firing",
            "dead_letters",
            "quarantine",
            "worker_dead",
        ]
    );
    let many = Facts {
        letters: (0..100)
            .map(|n| Letters {
                workflow: WorkflowId::new(format!("w{n}")).unwrap(),
                count: n,
                oldest: ago(HOUR),
                newest: ago(MINUTE),
            })
            .collect(),
        ..Facts::default()
    };
    let found = judge(&many, now());
    assert_eq!((found.len(), found[0].count), (TROUBLES_MAX, Some(99)));
    assert!(judge(&Facts::default(), now()).is_empty());
}

#[test]
fn everything_is_said_in_both_languages() {
    let said: Vec<(String, String)> = judge(&everything(), now())
        .iter()
        .map(|trouble| (trouble.words().en, trouble.words().zh_tw))
        .collect();
    let id = trigger();
    let expected = [
        (
            "node a is lost; others take over its work".to_owned(),
            "節點 a 已失聯，其工作由其他節點接手".to_owned(),
        ),
        (
            "nothing gets through channel ops: 404".to_owned(),
            "通道 ops 無法送出訊息：404".to_owned(),
        ),
        (
            format!(
                "trigger {id} of orders cannot be read and starts nothing: timezone: no such zone"
            ),
            format!("orders 的觸發器 {id} 無法讀取，不會啟動任何執行：timezone: no such zone"),
        ),
        (
            format!("an expected success of trigger {id} of orders is missing"),
            format!("orders 的觸發器 {id} 未在預期時間內成功"),
        ),
        (
            "2 tasks of type n8n-jira wait, and no worker asks for them".to_owned(),
            "有 2 個 n8n-jira 類型的任務在等待，但沒有工作程式領取".to_owned(),
        ),
        (
            "alert: Rule (ship_order)".to_owned(),
            "告警：Rule（ship_order）".to_owned(),
        ),
        (
            "1 dead letter of orders waits for a decision".to_owned(),
            "orders 有 1 筆死信等待處理".to_owned(),
        ),
        (
            "3 requests to a webhook of orders were refused and can be checked again".to_owned(),
            "orders 的 Webhook 有 3 筆請求遭拒，可重新檢查".to_owned(),
        ),
        (
            "worker n8n-2 is dead, and no other does its tasks".to_owned(),
            "工作程式 n8n-2 已失去聯繫，且沒有其他工作程式處理其任務".to_owned(),
        ),
    ];
    assert_eq!(said, expected);
}
