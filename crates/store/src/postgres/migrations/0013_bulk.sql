-- Bulk jobs: what people do with many dead letters or executions. `wish` says with which, and how. Everything
-- from the newest thing down to `cursor` has its outcome, and is counted.
CREATE TABLE bulk_jobs (
    id         uuid     NOT NULL PRIMARY KEY,
    action     smallint NOT NULL,
    state      smallint NOT NULL,
    wish       bytea    NOT NULL,
    cursor     uuid,
    total      bigint,
    ok         bigint   NOT NULL,
    failed     bigint   NOT NULL,
    skipped    bigint   NOT NULL,
    rate       bigint   NOT NULL,
    created_by bytea    NOT NULL,
    rev        bigint   NOT NULL,
    created_at bigint   NOT NULL,
    updated_at bigint   NOT NULL,
    ended_at   bigint
) WITH (fillfactor = 50, autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 1000);

CREATE INDEX bulk_jobs_open ON bulk_jobs (state, id) WHERE ended_at IS NULL;

-- What became of each thing of a job. A thing has one row for each job.
CREATE TABLE bulk_items (
    job       uuid     NOT NULL,
    item      uuid     NOT NULL,
    outcome   smallint NOT NULL,
    execution uuid,
    detail    bytea,
    at        bigint   NOT NULL,
    PRIMARY KEY (job, item)
) WITH (autovacuum_vacuum_scale_factor = 0.05);
