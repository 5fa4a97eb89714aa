-- Tasks for workers outside. A task is its step, so it has no id of its own. It stays when it is over and
-- goes with its execution. Statuses are numbers in the order of the program's list: 0 = anybody may
-- fetch it, 1 = a worker has it.
CREATE TABLE workflow_external_tasks (
    execution       uuid     NOT NULL,
    step_no         integer  NOT NULL,
    step            text     COLLATE "C" NOT NULL,
    workflow        text COLLATE "C" NOT NULL,
    task_type       text     COLLATE "C" NOT NULL,
    priority        smallint NOT NULL,
    status          smallint NOT NULL,
    returns_to      smallint NOT NULL,
    rev             bigint   NOT NULL,
    attempt         bigint   NOT NULL,
    attempts_max    bigint   NOT NULL,
    available_at    bigint   NOT NULL,
    timeout_at      bigint   NOT NULL,
    wake_at         bigint,
    lock_ms         bigint   NOT NULL,
    heartbeat_ms    bigint,
    silence_ms      bigint,
    require_token   boolean  NOT NULL,
    input_sequence  bigint   NOT NULL,
    input_bytes     bigint   NOT NULL,
    token           uuid,
    worker          bytea,
    worker_type     bytea,
    locked_at       bigint,
    lock_until      bigint,
    heartbeat_until bigint,
    heartbeat_at    bigint,
    progress        smallint,
    message         bytea,
    ended_token     uuid,
    ended_by        smallint,
    releases        bigint   NOT NULL,
    error           bytea,
    created_at      bigint   NOT NULL,
    updated_at      bigint   NOT NULL,
    completed_at    bigint,
    PRIMARY KEY (execution, step_no)
) WITH (fillfactor = 70, autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 2000,
        autovacuum_vacuum_cost_delay = 0, autovacuum_analyze_scale_factor = 0,
        autovacuum_analyze_threshold = 20000);

-- In the order in which workers get them: of a type by priority, then age.
CREATE INDEX tasks_ready ON workflow_external_tasks
    (task_type, priority, available_at, execution, step_no) WHERE status = 0;
-- Those whose clocks run. A heartbeat does not move them here.
CREATE INDEX tasks_clocks ON workflow_external_tasks (wake_at) WHERE wake_at IS NOT NULL;
CREATE INDEX tasks_by_type ON workflow_external_tasks (task_type, execution, step_no);
-- Those that are not over: their executions are open, also without work.
CREATE INDEX tasks_open ON workflow_external_tasks (workflow, execution) WHERE status < 4;
