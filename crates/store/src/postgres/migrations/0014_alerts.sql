-- What happened to workflows minute by minute: numbers that all nodes add to, and that go after two weeks.
CREATE TABLE workflow_minutes (
    workflow        bigint NOT NULL,
    minute          bigint NOT NULL,
    started         bigint NOT NULL,
    completed       bigint NOT NULL,
    failed          bigint NOT NULL,
    dead_lettered   bigint NOT NULL,
    cancelled       bigint NOT NULL,
    retries         bigint NOT NULL,
    recovered       bigint NOT NULL,
    given_up        bigint NOT NULL,
    fired           bigint NOT NULL,
    missed          bigint NOT NULL,
    duration_ms     bigint NOT NULL,
    duration_max_ms bigint NOT NULL,
    PRIMARY KEY (workflow, minute)
) WITH (fillfactor = 70, autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 2000,
        autovacuum_vacuum_cost_delay = 0, autovacuum_analyze_scale_factor = 0,
        autovacuum_analyze_threshold = 20000);
CREATE INDEX minutes_by_time ON workflow_minutes (minute);

-- Rules that people have written, changed or removed. Those from the start are in the program.
CREATE TABLE alert_rules (
    id         uuid    NOT NULL PRIMARY KEY,
    name       bytea   NOT NULL,
    version    integer NOT NULL,
    settings   bytea   NOT NULL,
    created_at bigint  NOT NULL,
    updated_at bigint  NOT NULL,
    deleted_at bigint
);
CREATE UNIQUE INDEX alert_rules_by_name ON alert_rules (name) WHERE deleted_at IS NULL;

-- How far each alert is: one row for each rule and subject. Phases and what was told are numbers in the order
-- of the program's lists, values are in thousandths.
CREATE TABLE alert_state (
    rule       uuid     NOT NULL,
    subject    bytea    NOT NULL,
    rev        bigint   NOT NULL,
    name       bytea    NOT NULL,
    kind       text     COLLATE "C" NOT NULL,
    workflow   text     COLLATE "C",
    threshold  bigint,
    id         uuid     NOT NULL,
    phase      smallint NOT NULL,
    began_at   bigint   NOT NULL,
    since      bigint   NOT NULL,
    value      bigint   NOT NULL,
    told       smallint NOT NULL,
    told_at    bigint,
    is_muted   boolean  NOT NULL,
    acked_at   bigint,
    acked_by   bytea,
    updated_at bigint   NOT NULL,
    PRIMARY KEY (rule, subject)
) WITH (fillfactor = 70, autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 2000,
        autovacuum_vacuum_cost_delay = 0, autovacuum_analyze_scale_factor = 0,
        autovacuum_analyze_threshold = 20000);
CREATE INDEX alerts_by_id ON alert_state (id);

-- Times in which alerts are told to nobody.
CREATE TABLE silences (
    id         uuid   NOT NULL PRIMARY KEY,
    rule       uuid,
    subject    bytea,
    starts_at  bigint NOT NULL,
    ends_at    bigint NOT NULL,
    comment    bytea,
    created_by bytea  NOT NULL,
    created_at bigint NOT NULL
);
