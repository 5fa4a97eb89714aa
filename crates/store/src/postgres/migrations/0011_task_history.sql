-- What became of the attempts of scheduled tasks that have begun, one line for each, from the logs and from the
-- rows of callbacks. What is read from JSON has the sign for an unknown character in place of a NUL.
CREATE FUNCTION event_json(payload bytea) RETURNS json LANGUAGE sql IMMUTABLE STRICT AS $$
    SELECT replace(convert_from(payload, 'UTF8'), '\u0000', '\ufffd')::json
$$;

CREATE VIEW task_execution_history AS
SELECT execution_name(executions.id) || '-' || began.attempt AS id,
       workflows.id                       AS scheduled_task_id,
       (event_json(first.payload) -> 'trigger' ->> 'cycle')::bigint AS cycle_number,
       began.attempt > 1 OR executions.parent IS NOT NULL AS is_retry,
       began.at - 1000 * coalesce((event_json(began.payload) ->> 'duration_ms')::bigint, 0)
                                          AS execution_started_at,
       CASE WHEN began.type = 'STEP_LOST' THEN began.at
            WHEN ended.at IS NULL AND executions.status = 'cancelled' THEN executions.updated_at
            ELSE ended.at END             AS execution_completed_at,
       CASE WHEN said.status IS NOT NULL OR ended.type = 'STEP_COMPLETED'
              OR event_json(began.payload) -> 'answer' IS NOT NULL THEN 'success'
            WHEN ended.error IN ('connect_timeout', 'read_timeout') THEN 'timeout'
            WHEN ended.type = 'STEP_FAILED' OR began.type = 'STEP_LOST' THEN 'failed' END
                                          AS trigger_status,
       CASE WHEN ended.type = 'STEP_FAILED' AND said.status IS NOT NULL THEN 'failed'
            WHEN ended.error IN ('connect_timeout', 'read_timeout') THEN 'timeout'
            WHEN ended.type = 'STEP_FAILED' OR began.type = 'STEP_LOST' THEN 'trigger_failed'
            WHEN ended.at IS NULL AND executions.status = 'cancelled' THEN 'failed'
            ELSE coalesce(said.status, 'pending') END
                                          AS execution_status,
       callback.progress                  AS progress,
       readable(callback.message)         AS progress_message,
       began.at                           AS created_at,
       greatest(began.at, ended.at, callback.updated_at) AS updated_at
  FROM scheduled_tasks
  JOIN workflows ON workflows.key = scheduled_tasks.workflow
  JOIN executions ON executions.workflow = scheduled_tasks.workflow
  JOIN workflow_events AS first ON first.execution = executions.id AND first.sequence = 1
  JOIN workflow_events AS began ON began.execution = executions.id AND began.step = 'call'
   AND began.type IN ('STEP_STARTED', 'STEP_LOST')
  LEFT JOIN LATERAL (
        SELECT event.type, event.at, event_json(event.payload) -> 'error' ->> 'type' AS error
          FROM workflow_events AS event
         WHERE event.execution = executions.id AND event.step = 'call'
           AND event.attempt = began.attempt AND event.type IN ('STEP_COMPLETED', 'STEP_FAILED'))
        AS ended ON true
  LEFT JOIN LATERAL (
        SELECT event_json(event.payload) ->> 'status' AS status FROM workflow_events AS event
         WHERE event.execution = executions.id AND event.step = 'call'
           AND event.attempt = began.attempt AND event.type = 'CALLBACK_RECEIVED'
         ORDER BY event.sequence DESC LIMIT 1) AS said ON true
  LEFT JOIN task_callbacks AS callback ON callback.execution = executions.id
   AND callback.step = 'call' AND callback.attempt = began.attempt;
