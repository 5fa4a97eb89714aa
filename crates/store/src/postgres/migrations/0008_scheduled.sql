-- Scheduled tasks. Each has a workflow and a trigger of its own, which has the same id. `request` is what
-- was sent; the other columns are for lists.
CREATE TABLE scheduled_tasks (
    id            uuid    NOT NULL PRIMARY KEY,
    workflow      bigint  NOT NULL,
    name          bytea,
    task_type     text    COLLATE "C" NOT NULL,
    schedule_type text    COLLATE "C" NOT NULL,
    version       integer NOT NULL,
    key_hash      bytea,
    body_hash     bytea   NOT NULL,
    request       bytea   NOT NULL,
    crc           bigint  NOT NULL,
    created_at    bigint  NOT NULL,
    updated_at    bigint  NOT NULL,
    cancelled_at  bigint,
    deleted_at    bigint
);

-- Their workflows are in no list of workflows.
CREATE UNIQUE INDEX scheduled_tasks_workflow ON scheduled_tasks (workflow);
CREATE UNIQUE INDEX scheduled_tasks_key ON scheduled_tasks (key_hash) WHERE key_hash IS NOT NULL;

-- How many executions a trigger has started for its slots, or in place of one.
ALTER TABLE trigger_state ADD COLUMN cycles bigint NOT NULL DEFAULT 0;
