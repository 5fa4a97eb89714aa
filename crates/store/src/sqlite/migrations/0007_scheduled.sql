-- Scheduled tasks. Each has a workflow and a trigger of its own, which has the same id. `request` is what
-- was sent; the other columns are for lists.
CREATE TABLE scheduled_tasks (
    id            BLOB    NOT NULL PRIMARY KEY,
    workflow      INTEGER NOT NULL,
    name          TEXT,
    task_type     TEXT    NOT NULL,
    schedule_type TEXT    NOT NULL,
    version       INTEGER NOT NULL,
    key_hash      BLOB,
    body_hash     BLOB    NOT NULL,
    request       BLOB    NOT NULL,
    crc           INTEGER NOT NULL,
    created_at    INTEGER NOT NULL,
    updated_at    INTEGER NOT NULL,
    cancelled_at  INTEGER,
    deleted_at    INTEGER
) STRICT;

-- Their workflows are in no list of workflows.
CREATE UNIQUE INDEX scheduled_tasks_workflow ON scheduled_tasks (workflow);
CREATE UNIQUE INDEX scheduled_tasks_key ON scheduled_tasks (key_hash) WHERE key_hash IS NOT NULL;

-- How many executions a trigger has started for its slots, or in place of one.
ALTER TABLE trigger_state ADD COLUMN cycles INTEGER NOT NULL DEFAULT 0;
