-- Bulk jobs: what people do with many dead letters or executions. `wish` says with which, and how. Everything
-- from the newest thing down to `cursor` has its outcome, and is counted.
CREATE TABLE bulk_jobs (
    id         BLOB    NOT NULL PRIMARY KEY,
    action     INTEGER NOT NULL,
    state      INTEGER NOT NULL,
    wish       BLOB    NOT NULL,
    cursor     BLOB,
    total      INTEGER,
    ok         INTEGER NOT NULL,
    failed     INTEGER NOT NULL,
    skipped    INTEGER NOT NULL,
    rate       INTEGER NOT NULL,
    created_by TEXT    NOT NULL,
    rev        INTEGER NOT NULL,
    created_at INTEGER NOT NULL,
    updated_at INTEGER NOT NULL,
    ended_at   INTEGER
) STRICT;

CREATE INDEX bulk_jobs_open ON bulk_jobs (state, id) WHERE ended_at IS NULL;

-- What became of each thing of a job. A thing has one row for each job.
CREATE TABLE bulk_items (
    job       BLOB    NOT NULL,
    item      BLOB    NOT NULL,
    outcome   INTEGER NOT NULL,
    execution BLOB,
    detail    TEXT,
    at        INTEGER NOT NULL,
    PRIMARY KEY (job, item)
) STRICT, WITHOUT ROWID;
