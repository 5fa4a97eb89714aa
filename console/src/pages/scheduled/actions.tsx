/** What can be done with a scheduled task: run, pause and resume, cancel, delete. */
import { Checkbox } from '@mantine/core';
import { useQueryClient } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { useCallback, useState } from 'react';
import {
  actionRequest,
  actOnTask,
  removeRequest,
  type ScheduledTask,
  scheduledKey,
} from '@/api/queries/scheduled';
import type { Schema } from '@/api/types';
import { rich, t } from '@/i18n/t';
import { Confirm } from '@/ui/confirm/Confirm';
import { toastDone, toastProblem } from '@/ui/toast/toast';
import classes from './scheduled.module.css';
import { nameOf, stateOf } from './words';

export type Asking = 'run' | 'cancel' | 'delete';

/** Pauses or resumes at once: it can be taken back with one press. */
export function usePausing() {
  const client = useQueryClient();
  return useCallback(
    async (task: ScheduledTask) => {
      const pausing = stateOf(task) === 'active';
      try {
        await actOnTask(actionRequest(task.taskId, pausing ? 'pause' : 'resume'));
        toastDone(t(pausing ? 'scheduled.paused' : 'scheduled.resumed'));
      } catch (error) {
        toastProblem(error);
      }
      client.invalidateQueries({ queryKey: scheduledKey });
    },
    [client],
  );
}

interface DialogProps {
  what: Asking;
  task: ScheduledTask;
  close: () => void;
}

export function TaskDialogs({ what, task, close }: DialogProps) {
  if (what === 'run') return <RunDialog task={task} close={close} />;
  if (what === 'cancel') return <CancelDialog task={task} close={close} />;
  return <DeleteDialog task={task} close={close} />;
}

type OneProps = Omit<DialogProps, 'what'>;

function RunDialog({ task, close }: OneProps) {
  const client = useQueryClient();
  const request = actionRequest(task.taskId, 'run');
  return (
    <Confirm
      opened
      onClose={close}
      title={t('scheduled.runTitle')}
      action={t('scheduled.run')}
      request={request}
      run={async () => {
        const { cycleNumber } = await actOnTask<Schema<'TaskRun'>>(request);
        toastDone(t('scheduled.ran', { cycle: Number(cycleNumber) }));
        client.invalidateQueries({ queryKey: scheduledKey });
      }}
    >
      {rich('scheduled.runText', { task: <strong>{nameOf(task)}</strong> })}
    </Confirm>
  );
}

function CancelDialog({ task, close }: OneProps) {
  const client = useQueryClient();
  const [openToo, setOpenToo] = useState(true);
  const request = actionRequest(task.taskId, 'cancel', !openToo);
  return (
    <Confirm
      opened
      danger
      onClose={close}
      title={t('scheduled.cancelTitle', { task: nameOf(task) })}
      action={t('scheduled.cancelAction')}
      request={request}
      run={async () => {
        await actOnTask(request);
        toastDone(t('scheduled.cancelled'));
        client.invalidateQueries({ queryKey: scheduledKey });
      }}
    >
      <div className={classes.dialog}>
        <span>{t('scheduled.cancelText')}</span>
        <Checkbox
          label={t('scheduled.cancelOpen')}
          checked={openToo}
          onChange={(event) => setOpenToo(event.currentTarget.checked)}
        />
      </div>
    </Confirm>
  );
}

function DeleteDialog({ task, close }: OneProps) {
  const client = useQueryClient();
  const navigate = useNavigate();
  const request = removeRequest(task.taskId);
  return (
    <Confirm
      opened
      danger
      onClose={close}
      title={t('scheduled.deleteTitle', { task: nameOf(task) })}
      action={t('scheduled.deleteAction')}
      request={request}
      run={async () => {
        await actOnTask(request);
        toastDone(t('scheduled.deleted'));
        await navigate({ to: '/scheduled' });
        client.removeQueries({ queryKey: [...scheduledKey, 'one', task.taskId] });
        client.invalidateQueries({ queryKey: scheduledKey });
      }}
    >
      {t('scheduled.deleteText')}
    </Confirm>
  );
}
