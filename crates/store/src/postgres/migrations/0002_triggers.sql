-- Triggers, where they stand, the ledger of their slots, and the requests to webhooks.

-- A deleted trigger stays until its ledger and its requests are gone.
CREATE TABLE workflow_triggers (
    id         uuid    NOT NULL PRIMARY KEY,
    ns         integer NOT NULL DEFAULT 1,
    workflow   bigint  NOT NULL,
    kind       text    COLLATE "C" NOT NULL,
    enabled    boolean NOT NULL,
    version    integer NOT NULL,
    settings   bytea   NOT NULL,
    crc        bigint  NOT NULL,
    secrets    bytea,
    webhook    uuid,
    created_at bigint  NOT NULL,
    updated_at bigint  NOT NULL,
    deleted_at bigint
);

CREATE UNIQUE INDEX triggers_by_webhook ON workflow_triggers (webhook) WHERE webhook IS NOT NULL;
CREATE INDEX triggers_by_workflow ON workflow_triggers (workflow, id) WHERE deleted_at IS NULL;
CREATE INDEX triggers_by_kind ON workflow_triggers (kind, enabled, id) WHERE deleted_at IS NULL;
CREATE INDEX triggers_deleted ON workflow_triggers (deleted_at, id) WHERE deleted_at IS NOT NULL;

-- Apart from the triggers, because it changes with every slot. `fired` is the execution that the last
-- step of the plan started, `slots` counts what was written into the ledger since it was cut. Small,
-- and rewritten all the time: vacuumed by a count and not by a share of its size.
CREATE TABLE trigger_state (
    trigger      uuid   NOT NULL PRIMARY KEY,
    rev          bigint NOT NULL,
    cursor       bigint,
    due_at       bigint,
    running      uuid,
    buffered     bigint,
    success_at   bigint,
    success_slot bigint,
    watched_from bigint,
    alarmed_at   bigint,
    fired        uuid,
    slots        bigint NOT NULL DEFAULT 0
) WITH (fillfactor = 50, autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 2000,
        autovacuum_vacuum_cost_delay = 0, autovacuum_analyze_scale_factor = 0,
        autovacuum_analyze_threshold = 20000);

CREATE INDEX trigger_state_due ON trigger_state (due_at, trigger) WHERE due_at IS NOT NULL;

CREATE TABLE trigger_slots (
    trigger   uuid   NOT NULL,
    seq       bigint NOT NULL,
    nominal   bigint NOT NULL,
    until     bigint NOT NULL,
    count     bigint NOT NULL,
    status    text   COLLATE "C" NOT NULL,
    reason    bytea,
    execution uuid,
    at        bigint NOT NULL,
    PRIMARY KEY (trigger, seq)
) WITH (autovacuum_vacuum_scale_factor = 0.05);

-- What started an execution has no body here: that is the execution's input. `size` is what a row
-- weighs in its trigger's ring.
CREATE TABLE webhook_requests (
    id         uuid    NOT NULL PRIMARY KEY,
    trigger    uuid    NOT NULL,
    at         bigint  NOT NULL,
    status     text    COLLATE "C" NOT NULL,
    source     bytea   NOT NULL,
    headers    bytea   NOT NULL,
    body       bytea,
    body_bytes bigint  NOT NULL,
    execution  uuid,
    error      bytea,
    is_test    boolean NOT NULL,
    size       bigint  NOT NULL
) WITH (autovacuum_vacuum_insert_scale_factor = 0.05, autovacuum_vacuum_scale_factor = 0.05);

CREATE INDEX requests_by_trigger ON webhook_requests (trigger, id);
-- The rings, and lists of what was refused. No admission writes here.
CREATE INDEX requests_refused ON webhook_requests (trigger, id, size) WHERE status <> 'triggered';
CREATE INDEX requests_tests ON webhook_requests (trigger, id) WHERE is_test;

-- How long each ring is, at most: retention takes rows away without counting here.
CREATE TABLE request_rings (
    trigger uuid   NOT NULL PRIMARY KEY,
    n       bigint NOT NULL,
    bytes   bigint NOT NULL
) WITH (fillfactor = 50);
