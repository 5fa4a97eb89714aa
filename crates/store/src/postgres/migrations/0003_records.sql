-- What is known about attempts that run and about people's retries of dead letters, and a better
-- `retry_logs`.

-- When the attempt began; null where that is not known. Whether it has begun is said by `begun`.
ALTER TABLE work ADD COLUMN begun_at bigint;

-- Every retry of a letter by a person. Its input is in its execution's first event. `retried_from` and
-- `edited` are null for retries from before this table; `ended_as` is null while the retry is open.
CREATE TABLE dead_letter_retries (
    letter       uuid   NOT NULL,
    execution    uuid   NOT NULL,
    retried_at   bigint NOT NULL,
    retried_by   bytea  NOT NULL,
    retried_from text,
    edited       boolean,
    ended_as     text,
    ended_at     bigint,
    PRIMARY KEY (letter, execution)
);

-- Until now a letter knew only its last retry.
INSERT INTO dead_letter_retries (letter, execution, retried_at, retried_by, ended_as, ended_at)
SELECT letter.id, letter.resolution_execution, letter.retry_attempted_at,
       coalesce(letter.retry_attempted_by, ''),
       CASE letter.status WHEN 'retrying' THEN NULL WHEN 'resolved' THEN 'completed'
            ELSE coalesce(executions.status, 'failed') END,
       CASE letter.status WHEN 'retrying' THEN NULL
            ELSE coalesce(letter.resolved_at, executions.updated_at, letter.retry_attempted_at) END
  FROM dead_letter_queue AS letter
  LEFT JOIN executions ON executions.id = letter.resolution_execution
 WHERE letter.resolution_execution IS NOT NULL AND letter.retry_attempted_at IS NOT NULL;

-- It names the retry that is open or has resolved the letter, and no other. Nodes of the version before
-- settle a letter by it.
UPDATE dead_letter_queue SET resolution_execution = NULL WHERE status IN ('pending', 'deleted');

-- An execution's id as it is written everywhere else: five bits a character, from the left.
CREATE FUNCTION execution_name(id uuid) RETURNS text LANGUAGE sql IMMUTABLE STRICT AS $$
    SELECT 'exec_' || string_agg(substr('0123456789abcdefghjkmnpqrstvwxyz', 1 +
               substring(B'00' || ('x' || replace(id::text, '-', ''))::bit(128)
                         FROM 5 * place + 1 FOR 5)::integer, 1), '' ORDER BY place)
      FROM generate_series(0, 25) AS place
$$;

-- A text from outside, for reading: a NUL, which no text of the database can hold, is written as \000.
CREATE FUNCTION readable(content bytea) RETURNS text LANGUAGE sql IMMUTABLE STRICT AS $$
    SELECT CASE position('\x00'::bytea IN content) WHEN 0 THEN convert_from(content, 'UTF8')
           ELSE encode(content, 'escape') END
$$;

-- One line per wait before a retry. The event names the attempt to come and the words of the
-- failure before it; the line names the attempt that failed. What is read from JSON has the sign for an
-- unknown character in place of a NUL.
DROP VIEW retry_logs;
CREATE VIEW retry_logs AS
SELECT execution_name(retry.execution)    AS execution_id,
       workflows.id                       AS workflow_id,
       retry.step                         AS step,
       retry.attempt - 1                  AS attempt,
       CASE failed.type WHEN 'STEP_LOST' THEN 'node_lost' ELSE failed.error ->> 'type' END
                                          AS error_type,
       readable(retry.reason)             AS error_message,
       failed.error ->> 'code'            AS error_code,
       CASE failed.type WHEN 'STEP_LOST' THEN true
            ELSE (failed.error ->> 'retryable')::boolean END AS retryable,
       retry.backoff_ms / 1000.0          AS delay_seconds,
       retry.at + retry.backoff_ms * 1000 AS next_retry_at,
       retry.at                           AS timestamp
  FROM workflow_events AS retry
  JOIN executions ON executions.id = retry.execution
  JOIN workflows ON workflows.key = executions.workflow
  LEFT JOIN LATERAL (
        SELECT before.type,
               replace(convert_from(before.payload, 'UTF8'), '\u0000', '\ufffd')::json -> 'error'
                   AS error
          FROM workflow_events AS before
         WHERE before.execution = retry.execution AND before.sequence < retry.sequence
           AND before.step = retry.step AND before.type IN ('STEP_FAILED', 'STEP_LOST')
         ORDER BY before.sequence DESC LIMIT 1) AS failed ON true
 WHERE retry.type = 'RETRY_SCHEDULED';
