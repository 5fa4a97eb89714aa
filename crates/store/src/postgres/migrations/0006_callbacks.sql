-- Callbacks that attempts wait for, or waited for: one row for each attempt whose target answered or called
-- back. A row stays when nothing is to be said any more, and goes with its execution. Statuses are numbers in
-- the order of the program's list. What the target has said is in the log; how far it is, is only here.
CREATE TABLE task_callbacks (
    execution    uuid     NOT NULL,
    step_no      integer  NOT NULL,
    attempt      bigint   NOT NULL,
    step         text     COLLATE "C" NOT NULL,
    workflow     text     COLLATE "C" NOT NULL,
    status       smallint NOT NULL,
    until        bigint   NOT NULL,
    wake_at      bigint,
    progress     smallint,
    message      bytea,
    extra        bytea,
    query_config bytea,
    created_at   bigint   NOT NULL,
    updated_at   bigint   NOT NULL,
    PRIMARY KEY (execution, step_no, attempt)
) WITH (fillfactor = 70, autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 2000,
        autovacuum_vacuum_cost_delay = 0, autovacuum_analyze_scale_factor = 0,
        autovacuum_analyze_threshold = 20000);

-- Those that are waited for: by the end of their windows, and by workflow, since their executions are open
-- without work.
CREATE INDEX callbacks_clocks ON task_callbacks (wake_at) WHERE wake_at IS NOT NULL;
CREATE INDEX callbacks_open ON task_callbacks (workflow, execution) WHERE wake_at IS NOT NULL;
