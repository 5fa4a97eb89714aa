-- Triggers, where they stand, the ledger of their slots, and the requests to webhooks.

-- With a rowid: settings are longer than a keyless table likes its rows. A deleted trigger stays
-- until its ledger and its requests are gone.
CREATE TABLE workflow_triggers (
    id         BLOB    NOT NULL PRIMARY KEY,
    ns         INTEGER NOT NULL DEFAULT 1,
    workflow   INTEGER NOT NULL,
    kind       TEXT    NOT NULL,
    enabled    INTEGER NOT NULL,
    version    INTEGER NOT NULL,
    settings   BLOB    NOT NULL,
    crc        INTEGER NOT NULL,
    secrets    BLOB,
    webhook    BLOB,
    created_at INTEGER NOT NULL,
    updated_at INTEGER NOT NULL,
    deleted_at INTEGER
) STRICT;

CREATE UNIQUE INDEX triggers_by_webhook ON workflow_triggers (webhook) WHERE webhook IS NOT NULL;
-- These have what is always null in them, too: without it, counting would look into the table.
CREATE INDEX triggers_by_workflow ON workflow_triggers (workflow, id, kind, enabled, deleted_at)
    WHERE deleted_at IS NULL;
CREATE INDEX triggers_by_kind ON workflow_triggers (kind, enabled, id, deleted_at)
    WHERE deleted_at IS NULL;
CREATE INDEX triggers_deleted ON workflow_triggers (deleted_at, id) WHERE deleted_at IS NOT NULL;

-- Apart from the triggers, because it changes with every slot. `fired` is the execution that the last
-- step of the plan started, `slots` counts what was written into the ledger since it was cut.
CREATE TABLE trigger_state (
    trigger      BLOB    NOT NULL PRIMARY KEY,
    rev          INTEGER NOT NULL,
    cursor       INTEGER,
    due_at       INTEGER,
    running      BLOB,
    buffered     INTEGER,
    success_at   INTEGER,
    success_slot INTEGER,
    watched_from INTEGER,
    alarmed_at   INTEGER,
    fired        BLOB,
    slots        INTEGER NOT NULL DEFAULT 0
) STRICT, WITHOUT ROWID;

CREATE INDEX trigger_state_due ON trigger_state (due_at, trigger) WHERE due_at IS NOT NULL;

CREATE TABLE trigger_slots (
    trigger   BLOB    NOT NULL,
    seq       INTEGER NOT NULL,
    nominal   INTEGER NOT NULL,
    until     INTEGER NOT NULL,
    count     INTEGER NOT NULL,
    status    TEXT    NOT NULL,
    reason    TEXT,
    execution BLOB,
    at        INTEGER NOT NULL,
    PRIMARY KEY (trigger, seq)
) STRICT, WITHOUT ROWID;

-- What started an execution has no body here: that is the execution's input. `size` is what a row
-- weighs in its trigger's ring. Keyless, because every admission by a request writes here: one tree
-- less. Refused bodies are long, but few.
CREATE TABLE webhook_requests (
    id         BLOB    NOT NULL PRIMARY KEY,
    trigger    BLOB    NOT NULL,
    at         INTEGER NOT NULL,
    status     TEXT    NOT NULL,
    source     TEXT    NOT NULL,
    headers    BLOB    NOT NULL,
    body       BLOB,
    body_bytes INTEGER NOT NULL,
    execution  BLOB,
    error      TEXT,
    is_test    INTEGER NOT NULL,
    size       INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

CREATE INDEX requests_by_trigger ON webhook_requests (trigger, id);
-- The rings, which are cut without a look into the table, and lists of what was refused. No admission
-- writes here.
CREATE INDEX requests_refused ON webhook_requests (trigger, id, size, status)
    WHERE status <> 'triggered';
CREATE INDEX requests_tests ON webhook_requests (trigger, id) WHERE is_test = 1;

-- How long each ring is, at most: retention takes rows away without counting here.
CREATE TABLE request_rings (
    trigger BLOB    NOT NULL PRIMARY KEY,
    n       INTEGER NOT NULL,
    bytes   INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
