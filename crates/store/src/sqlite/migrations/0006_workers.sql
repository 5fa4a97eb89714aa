-- Workers that have said who they are. What nodes see of them is written now and then.
CREATE TABLE workflow_external_workers (
    worker_id         TEXT    NOT NULL PRIMARY KEY,
    worker_type       TEXT,
    task_types        TEXT    NOT NULL,
    last_poll_at      INTEGER,
    last_heartbeat_at INTEGER,
    tasks_completed   INTEGER NOT NULL,
    tasks_failed      INTEGER NOT NULL,
    created_at        INTEGER NOT NULL,
    updated_at        INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

-- What workers have. A heartbeat does not move a task here.
CREATE INDEX tasks_held ON workflow_external_tasks (worker) WHERE status = 1 AND worker IS NOT NULL;
