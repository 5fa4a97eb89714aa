/** The switch of a trigger. Pausing is done at once; continuing asks about what was planned meanwhile. */
import { Switch, Tooltip } from '@mantine/core';
import { useState } from 'react';
import { disableTrigger, enableTrigger, type Trigger } from '@/api/queries/triggers';
import { t } from '@/i18n/t';
import { toastDone, toastProblem } from '@/ui/toast/toast';
import { useTriggerChanged } from './acting';
import { CatchUp, useMissedWhilePaused } from './CatchUp';
import { titleOf } from './words';

/** What became of the pause, for the toast. */
export function pauseWords(trigger: Trigger): string {
  const name = titleOf(trigger);
  const pause = trigger.pause;
  if (pause?.caught_up) return t('triggers.enabledStarted', { name, count: pause.caught_up });
  if (pause?.slots) return t('triggers.enabledSkipped', { name, count: pause.slots });
  return t('triggers.enabledToast', { name });
}

export function EnableSwitch({ trigger }: { trigger: Trigger }) {
  const changed = useTriggerChanged();
  const [asking, setAsking] = useState(false);
  const [busy, setBusy] = useState(false);
  const scheduled = trigger.trigger_type !== 'webhook';
  const missed = useMissedWhilePaused(trigger, asking);

  const run = async (work: () => Promise<Trigger>, words: (after: Trigger) => string) => {
    setBusy(true);
    try {
      const after = await work();
      toastDone(words(after));
      changed(after);
    } catch (error) {
      toastProblem(error);
    } finally {
      setBusy(false);
    }
  };
  const toggle = () => {
    if (trigger.enabled)
      run(
        () => disableTrigger(trigger.id),
        (after) => t('triggers.disabledToast', { name: titleOf(after) }),
      );
    else if (scheduled) setAsking(true);
    else run(() => enableTrigger(trigger.id, false), pauseWords);
  };
  const label = trigger.enabled ? t('triggers.pause') : t('triggers.enable');
  return (
    <>
      <Tooltip label={label}>
        <Switch
          aria-label={`${label}: ${titleOf(trigger)}`}
          checked={trigger.enabled}
          disabled={busy || trigger.workflow_deleted === true}
          onChange={toggle}
          onClick={(event) => event.stopPropagation()}
        />
      </Tooltip>
      {scheduled && (
        <CatchUp
          opened={asking}
          trigger={trigger}
          missed={missed}
          onClose={() => setAsking(false)}
          request={(catchUp) => ({
            method: 'POST',
            path: `/api/triggers/${trigger.id}/enable`,
            body: { catch_up: catchUp },
          })}
          run={async (catchUp) => {
            const after = await enableTrigger(trigger.id, catchUp);
            toastDone(pauseWords(after));
            changed(after);
          }}
        />
      )}
    </>
  );
}
