/** Asks before a task is taken from its worker. */
import { useQueryClient } from '@tanstack/react-query';
import { act, type ExternalTask, tasksKey, unlockRequest } from '@/api/queries/tasks';
import { rich, t } from '@/i18n/t';
import { Confirm } from '@/ui/confirm/Confirm';
import { toastDone } from '@/ui/toast/toast';

export function UnlockDialog({ task, close }: { task: ExternalTask; close: () => void }) {
  const client = useQueryClient();
  const request = unlockRequest(task.id);
  return (
    <Confirm
      opened
      onClose={close}
      title={t('tasks.unlockTitle')}
      action={t('tasks.unlock')}
      request={request}
      run={async () => {
        await act(request);
        toastDone(t('tasks.unlocked'));
        client.invalidateQueries({ queryKey: tasksKey });
      }}
    >
      {rich('tasks.unlockText', { worker: <strong>{task.workerId ?? '–'}</strong> })}
    </Confirm>
  );
}
