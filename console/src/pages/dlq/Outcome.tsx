/** What became of a letter: a retry that runs now, who resolved it, who deleted it. */
import { useQuery, useQueryClient } from '@tanstack/react-query';
import { useEffect } from 'react';
import { type LetterDetail, lettersInPlace, retryProgress } from '@/api/queries/dlq';
import { rich, t } from '@/i18n/t';
import { CopyId } from '@/ui/copy/CopyId';
import { Status } from '@/ui/status/Status';
import { isFinal, toneOf } from '@/ui/status/status';
import { Time } from '@/ui/time/Time';
import classes from './dlq.module.css';

export function Outcome({ letter }: { letter: LetterDetail }) {
  if (letter.status === 'retrying') {
    const running = letter.retries?.at(-1);
    return running ? <Running id={running.execution_id} who={running.retried_by} /> : null;
  }
  if (letter.status === 'resolved')
    return (
      <div className={classes.outcome} data-tone="completed">
        <Status value="resolved" size="md" />
        <span>
          {rich('dlq.resolved', {
            time: <Time at={letter.resolved_at} />,
            who: letter.resolved_by ?? '–',
          })}
        </span>
        {letter.resolution_execution_id && (
          <CopyId
            id={letter.resolution_execution_id}
            to={`/executions/${letter.resolution_execution_id}`}
          />
        )}
      </div>
    );
  if (letter.status === 'deleted')
    return (
      <div className={classes.outcome} data-tone="cancelled">
        <Status value="deleted" size="md" />
        <span>
          {rich('dlq.deletedBy', {
            time: <Time at={letter.deleted_at} />,
            who: letter.deleted_by ?? '–',
          })}
        </span>
      </div>
    );
  return null;
}

/** The steps of the retry as they go. */
function Running({ id, who }: { id: string; who: string }) {
  const client = useQueryClient();
  const { data } = useQuery(retryProgress(id));
  const over = data !== undefined && isFinal(data.status);
  useEffect(() => {
    if (over) client.invalidateQueries(lettersInPlace);
  }, [over, client]);
  return (
    <div className={classes.outcome} data-tone="running" role="status">
      <Status value={data?.status ?? 'pending'} size="md" />
      <strong>{t('dlq.running')}</strong>
      <span>{t('dlq.runningSince', { who })}</span>
      <CopyId id={id} to={`/executions/${id}`} />
      <span className={classes.steps}>
        {data?.steps?.map((step) => (
          <span
            key={step.step_id}
            className={classes.stepChip}
            data-tone={toneOf(step.status)}
            title={step.error?.message}
          >
            {step.step_id}
          </span>
        ))}
      </span>
    </div>
  );
}
