-- What is known about attempts that run and about people's retries of dead letters, and a better
-- `retry_logs`.

-- When the attempt began; null where that is not known. Whether it has begun is said by `begun`.
ALTER TABLE work ADD COLUMN begun_at INTEGER;

-- Every retry of a letter by a person. Its input is in its execution's first event. `retried_from` and
-- `edited` are null for retries from before this table; `ended_as` is null while the retry is open.
CREATE TABLE dead_letter_retries (
    letter       BLOB    NOT NULL,
    execution    BLOB    NOT NULL,
    retried_at   INTEGER NOT NULL,
    retried_by   TEXT    NOT NULL,
    retried_from TEXT,
    edited       INTEGER,
    ended_as     TEXT,
    ended_at     INTEGER,
    PRIMARY KEY (letter, execution)
) STRICT, WITHOUT ROWID;

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

-- It names the retry that is open or has resolved the letter, and no other.
UPDATE dead_letter_queue SET resolution_execution = NULL WHERE status IN ('pending', 'deleted');

-- One line per wait before a retry. The event names the attempt to come and the words of the
-- failure before it; the line names the attempt that failed. Ids are written as everywhere else: five
-- bits a character, from the left.
DROP VIEW retry_logs;
CREATE VIEW retry_logs AS
SELECT (WITH RECURSIVE spelled (place, text) AS (
            SELECT 0, 'exec_'
            UNION ALL
            SELECT place + 1, text || substr('0123456789abcdefghjkmnpqrstvwxyz', 1 +
                (((instr('0123456789ABCDEF', substr('0' || hex(retry.execution),
                        (5 * place + 2) / 4 + 1, 1)) - 1) * 16
                  + instr('0123456789ABCDEF', substr('0' || hex(retry.execution),
                        (5 * place + 2) / 4 + 2, 1)) - 1)
                 >> (3 - (5 * place + 2) % 4)) % 32, 1)
              FROM spelled WHERE place < 26)
        SELECT text FROM spelled WHERE place = 26) AS execution_id,
       workflows.id                       AS workflow_id,
       retry.step                         AS step,
       retry.attempt - 1                  AS attempt,
       CASE failed.type WHEN 'STEP_LOST' THEN 'node_lost'
            ELSE json_extract(CAST(failed.payload AS TEXT), '$.error.type') END AS error_type,
       retry.reason                       AS error_message,
       CASE failed.type WHEN 'STEP_LOST' THEN NULL
            ELSE json_extract(CAST(failed.payload AS TEXT), '$.error.code') END AS error_code,
       CASE failed.type WHEN 'STEP_LOST' THEN 1
            ELSE json_extract(CAST(failed.payload AS TEXT), '$.error.retryable') END AS retryable,
       retry.backoff_ms / 1000.0          AS delay_seconds,
       retry.at + retry.backoff_ms * 1000 AS next_retry_at,
       retry.at                           AS timestamp
  FROM workflow_events AS retry
  JOIN executions ON executions.id = retry.execution
  JOIN workflows ON workflows.key = executions.workflow
  LEFT JOIN workflow_events AS failed ON failed.execution = retry.execution
   AND failed.sequence = (SELECT max(before.sequence) FROM workflow_events AS before
            WHERE before.execution = retry.execution AND before.sequence < retry.sequence
              AND before.step = retry.step AND before.type IN ('STEP_FAILED', 'STEP_LOST'))
 WHERE retry.type = 'RETRY_SCHEDULED';
