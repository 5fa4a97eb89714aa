/** The replay lab: the log is derived again, by the recorded definition or by an edited one. */
import { Button } from '@mantine/core';
import { useMutation, useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { stringifyExact } from '@/api/exact';
import { definitionQuery, type ReplayResult, replay } from '@/api/queries/executions';
import type { Event, Execution } from '@/api/types';
import { t } from '@/i18n/t';
import { Diff, Editor } from '@/ui/editor/Editor';
import { IconCheck, IconRotate } from '@/ui/icons';
import { Panel } from '@/ui/page/Page';
import { ProblemView } from '@/ui/state/ProblemView';
import { Skeleton } from '@/ui/state/Skeleton';
import classes from './execution.module.css';

export default function ReplayTab({ execution }: { execution: Execution }) {
  const id = execution.execution_id;
  const definition = useQuery(definitionQuery(execution.workflow_id, execution.workflow_version));
  const [draft, setDraft] = useState<string>();
  const run = useMutation({ mutationFn: (text: string | undefined) => replay(id, text) });
  const recorded = definition.data;
  const text = draft ?? recorded ?? '';
  const edited = draft !== undefined && draft !== recorded;
  return (
    <div className={classes.values}>
      <Panel
        title={t('execution.definition', { version: execution.workflow_version })}
        actions={
          <>
            {edited && (
              <Button size="compact-xs" variant="default" onClick={() => setDraft(undefined)}>
                {t('execution.resetDraft')}
              </Button>
            )}
            <Button
              size="compact-xs"
              leftSection={<IconRotate size={12} />}
              loading={run.isPending}
              onClick={() => run.mutate(edited ? draft : undefined)}
            >
              {t(edited ? 'execution.replayDraft' : 'execution.replayRecorded')}
            </Button>
          </>
        }
      >
        <p className={classes.walkText}>{t('execution.replayText')}</p>
        {definition.isPending && <Skeleton />}
        {definition.isError && <ProblemView error={definition.error} retry={definition.refetch} />}
        {recorded !== undefined && (
          <Editor
            value={text}
            language={text.trimStart().startsWith('{') ? 'json' : 'yaml'}
            label={t('execution.definition', { version: execution.workflow_version })}
            onChange={setDraft}
            minHeight={240}
            maxHeight={520}
          />
        )}
      </Panel>
      <Panel title={t('execution.result')}>
        {run.isIdle && <p className={classes.none}>{t('execution.noResult')}</p>}
        {run.isPending && <Skeleton rows={3} />}
        {run.isError && <ProblemView error={run.error} />}
        {run.data && <Result result={run.data} />}
      </Panel>
    </div>
  );
}

function Result({ result }: { result: ReplayResult }) {
  const difference = result.first_difference;
  if (result.identical || !difference)
    return (
      <p className={classes.same} role="status">
        <IconCheck size={16} aria-hidden="true" />
        {t('execution.identical', { count: result.events })}
      </p>
    );
  const text = (event: Event | null | undefined) =>
    event ? stringifyExact(event, 2) : t('execution.nothing');
  return (
    <div className={classes.detail} role="status">
      <strong>{t('execution.differs', { n: difference.sequence })}</strong>
      {difference.note && <p className={classes.walkText}>{difference.note}</p>}
      <div className={classes.sides}>
        <span>{t('execution.recorded')}</span>
        <span>{t('execution.derived')}</span>
      </div>
      <Diff
        before={text(difference.recorded)}
        after={text(difference.derived)}
        label={t('execution.result')}
        language="json"
      />
    </div>
  );
}
