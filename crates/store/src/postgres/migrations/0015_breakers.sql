-- Circuit breakers of targets.
CREATE TABLE breakers (
    host        text     NOT NULL COLLATE "C" PRIMARY KEY,
    state       smallint NOT NULL,
    opened_at   bigint,
    until       bigint,
    times       integer  NOT NULL,
    probe_owner uuid,
    probe_until bigint,
    forced      smallint,
    cause       text,
    changed_at  bigint   NOT NULL,
    changed_by  bytea,
    rev         bigint   NOT NULL
);

-- Who was called when the execution failed.
ALTER TABLE dead_letter_queue ADD COLUMN target text COLLATE "C";
CREATE INDEX dlq_by_target ON dead_letter_queue (target, status, id);
