-- What happened to workflows minute by minute: numbers that are added to, and go after two weeks.
CREATE TABLE workflow_minutes (
    workflow        INTEGER NOT NULL,
    minute          INTEGER NOT NULL,
    started         INTEGER NOT NULL,
    completed       INTEGER NOT NULL,
    failed          INTEGER NOT NULL,
    dead_lettered   INTEGER NOT NULL,
    cancelled       INTEGER NOT NULL,
    retries         INTEGER NOT NULL,
    recovered       INTEGER NOT NULL,
    given_up        INTEGER NOT NULL,
    fired           INTEGER NOT NULL,
    missed          INTEGER NOT NULL,
    duration_ms     INTEGER NOT NULL,
    duration_max_ms INTEGER NOT NULL,
    PRIMARY KEY (workflow, minute)
) STRICT, WITHOUT ROWID;
CREATE INDEX minutes_by_time ON workflow_minutes (minute);

-- Rules that people have written, changed or removed. Those from the start are in the program.
CREATE TABLE alert_rules (
    id         BLOB    NOT NULL PRIMARY KEY,
    name       TEXT    NOT NULL,
    version    INTEGER NOT NULL,
    settings   BLOB    NOT NULL,
    created_at INTEGER NOT NULL,
    updated_at INTEGER NOT NULL,
    deleted_at INTEGER
) STRICT, WITHOUT ROWID;
CREATE UNIQUE INDEX alert_rules_by_name ON alert_rules (name) WHERE deleted_at IS NULL;

-- How far each alert is: one row for each rule and subject. Phases and what was told are numbers in the order
-- of the program's lists, values are in thousandths.
CREATE TABLE alert_state (
    rule       BLOB    NOT NULL,
    subject    TEXT    NOT NULL,
    rev        INTEGER NOT NULL,
    name       TEXT    NOT NULL,
    kind       TEXT    NOT NULL,
    workflow   TEXT,
    threshold  INTEGER,
    id         BLOB    NOT NULL,
    phase      INTEGER NOT NULL,
    began_at   INTEGER NOT NULL,
    since      INTEGER NOT NULL,
    value      INTEGER NOT NULL,
    told       INTEGER NOT NULL,
    told_at    INTEGER,
    is_muted   INTEGER NOT NULL,
    acked_at   INTEGER,
    acked_by   TEXT,
    updated_at INTEGER NOT NULL,
    PRIMARY KEY (rule, subject)
) STRICT, WITHOUT ROWID;
CREATE INDEX alerts_by_id ON alert_state (id);

-- Times in which alerts are told to nobody.
CREATE TABLE silences (
    id         BLOB    NOT NULL PRIMARY KEY,
    rule       BLOB,
    subject    TEXT,
    starts_at  INTEGER NOT NULL,
    ends_at    INTEGER NOT NULL,
    comment    TEXT,
    created_by TEXT    NOT NULL,
    created_at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
