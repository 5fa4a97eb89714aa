/** What can be done with an execution now: retry now, pause, resume, cancel. */
import { Button, Menu } from '@mantine/core';
import { useQueryClient } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { useState } from 'react';
import { runAgain, runAgainRequest } from '@/api/queries/bulk';
import {
  actOnExecution,
  actRequest,
  type ExecutionAct,
  executionKeys,
} from '@/api/queries/executions';
import type { Execution } from '@/api/types';
import { usePageActions } from '@/app/palette/actions';
import { t } from '@/i18n/t';
import { Confirm } from '@/ui/confirm/Confirm';
import { copyToClipboard } from '@/ui/copy/clipboard';
import { IconChevronDown, IconPlayerPause, IconPlayerPlay, IconRotate } from '@/ui/icons';
import { useShortcuts } from '@/ui/keys/keys';
import { isFinal } from '@/ui/status/status';
import { toastDone } from '@/ui/toast/toast';

const WORDS = {
  'retry-now': ['execution.retryNow', 'execution.retryNowText', 'execution.retryNowDone'],
  pause: ['execution.pause', 'execution.pauseText', 'execution.pauseDone'],
  resume: ['execution.resume', 'execution.resumeText', 'execution.resumeDone'],
  cancel: ['execution.cancel', 'execution.cancelText', 'execution.cancelDone'],
  'cancel-compensate': [
    'execution.cancelUndo',
    'execution.cancelUndoText',
    'execution.cancelUndoDone',
  ],
} as const satisfies Record<ExecutionAct, readonly [string, string, string]>;

export function Actions({ execution }: { execution: Execution }) {
  const id = execution.execution_id;
  const client = useQueryClient();
  const navigate = useNavigate();
  const [asked, setAsked] = useState<ExecutionAct>();
  const [again, setAgain] = useState(false);
  const open = !isFinal(execution.status);
  const able: Record<ExecutionAct, boolean> = {
    'retry-now': execution.status === 'retrying',
    pause: open && execution.status !== 'paused',
    resume: execution.status === 'paused',
    cancel: open,
    'cancel-compensate': open,
  };
  const acts = (Object.keys(able) as ExecutionAct[]).filter((act) => able[act]);
  const copyLink = async () => {
    if (await copyToClipboard(location.href)) toastDone(t('execution.linkCopied'));
  };
  usePageActions([
    ...acts.map((act) => ({ label: t(WORDS[act][0]), run: () => setAsked(act) })),
    ...(open ? [] : [{ label: t('execution.runAgain'), run: () => setAgain(true) }]),
    { label: t('execution.copyLink'), run: copyLink },
  ]);
  useShortcuts([
    {
      keys: 'r',
      label: t('execution.retryNow'),
      run: () => able['retry-now'] && setAsked('retry-now'),
    },
    { keys: 'c', label: t('common.copyId'), run: () => copyToClipboard(id) },
    { keys: 'Shift+c', label: t('execution.copyLink'), run: copyLink },
  ]);

  const run = async (act: ExecutionAct) => {
    const after = await actOnExecution(id, act);
    client.setQueryData(executionKeys.one(id), after);
    client.invalidateQueries({ queryKey: executionKeys.one(id) });
    toastDone(t(WORDS[act][2]));
  };

  return (
    <>
      {able['retry-now'] && (
        <Button leftSection={<IconRotate size={14} />} onClick={() => setAsked('retry-now')}>
          {t('execution.retryNow')}
        </Button>
      )}
      {able.resume && (
        <Button leftSection={<IconPlayerPlay size={14} />} onClick={() => setAsked('resume')}>
          {t('execution.resume')}
        </Button>
      )}
      {able.pause && (
        <Button
          variant="default"
          leftSection={<IconPlayerPause size={14} />}
          onClick={() => setAsked('pause')}
        >
          {t('execution.pause')}
        </Button>
      )}
      {open && (
        <Menu>
          <Menu.Target>
            <Button variant="default" rightSection={<IconChevronDown size={12} />}>
              {t('execution.cancel')}
            </Button>
          </Menu.Target>
          <Menu.Dropdown>
            <Menu.Item onClick={() => setAsked('cancel')}>{t('execution.cancelPlain')}</Menu.Item>
            <Menu.Item onClick={() => setAsked('cancel-compensate')}>
              {t('execution.cancelUndo')}
            </Menu.Item>
          </Menu.Dropdown>
        </Menu>
      )}
      {!open && (
        <Button
          variant="default"
          leftSection={<IconRotate size={14} />}
          onClick={() => setAgain(true)}
        >
          {t('execution.runAgain')}
        </Button>
      )}
      <Confirm
        opened={again}
        onClose={() => setAgain(false)}
        title={t('execution.runAgain')}
        action={t('execution.runAgain')}
        request={runAgainRequest(id)}
        run={async () => {
          const { execution_id } = await runAgain(id);
          toastDone(t('execution.runAgainDone'));
          navigate({ to: '/executions/$id', params: { id: execution_id } });
        }}
      >
        {t('execution.runAgainText', { id })}
      </Confirm>
      {asked && (
        <Confirm
          opened
          onClose={() => setAsked(undefined)}
          title={t(WORDS[asked][0])}
          action={t(WORDS[asked][0])}
          danger={asked.startsWith('cancel')}
          request={actRequest(id, asked)}
          run={() => run(asked)}
        >
          {t(WORDS[asked][1], { id })}
        </Confirm>
      )}
    </>
  );
}
