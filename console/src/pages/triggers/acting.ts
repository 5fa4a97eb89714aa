/** What changes triggers makes everything that was read of them old. */
import { useQueryClient } from '@tanstack/react-query';
import { type Trigger, triggerKey, triggersKey } from '@/api/queries/triggers';

export function useTriggerChanged() {
  const client = useQueryClient();
  return (trigger?: Trigger) => {
    if (trigger) client.setQueryData(triggerKey(trigger.id), trigger);
    // Nobody waits for it: what was done is done.
    client.invalidateQueries({ queryKey: triggersKey });
  };
}
