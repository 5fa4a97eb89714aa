-- What people are to be told: notices that wait for whoever collects them, what becomes one message, and channels.
-- Notices come and go with every storm, so that these tables are vacuumed by count.
CREATE TABLE notify_queue (
    id       uuid  NOT NULL PRIMARY KEY,
    kind     text  NOT NULL,
    workflow text,
    subject  bytea NOT NULL,
    facts    bytea NOT NULL
) WITH (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 2000,
        autovacuum_analyze_scale_factor = 0, autovacuum_analyze_threshold = 5000);

CREATE TABLE notify_groups (
    channel uuid   NOT NULL,
    id      uuid   NOT NULL,
    rev     bigint NOT NULL,
    due_at  bigint NOT NULL,
    state   bytea  NOT NULL,
    PRIMARY KEY (channel, id)
) WITH (fillfactor = 70, autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 1000,
        autovacuum_analyze_scale_factor = 0, autovacuum_analyze_threshold = 1000);

CREATE INDEX notify_groups_due ON notify_groups (due_at, channel, id);

CREATE TABLE notify_channels (
    id         uuid    NOT NULL PRIMARY KEY,
    version    integer NOT NULL,
    enabled    boolean NOT NULL,
    settings   bytea   NOT NULL,
    crc        bigint  NOT NULL,
    secrets    bytea,
    created_at bigint  NOT NULL,
    updated_at bigint  NOT NULL
);
