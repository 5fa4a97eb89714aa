-- The same tables as in the embedded store, with what several nodes need beside them. Ids are
-- sixteen time-ordered bytes (`uuid`), times are microseconds since 1970 in UTC, workflows are
-- referred to by their short key. Whatever comes from outside is kept as bytes: a text cannot hold
-- every character that JSON can. `crc` is a checksum of its row.

CREATE TABLE workflows (
    key        bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    ns         integer NOT NULL DEFAULT 1,
    id         text   COLLATE "C" NOT NULL,
    name       bytea  NOT NULL,
    version    integer NOT NULL,
    created_at bigint NOT NULL,
    updated_at bigint NOT NULL,
    deleted_at bigint,
    UNIQUE (ns, id)
);

CREATE TABLE workflow_versions (
    workflow     bigint  NOT NULL,
    version      integer NOT NULL,
    content_hash bytea   NOT NULL,
    created_at   bigint  NOT NULL,
    created_by   bytea   NOT NULL,
    crc          bigint  NOT NULL,
    source       bytea   NOT NULL,
    PRIMARY KEY (workflow, version)
);

CREATE TABLE executions (
    id               uuid     NOT NULL PRIMARY KEY,
    ns               integer  NOT NULL DEFAULT 1,
    workflow         bigint   NOT NULL,
    workflow_version integer  NOT NULL,
    version          bigint   NOT NULL,
    commit_id        uuid     NOT NULL,
    status           text     COLLATE "C" NOT NULL,
    phase            text,
    trigger          text     NOT NULL,
    priority         smallint NOT NULL,
    created_at       bigint   NOT NULL,
    updated_at       bigint   NOT NULL,
    retry_count      integer  NOT NULL,
    next_retry_at    bigint,
    parent           uuid,
    root             uuid     NOT NULL,
    snapshot_version bigint   NOT NULL,
    snapshot_crc     bigint,
    snapshot         bytea,
    -- The status, unless it is one of the two that most executions have. Indexes go by this column: it
    -- stays as it is while an execution goes from the one to the other, so that its row is rewritten
    -- in its page and no index has to know. The pages have room for that.
    listed           text     COLLATE "C" GENERATED ALWAYS AS
        (CASE WHEN status IN ('pending', 'completed') THEN NULL ELSE status END) STORED
) WITH (fillfactor = 50, autovacuum_vacuum_scale_factor = 0.02,
        autovacuum_vacuum_insert_scale_factor = 0.05, autovacuum_analyze_scale_factor = 0.05);
-- Snapshots are small and change with every commit: compressing them costs more than it saves.
ALTER TABLE executions ALTER COLUMN snapshot SET STORAGE EXTERNAL;

CREATE INDEX executions_by_workflow ON executions (workflow, id);
-- Lists of pending ones read `work`.
CREATE INDEX executions_by_status ON executions (listed, id) WHERE listed IS NOT NULL;
-- Open executions have work, except paused ones.
CREATE INDEX executions_paused ON executions (workflow, id) WHERE listed = 'paused';
CREATE INDEX executions_retried ON executions (id) WHERE retry_count > 0;

CREATE TABLE workflow_events (
    execution  uuid     NOT NULL,
    sequence   bigint   NOT NULL,
    type       text     COLLATE "C" NOT NULL,
    v          integer  NOT NULL,
    at         bigint   NOT NULL,
    step       text     COLLATE "C",
    attempt    integer,
    backoff_ms bigint,
    reason     bytea,
    crc        bigint   NOT NULL,
    payload    bytea    NOT NULL,
    PRIMARY KEY (execution, sequence)
) WITH (autovacuum_vacuum_insert_scale_factor = 0.05, autovacuum_vacuum_scale_factor = 0.05);

