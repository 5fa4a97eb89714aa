-- Ids are sixteen time-ordered bytes, times are microseconds since 1970 in UTC, workflows are
-- referred to by their short key. Every index that an admission touches grows at its right edge:
-- a single random key there costs more than all the rest together. `crc` is a checksum of its row:
-- what is written once and believed for ever must not change unseen.

CREATE TABLE workflows (
    key        INTEGER PRIMARY KEY,
    ns         INTEGER NOT NULL DEFAULT 1,
    id         TEXT    NOT NULL,
    name       TEXT    NOT NULL,
    version    INTEGER NOT NULL,
    created_at INTEGER NOT NULL,
    updated_at INTEGER NOT NULL,
    deleted_at INTEGER,
    UNIQUE (ns, id)
) STRICT;

CREATE TABLE workflow_versions (
    workflow     INTEGER NOT NULL,
    version      INTEGER NOT NULL,
    content_hash BLOB    NOT NULL,
    created_at   INTEGER NOT NULL,
    created_by   TEXT    NOT NULL,
    crc          INTEGER NOT NULL,
    source       TEXT    NOT NULL,
    PRIMARY KEY (workflow, version)
) STRICT, WITHOUT ROWID;

-- With a rowid although the id is the key: rows of a keyless table move to overflow pages from a
-- quarter of a page on, and most snapshots are longer than that.
CREATE TABLE executions (
    id               BLOB    NOT NULL PRIMARY KEY,
    ns               INTEGER NOT NULL DEFAULT 1,
    workflow         INTEGER NOT NULL,
    workflow_version INTEGER NOT NULL,
    version          INTEGER NOT NULL,
    commit_id        BLOB    NOT NULL,
    status           TEXT    NOT NULL,
    phase            TEXT,
    trigger          TEXT    NOT NULL,
    priority         INTEGER NOT NULL,
    created_at       INTEGER NOT NULL,
    updated_at       INTEGER NOT NULL,
    retry_count      INTEGER NOT NULL,
    next_retry_at    INTEGER,
    parent           BLOB,
    root             BLOB    NOT NULL,
    snapshot_version INTEGER NOT NULL,
    snapshot_crc     INTEGER,
    snapshot         BLOB
) STRICT;

CREATE INDEX executions_by_workflow ON executions (workflow, id);
-- The two statuses that most executions have are left out; lists of pending ones read `work`.
CREATE INDEX executions_by_status ON executions (status, id)
    WHERE status NOT IN ('pending', 'completed');
-- Open executions have work, except paused ones.
CREATE INDEX executions_paused ON executions (workflow, id) WHERE status = 'paused';
CREATE INDEX executions_retried ON executions (id) WHERE retry_count > 0;

CREATE TABLE workflow_events (
    execution  BLOB    NOT NULL,
    sequence   INTEGER NOT NULL,
    type       TEXT    NOT NULL,
    v          INTEGER NOT NULL,
    at         INTEGER NOT NULL,
    step       TEXT,
    attempt    INTEGER,
    backoff_ms INTEGER,
    reason     TEXT,
    crc        INTEGER NOT NULL,
    payload    BLOB    NOT NULL,
    PRIMARY KEY (execution, sequence)
) STRICT, WITHOUT ROWID;

-- Ready, timed and running work in one table. `due_at` is null when the work may run at once.
CREATE TABLE work (
    execution BLOB    NOT NULL,
    step      TEXT    NOT NULL,
    attempt   INTEGER NOT NULL,
    is_retry  INTEGER NOT NULL,
    workflow  INTEGER NOT NULL,
    priority  INTEGER NOT NULL,
    due_at    INTEGER,
    limit_key TEXT,
    owner     BLOB,
    begun     INTEGER NOT NULL,
    PRIMARY KEY (execution, step)
) STRICT, WITHOUT ROWID;

-- In the order of claims: within a workflow by priority, then due time (null first), then age. The
-- rest is there so that claims need not look into the table for what they pass over; so is the
-- owner, which is always null here: an index without it would not cover the question.
CREATE INDEX work_ready ON work (
    workflow, priority, due_at, execution, step, attempt, is_retry, limit_key, owner
) WHERE owner IS NULL;
CREATE INDEX work_timers ON work (due_at) WHERE owner IS NULL AND due_at IS NOT NULL;
-- As long as nodes have slots; without it, what runs would have to be found among all that waits.
CREATE INDEX work_owned ON work (workflow) WHERE owner IS NOT NULL;

-- Written only when a key was given.
CREATE TABLE idempotency (
    ns         INTEGER NOT NULL DEFAULT 1,
    scope      TEXT    NOT NULL,
    key_hash   BLOB    NOT NULL,
    body_hash  BLOB    NOT NULL,
    execution  BLOB    NOT NULL,
    expires_at INTEGER NOT NULL,
    PRIMARY KEY (ns, scope, key_hash)
) STRICT, WITHOUT ROWID;

CREATE INDEX idempotency_by_expiry ON idempotency (expires_at);

CREATE TABLE dead_letter_queue (
    id                   BLOB    NOT NULL PRIMARY KEY,
    execution            BLOB    NOT NULL UNIQUE,
    workflow             INTEGER NOT NULL,
    workflow_name        TEXT    NOT NULL,
    step                 TEXT,
    reason               TEXT    NOT NULL,
    error_type           TEXT    NOT NULL,
    error_code           TEXT,
    error_message        TEXT    NOT NULL,
    fingerprint          INTEGER NOT NULL,
    retry_count          INTEGER NOT NULL,
    max_retries          INTEGER NOT NULL,
    generation           INTEGER NOT NULL DEFAULT 0,
    status               TEXT    NOT NULL,
    retry_attempted_at   INTEGER,
    retry_attempted_by   TEXT,
    resolution_execution BLOB,
    resolved_at          INTEGER,
    resolved_by          TEXT,
    deleted_at           INTEGER,
    deleted_by           TEXT,
    failed_at            INTEGER NOT NULL,
    created_at           INTEGER NOT NULL,
    failure              BLOB    NOT NULL
) STRICT;

CREATE INDEX dlq_by_status ON dead_letter_queue (status, id);
CREATE INDEX dlq_by_workflow ON dead_letter_queue (workflow, status, id);
CREATE INDEX dlq_by_error ON dead_letter_queue (error_type, status, id);
CREATE INDEX dlq_by_workflow_error ON dead_letter_queue (workflow, error_type, status, id);

-- Kept in the transactions that change letters, so that an overview counts nothing.
CREATE TABLE dlq_counts (
    workflow   INTEGER NOT NULL,
    error_type TEXT    NOT NULL,
    error_code TEXT    NOT NULL,
    status     TEXT    NOT NULL,
    n          INTEGER NOT NULL,
    PRIMARY KEY (workflow, error_type, error_code, status)
) STRICT, WITHOUT ROWID;

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
