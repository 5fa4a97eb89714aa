-- The trigger that started an execution, for lists by trigger. What nobody's trigger started is not in the index.
ALTER TABLE executions ADD COLUMN trigger_id BLOB;

-- Of older executions it is known as far as the log of requests and the ledger of slots go.
UPDATE executions SET trigger_id = webhook_requests.trigger
  FROM webhook_requests WHERE executions.id = webhook_requests.execution AND webhook_requests.status = 'triggered';
UPDATE executions SET trigger_id = trigger_slots.trigger
  FROM trigger_slots WHERE executions.id = trigger_slots.execution;

CREATE INDEX executions_by_trigger ON executions (trigger_id, id) WHERE trigger_id IS NOT NULL;