-- Ready, timed and running work in one table, and the only one that every attempt rewrites: what is
-- finished leaves it. Rows are removed as fast as they come, so it is vacuumed by a count and not
-- by a share of its size. A `due_at` of -2^63 means at once.
CREATE TABLE work (
    execution uuid     NOT NULL,
    step      text     COLLATE "C" NOT NULL,
    attempt   integer  NOT NULL,
    is_retry  boolean  NOT NULL,
    workflow  bigint   NOT NULL,
    priority  smallint NOT NULL,
    due_at    bigint   NOT NULL,
    limit_key bytea,
    owner     uuid,
    begun     boolean  NOT NULL,
    -- The commit that claimed it, so that a claim whose answer was lost can be told again.
    claim     uuid,
    PRIMARY KEY (execution, step)
) WITH (fillfactor = 70, autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 2000,
        autovacuum_vacuum_cost_delay = 0, autovacuum_analyze_scale_factor = 0,
        autovacuum_analyze_threshold = 20000);

-- In the order of claims: within a workflow by priority, then due time, then age.
CREATE INDEX work_ready ON work (workflow, priority, due_at, execution, step) WHERE owner IS NULL;
-- Only what has a time: claims of ready work must never be tempted to go along this one.
CREATE INDEX work_timers ON work (due_at, execution, step)
    WHERE owner IS NULL AND due_at > -9223372036854775808;
-- As long as nodes have slots; without it, what runs would have to be found among all that waits.
-- The workflow is there for those who count what is in flight of one: they pass over the others here
-- instead of in the table.
CREATE INDEX work_owned ON work (owner, workflow) WHERE owner IS NOT NULL;

-- Written only when a key was given.
CREATE TABLE idempotency (
    ns         integer NOT NULL DEFAULT 1,
    scope      text    COLLATE "C" NOT NULL,
    key_hash   bytea   NOT NULL,
    body_hash  bytea   NOT NULL,
    execution  uuid    NOT NULL,
    expires_at bigint  NOT NULL,
    PRIMARY KEY (ns, scope, key_hash)
) WITH (autovacuum_vacuum_scale_factor = 0.05);

CREATE INDEX idempotency_by_expiry ON idempotency (expires_at);

CREATE TABLE dead_letter_queue (
    id                   uuid    NOT NULL PRIMARY KEY,
    execution            uuid    NOT NULL UNIQUE,
    workflow             bigint  NOT NULL,
    workflow_name        bytea   NOT NULL,
    step                 text    COLLATE "C",
    reason               text    NOT NULL,
    error_type           text    COLLATE "C" NOT NULL,
    error_code           bytea,
    error_message        bytea   NOT NULL,
    fingerprint          bigint  NOT NULL,
    retry_count          integer NOT NULL,
    max_retries          integer NOT NULL,
    generation           integer NOT NULL DEFAULT 0,
    status               text    COLLATE "C" NOT NULL,
    retry_attempted_at   bigint,
    retry_attempted_by   bytea,
    resolution_execution uuid,
    resolved_at          bigint,
    resolved_by          bytea,
    deleted_at           bigint,
    deleted_by           bytea,
    failed_at            bigint  NOT NULL,
    created_at           bigint  NOT NULL,
    failure              bytea   NOT NULL
);

CREATE INDEX dlq_by_status ON dead_letter_queue (status, id);
CREATE INDEX dlq_by_workflow ON dead_letter_queue (workflow, status, id);
CREATE INDEX dlq_by_error ON dead_letter_queue (error_type, status, id);
CREATE INDEX dlq_by_workflow_error ON dead_letter_queue (workflow, error_type, status, id);

-- Kept in the transactions that change letters, so that an overview counts nothing. Spread over
-- shards, one per connection that commits, so that nodes do not wait for each other here: only the
-- sum over the shards means anything, and one of them may be below zero.
CREATE TABLE dlq_counts (
    workflow   bigint   NOT NULL,
    error_type text     COLLATE "C" NOT NULL,
    error_code bytea    NOT NULL,
    status     text     COLLATE "C" NOT NULL,
    shard      smallint NOT NULL DEFAULT 0,
    n          bigint   NOT NULL,
    PRIMARY KEY (workflow, error_type, error_code, status, shard)
) WITH (fillfactor = 50, autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 1000);

