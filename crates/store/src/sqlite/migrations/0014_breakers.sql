-- Circuit breakers of targets.
CREATE TABLE breakers (
    host        TEXT    NOT NULL PRIMARY KEY,
    state       INTEGER NOT NULL,
    opened_at   INTEGER,
    until       INTEGER,
    times       INTEGER NOT NULL,
    probe_owner BLOB,
    probe_until INTEGER,
    forced      INTEGER,
    cause       TEXT,
    changed_at  INTEGER NOT NULL,
    changed_by  TEXT,
    rev         INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

-- Who was called when the execution failed.
ALTER TABLE dead_letter_queue ADD COLUMN target TEXT;
CREATE INDEX dlq_by_target ON dead_letter_queue (target, status, id);
