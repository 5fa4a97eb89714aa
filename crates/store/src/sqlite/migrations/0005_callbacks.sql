-- Callbacks that attempts wait for, or waited for: one row for each attempt whose target answered or called
-- back. A row stays when nothing is to be said any more, and goes with its execution. Statuses are numbers in
-- the order of the program's list. What the target has said is in the log; how far it is, is only here.
CREATE TABLE task_callbacks (
    execution    BLOB    NOT NULL,
    step_no      INTEGER NOT NULL,
    attempt      INTEGER NOT NULL,
    step         TEXT    NOT NULL,
    workflow     TEXT    NOT NULL,
    status       INTEGER NOT NULL,
    until        INTEGER NOT NULL,
    wake_at      INTEGER,
    progress     INTEGER,
    message      TEXT,
    extra        TEXT,
    query_config BLOB,
    created_at   INTEGER NOT NULL,
    updated_at   INTEGER NOT NULL,
    PRIMARY KEY (execution, step_no, attempt)
) STRICT, WITHOUT ROWID;

-- Those that are waited for: by the end of their windows, and by workflow, since their executions are open
-- without work.
CREATE INDEX callbacks_clocks ON task_callbacks (wake_at) WHERE wake_at IS NOT NULL;
CREATE INDEX callbacks_open ON task_callbacks (workflow, execution) WHERE wake_at IS NOT NULL;
