/** Pause, resume and cancel a job; once it is over, try again what failed. */
import { Button } from '@mantine/core';
import { useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import {
  type BulkJob,
  changeJob,
  changeRequest,
  isOver,
  itemIds,
  type JobChange,
  jobQuery,
  jobsKey,
} from '@/api/queries/bulk';
import { usePageActions } from '@/app/palette/actions';
import { type BulkAsk, BulkDialog } from '@/bulk/BulkDialog';
import { t } from '@/i18n/t';
import { Confirm } from '@/ui/confirm/Confirm';
import { IconPlayerPause, IconPlayerPlay, IconRotate } from '@/ui/icons';
import { toastDone, toastProblem } from '@/ui/toast/toast';
import { kindOf } from './words';

const WORDS = {
  pause: ['bulk.pause', 'bulk.pauseText', 'bulk.paused'],
  resume: ['bulk.resume', 'bulk.resumeText', 'bulk.resumed'],
  cancel: ['bulk.stop', 'bulk.stopText', 'bulk.stopped'],
} as const satisfies Record<JobChange, readonly [string, string, string]>;

export function JobActions({ job }: { job: BulkJob }) {
  const client = useQueryClient();
  const [asked, setAsked] = useState<JobChange>();
  const [again, setAgain] = useState<BulkAsk>();
  const able: Record<JobChange, boolean> = {
    pause: job.state === 'running',
    resume: job.state === 'paused',
    cancel: !isOver(job),
  };
  usePageActions(
    (Object.keys(able) as JobChange[])
      .filter((change) => able[change])
      .map((change) => ({ label: t(WORDS[change][0]), run: () => setAsked(change) })),
  );
  const retryFailed = async () => {
    try {
      const ids = await itemIds(job.id, 'failed');
      const words = t('bulk.failedOf', { count: ids.length });
      setAgain({ kind: kindOf(job), action: job.action, scope: { ids }, words });
    } catch (error) {
      toastProblem(error);
    }
  };
  const run = async (change: JobChange) => {
    const after = await changeJob(job.id, change);
    client.setQueryData(jobQuery(job.id).queryKey, after);
    client.invalidateQueries({ queryKey: jobsKey });
    toastDone(t(WORDS[change][2]));
  };
  return (
    <>
      {able.resume && (
        <Button leftSection={<IconPlayerPlay size={14} />} onClick={() => setAsked('resume')}>
          {t('bulk.resume')}
        </Button>
      )}
      {able.pause && (
        <Button
          variant="default"
          leftSection={<IconPlayerPause size={14} />}
          onClick={() => setAsked('pause')}
        >
          {t('bulk.pause')}
        </Button>
      )}
      {able.cancel && (
        <Button variant="default" onClick={() => setAsked('cancel')}>
          {t('bulk.stop')}
        </Button>
      )}
      {isOver(job) && job.failed > 0 && (
        <Button variant="default" leftSection={<IconRotate size={14} />} onClick={retryFailed}>
          {t('bulk.again', { count: job.failed })}
        </Button>
      )}
      {asked && (
        <Confirm
          opened
          onClose={() => setAsked(undefined)}
          title={t(WORDS[asked][0])}
          action={t(WORDS[asked][0])}
          danger={asked === 'cancel'}
          request={changeRequest(job.id, asked)}
          run={() => run(asked)}
        >
          {t(WORDS[asked][1])}
        </Confirm>
      )}
      {again && <BulkDialog ask={again} close={() => setAgain(undefined)} />}
    </>
  );
}
