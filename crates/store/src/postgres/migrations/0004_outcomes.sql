-- What became of parts that stand alone in a commit: it is known before the commit ends, and found here
-- if its answer is lost. Null = the connection's last commit had none. Whoever looks for a commit is the
-- process that has sent it, so no mark from before this column is ever asked for outcomes.
ALTER TABLE commit_marks ADD COLUMN outcomes bytea;

-- As before, and forgets the outcomes of the commit before it.
CREATE OR REPLACE FUNCTION begin_commit(node uuid, writer_id uuid, number bigint,
                                        workflow_locks integer[], is_alone boolean[])
RETURNS void LANGUAGE plpgsql AS $$
BEGIN
    IF node IS NOT NULL THEN
        PERFORM 1 FROM nodes WHERE node_id = node FOR KEY SHARE;
        IF NOT FOUND THEN
            RAISE EXCEPTION 'the lease of the node is gone' USING ERRCODE = 'RF001';
        END IF;
    END IF;
    UPDATE commit_marks SET serial = number, marked_at = clock_timestamp(), outcomes = NULL
     WHERE writer = writer_id AND serial < number;
    IF NOT FOUND THEN
        RAISE EXCEPTION 'the commit was given up' USING ERRCODE = 'RF002';
    END IF;
    FOR place IN 1 .. coalesce(array_length(workflow_locks, 1), 0) LOOP
        IF is_alone[place] THEN
            PERFORM pg_advisory_xact_lock(21062, workflow_locks[place]);
        ELSE
            PERFORM pg_advisory_xact_lock_shared(21062, workflow_locks[place]);
        END IF;
    END LOOP;
END $$;
