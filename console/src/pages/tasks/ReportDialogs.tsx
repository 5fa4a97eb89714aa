/** A person reports in place of the worker: the task is done, or it failed. */
import { Checkbox, Textarea } from '@mantine/core';
import { useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { parseExact } from '@/api/exact';
import {
  act,
  completeRequest,
  type ExternalTask,
  failRequest,
  tasksKey,
} from '@/api/queries/tasks';
import { rich, t } from '@/i18n/t';
import { Confirm } from '@/ui/confirm/Confirm';
import { Editor } from '@/ui/editor/Editor';
import { toastDone } from '@/ui/toast/toast';
import classes from './tasks.module.css';

interface ReportProps {
  task: ExternalTask;
  close: () => void;
}

/** Why a text is no JSON; nothing when it is. */
function jsonProblem(text: string): string | undefined {
  try {
    parseExact(text);
    return undefined;
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
}

export function CompleteDialog({ task, close }: ReportProps) {
  const client = useQueryClient();
  const [output, setOutput] = useState('{}');
  const problem = jsonProblem(output);
  const request = completeRequest(task.id, output);
  return (
    <Confirm
      opened
      size="lg"
      onClose={close}
      title={t('tasks.completeTitle')}
      action={t('tasks.completeAction')}
      request={request}
      disabled={problem !== undefined}
      run={async () => {
        await act(request);
        toastDone(t('tasks.completed'));
        client.invalidateQueries({ queryKey: tasksKey });
      }}
    >
      <div className={classes.form}>
        <p>{rich('tasks.completeText', { worker: <strong>{task.workerId ?? '–'}</strong> })}</p>
        <Editor
          value={output}
          onChange={setOutput}
          language="json"
          label={t('tasks.output')}
          minHeight={120}
          maxHeight={360}
        />
        {problem !== undefined && (
          <p className={classes.error} role="alert">
            {t('tasks.notJson', { error: problem })}
          </p>
        )}
      </div>
    </Confirm>
  );
}

export function FailDialog({ task, close }: ReportProps) {
  const client = useQueryClient();
  const [message, setMessage] = useState('');
  const [retryable, setRetryable] = useState(true);
  const request = failRequest(task.id, { message, retryable });
  return (
    <Confirm
      opened
      danger
      onClose={close}
      title={t('tasks.failTitle')}
      action={t('tasks.failAction')}
      request={request}
      disabled={message.trim() === ''}
      run={async () => {
        await act(request);
        toastDone(t('tasks.failed'));
        client.invalidateQueries({ queryKey: tasksKey });
      }}
    >
      <div className={classes.form}>
        <p>{t('tasks.failText')}</p>
        <Textarea
          label={t('tasks.failMessage')}
          value={message}
          onChange={(event) => setMessage(event.currentTarget.value)}
          minRows={2}
          required
          data-autofocus
        />
        <Checkbox
          label={t('tasks.failRetryable')}
          checked={retryable}
          onChange={(event) => setRetryable(event.currentTarget.checked)}
        />
      </div>
    </Confirm>
  );
}
