-- What became of the attempts of scheduled tasks that have begun, one line for each, from the logs and from the
-- rows of callbacks. Ids are written as everywhere else: five bits a character, from the left.
CREATE VIEW task_execution_history AS
SELECT (WITH RECURSIVE spelled (place, text) AS (
            SELECT 0, 'exec_'
            UNION ALL
            SELECT place + 1, text || substr('0123456789abcdefghjkmnpqrstvwxyz', 1 +
                (((instr('0123456789ABCDEF', substr('0' || hex(executions.id),
                        (5 * place + 2) / 4 + 1, 1)) - 1) * 16
                  + instr('0123456789ABCDEF', substr('0' || hex(executions.id),
                        (5 * place + 2) / 4 + 2, 1)) - 1)
                 >> (3 - (5 * place + 2) % 4)) % 32, 1)
              FROM spelled WHERE place < 26)
        SELECT text FROM spelled WHERE place = 26) || '-' || began.attempt AS id,
       workflows.id                       AS scheduled_task_id,
       json_extract(CAST(first.payload AS TEXT), '$.trigger.cycle') AS cycle_number,
       began.attempt > 1 OR executions.parent IS NOT NULL AS is_retry,
       began.at - 1000 * coalesce(json_extract(CAST(began.payload AS TEXT), '$.duration_ms'), 0)
                                          AS execution_started_at,
       CASE WHEN began.type = 'STEP_LOST' THEN began.at
            WHEN ended.at IS NULL AND executions.status = 'cancelled' THEN executions.updated_at
            ELSE ended.at END             AS execution_completed_at,
       CASE WHEN said.payload IS NOT NULL OR ended.type = 'STEP_COMPLETED'
              OR json_type(CAST(began.payload AS TEXT), '$.answer') IS NOT NULL THEN 'success'
            WHEN json_extract(CAST(ended.payload AS TEXT), '$.error.type')
                 IN ('connect_timeout', 'read_timeout') THEN 'timeout'
            WHEN ended.type = 'STEP_FAILED' OR began.type = 'STEP_LOST' THEN 'failed' END
                                          AS trigger_status,
       CASE WHEN ended.type = 'STEP_FAILED' AND said.payload IS NOT NULL THEN 'failed'
            WHEN json_extract(CAST(ended.payload AS TEXT), '$.error.type')
                 IN ('connect_timeout', 'read_timeout') THEN 'timeout'
            WHEN ended.type = 'STEP_FAILED' OR began.type = 'STEP_LOST' THEN 'trigger_failed'
            WHEN ended.at IS NULL AND executions.status = 'cancelled' THEN 'failed'
            ELSE coalesce(json_extract(CAST(said.payload AS TEXT), '$.status'), 'pending') END
                                          AS execution_status,
       callback.progress                  AS progress,
       callback.message                   AS progress_message,
       began.at                           AS created_at,
       max(began.at, coalesce(ended.at, 0), coalesce(callback.updated_at, 0)) AS updated_at
  FROM scheduled_tasks
  JOIN workflows ON workflows.key = scheduled_tasks.workflow
  JOIN executions ON executions.workflow = scheduled_tasks.workflow
  JOIN workflow_events AS first ON first.execution = executions.id AND first.sequence = 1
  JOIN workflow_events AS began ON began.execution = executions.id AND began.step = 'call'
   AND began.type IN ('STEP_STARTED', 'STEP_LOST')
  LEFT JOIN workflow_events AS ended ON ended.execution = executions.id AND ended.step = 'call'
   AND ended.attempt = began.attempt AND ended.type IN ('STEP_COMPLETED', 'STEP_FAILED')
  LEFT JOIN workflow_events AS said ON said.execution = executions.id
   AND said.sequence = (SELECT max(last.sequence) FROM workflow_events AS last
            WHERE last.execution = executions.id AND last.step = 'call'
              AND last.attempt = began.attempt AND last.type = 'CALLBACK_RECEIVED')
  LEFT JOIN task_callbacks AS callback ON callback.execution = executions.id
   AND callback.step = 'call' AND callback.attempt = began.attempt;
