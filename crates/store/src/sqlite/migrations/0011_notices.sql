-- What people are to be told: notices that wait for whoever collects them, what becomes one message, and channels.
CREATE TABLE notify_queue (
    id       BLOB    NOT NULL PRIMARY KEY,
    kind     TEXT    NOT NULL,
    workflow TEXT,
    subject  TEXT    NOT NULL,
    facts    BLOB    NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TABLE notify_groups (
    channel BLOB    NOT NULL,
    id      BLOB    NOT NULL,
    rev     INTEGER NOT NULL,
    due_at  INTEGER NOT NULL,
    state   BLOB    NOT NULL,
    PRIMARY KEY (channel, id)
) STRICT, WITHOUT ROWID;

CREATE INDEX notify_groups_due ON notify_groups (due_at, channel, id);

CREATE TABLE notify_channels (
    id         BLOB    NOT NULL PRIMARY KEY,
    version    INTEGER NOT NULL,
    enabled    INTEGER NOT NULL,
    settings   BLOB    NOT NULL,
    crc        INTEGER NOT NULL,
    secrets    BLOB,
    created_at INTEGER NOT NULL,
    updated_at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