-- A row here is a node's lease. `expires_at` only permits others to remove it: no commit compares
-- clocks. Times are the database's own.
CREATE TABLE nodes (
    node_id    uuid        NOT NULL PRIMARY KEY,
    name       text        NOT NULL,
    address    text        NOT NULL,
    version    text        NOT NULL,
    started_at timestamptz NOT NULL,
    renewed_at timestamptz NOT NULL,
    expires_at timestamptz NOT NULL
) WITH (fillfactor = 50, autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 200);

-- The last commit of each connection that commits. A commit whose answer was lost is looked up
-- here: whoever asks waits for a transaction that still holds the row, and by raising `serial`
-- makes sure that one which has not arrived yet never counts.
CREATE TABLE commit_marks (
    writer    uuid    NOT NULL PRIMARY KEY,
    serial    bigint  NOT NULL,
    marked_at timestamptz NOT NULL
) WITH (fillfactor = 50, autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 1000,
        autovacuum_vacuum_cost_delay = 0);

-- What all nodes must agree about, such as the hash of the admin key.
CREATE TABLE settings (
    name  text  NOT NULL PRIMARY KEY,
    value bytea NOT NULL
);

-- The first statement of every commit. Without a lease, or when the commit has been given up
-- already, the transaction fails here and writes nothing. Then it takes the locks of the workflows
-- it admits to (shared) or changes (alone), in the order in which they are given, which is the same
-- for all: an execution of a workflow that is being deleted cannot come to be.
CREATE FUNCTION begin_commit(node uuid, writer_id uuid, number bigint,
                             workflow_locks integer[], is_alone boolean[])
RETURNS void LANGUAGE plpgsql AS $$
BEGIN
    IF node IS NOT NULL THEN
        PERFORM 1 FROM nodes WHERE node_id = node FOR KEY SHARE;
        IF NOT FOUND THEN
            RAISE EXCEPTION 'the lease of the node is gone' USING ERRCODE = 'RF001';
        END IF;
    END IF;
    UPDATE commit_marks SET serial = number, marked_at = clock_timestamp()
     WHERE writer = writer_id AND serial < number;
    IF NOT FOUND THEN
        RAISE EXCEPTION 'the commit was given up' USING ERRCODE = 'RF002';
    END IF;
    FOR place IN 1 .. coalesce(array_length(workflow_locks, 1), 0) LOOP
        IF is_alone[place] THEN
            PERFORM pg_advisory_xact_lock(21062, workflow_locks[place]);
        ELSE
            PERFORM pg_advisory_xact_lock_shared(21062, workflow_locks[place]);
        END IF;
    END LOOP;
END $$;

-- The number of a connection's last commit, for the one with this number, whose answer was lost.
-- Waits for it while it is under way; one that has not arrived yet can never be written afterwards.
-- Null = nobody knows any more.
CREATE FUNCTION fence_commit(writer_id uuid, number bigint)
RETURNS bigint LANGUAGE plpgsql AS $$
DECLARE
    last bigint;
BEGIN
    SELECT serial INTO last FROM commit_marks WHERE writer = writer_id FOR UPDATE;
    UPDATE commit_marks SET serial = number + 1 WHERE writer = writer_id AND serial < number;
    RETURN last;
END $$;

-- One line per wait before a retry. The event names the attempt to come and the words of the
-- failure before it; the line names the attempt that failed.
CREATE VIEW retry_logs AS
SELECT retry.execution                    AS execution_id,
       executions.workflow                AS workflow,
       retry.step                         AS step,
       retry.attempt - 1                  AS attempt,
       retry.reason                       AS error_message,
       retry.backoff_ms / 1000.0          AS delay_seconds,
       retry.at + retry.backoff_ms * 1000 AS next_retry_at,
       retry.at                           AS timestamp
  FROM workflow_events AS retry
  JOIN executions ON executions.id = retry.execution
 WHERE retry.type = 'RETRY_SCHEDULED';
