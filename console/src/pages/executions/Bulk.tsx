/** What can be done with the selected executions, one request each. */
import { Button } from '@mantine/core';
import { useState } from 'react';
import { actOnExecution, actRequest, type ExecutionAct } from '@/api/queries/executions';
import type { Execution } from '@/api/types';
import { t } from '@/i18n/t';
import { Confirm } from '@/ui/confirm/Confirm';
import { isFinal } from '@/ui/status/status';
import { toastDone } from '@/ui/toast/toast';

type BulkAct = Extract<ExecutionAct, 'pause' | 'resume' | 'cancel'>;

const ABLE: Record<BulkAct, (row: Execution) => boolean> = {
  pause: (row) => !isFinal(row.status) && row.status !== 'paused',
  resume: (row) => row.status === 'paused',
  cancel: (row) => !isFinal(row.status),
};

const WORDS = {
  pause: ['executions.pause', 'executions.pauseText', 'executions.paused'],
  resume: ['executions.resume', 'executions.resumeText', 'executions.resumed'],
  cancel: ['executions.cancel', 'executions.cancelText', 'executions.cancelled'],
} as const;

export function Bulk({ rows, done }: { rows: Execution[]; done: () => void }) {
  const [act, setAct] = useState<BulkAct>();
  const able = act ? rows.filter(ABLE[act]) : [];
  const run = async () => {
    const results = await Promise.allSettled(
      able.map((row) => actOnExecution(row.execution_id, act!)),
    );
    const refused = results.filter((result) => result.status === 'rejected');
    if (refused.length === results.length && refused[0]) throw refused[0].reason;
    toastDone(t(WORDS[act!][2], { count: results.length - refused.length }));
    done();
  };
  return (
    <>
      {(['pause', 'resume', 'cancel'] as const).map((each) => (
        <Button
          key={each}
          size="compact-xs"
          variant="default"
          disabled={!rows.some(ABLE[each])}
          onClick={() => setAct(each)}
        >
          {t(WORDS[each][0])}
        </Button>
      ))}
      {act && (
        <Confirm
          opened
          onClose={() => setAct(undefined)}
          title={t(WORDS[act][1], { count: able.length })}
          action={t(WORDS[act][0])}
          danger={act === 'cancel'}
          count={able.length}
          request={able.length === 1 ? actRequest(able[0]!.execution_id, act) : undefined}
          run={run}
        >
          {rows.length > able.length &&
            t('executions.leftOut', { count: rows.length - able.length })}
        </Confirm>
      )}
    </>
  );
}
