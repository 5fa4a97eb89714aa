/** Deletes a trigger after asking; its executions are kept. */
import { deleteTrigger, type Trigger } from '@/api/queries/triggers';
import { t } from '@/i18n/t';
import { Confirm } from '@/ui/confirm/Confirm';
import { toastDone } from '@/ui/toast/toast';
import { useTriggerChanged } from './acting';
import { titleOf } from './words';

interface DeleteTriggerProps {
  trigger: Trigger;
  opened: boolean;
  onClose: () => void;
  /** After it is gone. */
  done?: () => Promise<void> | void;
}

export function DeleteTrigger({ trigger, opened, onClose, done }: DeleteTriggerProps) {
  const changed = useTriggerChanged();
  const webhook = trigger.trigger_type === 'webhook';
  return (
    <Confirm
      opened={opened}
      onClose={onClose}
      danger
      title={t('triggers.deleteTitle', { name: titleOf(trigger) })}
      action={t('triggers.delete')}
      request={{ method: 'DELETE', path: `/api/triggers/${trigger.id}` }}
      run={async () => {
        await deleteTrigger(trigger.id);
        toastDone(t('triggers.deleted', { name: titleOf(trigger) }));
        await done?.();
        changed();
      }}
    >
      <div>{t('triggers.deleteText', { workflow: trigger.workflow_id })}</div>
      {webhook && <p>{t('triggers.deleteWebhook')}</p>}
    </Confirm>
  );
}
