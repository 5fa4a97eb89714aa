-- Workers that have said who they are. What nodes see of them is written now and then.
CREATE TABLE workflow_external_workers (
    worker_id         bytea  NOT NULL PRIMARY KEY,
    worker_type       bytea,
    task_types        text   COLLATE "C" NOT NULL,
    last_poll_at      bigint,
    last_heartbeat_at bigint,
    tasks_completed   bigint NOT NULL,
    tasks_failed      bigint NOT NULL,
    created_at        bigint NOT NULL,
    updated_at        bigint NOT NULL
) WITH (fillfactor = 70, autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 2000,
        autovacuum_vacuum_cost_delay = 0, autovacuum_analyze_scale_factor = 0,
        autovacuum_analyze_threshold = 20000);

-- What workers have. A heartbeat does not move a task here.
CREATE INDEX tasks_held ON workflow_external_tasks (worker) WHERE status = 1 AND worker IS NOT NULL;
