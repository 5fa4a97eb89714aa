/** What Space shows below a row: the steps, the error, the input. */
import { useQuery } from '@tanstack/react-query';
import { executionQuery } from '@/api/queries/executions';
import type { Execution } from '@/api/types';
import { t } from '@/i18n/t';
import { CopyId } from '@/ui/copy/CopyId';
import { Json } from '@/ui/json/Json';
import { ProblemView } from '@/ui/state/ProblemView';
import { Skeleton } from '@/ui/state/Skeleton';
import { Status } from '@/ui/status/Status';
import classes from './executions.module.css';

const INPUT_PX = 220;

export function Preview({ row }: { row: Execution }) {
  const id = row.execution_id;
  const one = useQuery(executionQuery(id));
  if (one.isPending) return <Skeleton rows={3} />;
  if (one.isError) return <ProblemView error={one.error} retry={one.refetch} />;
  const { steps, error, input } = one.data;
  return (
    <div className={classes.preview}>
      <div className={classes.previewFacts}>
        <CopyId id={id} to={`/executions/${id}`} full />
        {error && (
          <p className={classes.previewError}>
            <code>{[error.type, error.code].filter(Boolean).join(' ')}</code> {error.message}
          </p>
        )}
        <ul className={classes.previewSteps}>
          {(steps ?? []).map((step) => (
            <li key={step.step_id}>
              <Status value={step.status} />
              <code>{step.step_id}</code>
              <span className={classes.muted}>
                {t('executions.attempts', { count: step.attempts })}
              </span>
            </li>
          ))}
        </ul>
      </div>
      <div className={classes.previewInput}>
        <Json
          value={input}
          label={t('executions.input')}
          file={`${id}-input`}
          maxHeight={INPUT_PX}
        />
      </div>
    </div>
  );
}
