-- Tasks for workers outside. A task is its step, so it has no id of its own. It stays when it is over and
-- goes with its execution. Statuses are numbers in the order of the program's list: 0 = anybody may
-- fetch it, 1 = a worker has it.
CREATE TABLE workflow_external_tasks (
    execution       BLOB    NOT NULL,
    step_no         INTEGER NOT NULL,
    step            TEXT    NOT NULL,
    workflow        TEXT    NOT NULL,
    task_type       TEXT    NOT NULL,
    priority        INTEGER NOT NULL,
    status          INTEGER NOT NULL,
    returns_to      INTEGER NOT NULL,
    rev             INTEGER NOT NULL,
    attempt         INTEGER NOT NULL,
    attempts_max    INTEGER NOT NULL,
    available_at    INTEGER NOT NULL,
    timeout_at      INTEGER NOT NULL,
    wake_at         INTEGER,
    lock_ms         INTEGER NOT NULL,
    heartbeat_ms    INTEGER,
    silence_ms      INTEGER,
    require_token   INTEGER NOT NULL,
    input_sequence  INTEGER NOT NULL,
    input_bytes     INTEGER NOT NULL,
    token           BLOB,
    worker          TEXT,
    worker_type     TEXT,
    locked_at       INTEGER,
    lock_until      INTEGER,
    heartbeat_until INTEGER,
    heartbeat_at    INTEGER,
    progress        INTEGER,
    message         TEXT,
    ended_token     BLOB,
    ended_by        INTEGER,
    releases        INTEGER NOT NULL,
    error           TEXT,
    created_at      INTEGER NOT NULL,
    updated_at      INTEGER NOT NULL,
    completed_at    INTEGER,
    PRIMARY KEY (execution, step_no)
) STRICT, WITHOUT ROWID;

-- In the order in which workers get them: of a type by priority, then age.
CREATE INDEX tasks_ready ON workflow_external_tasks
    (task_type, priority, available_at, execution, step_no) WHERE status = 0;
-- Those whose clocks run. A heartbeat does not move them here.
CREATE INDEX tasks_clocks ON workflow_external_tasks (wake_at) WHERE wake_at IS NOT NULL;
CREATE INDEX tasks_by_type ON workflow_external_tasks (task_type, execution, step_no);
-- Those that are not over: their executions are open, also without work.
CREATE INDEX tasks_open ON workflow_external_tasks (workflow, execution) WHERE status < 4;
