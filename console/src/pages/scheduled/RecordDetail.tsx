/** One attempt in full: the call's answer, the last word of the target, and a question to it now. */
import { Button } from '@mantine/core';
import { useMutation } from '@tanstack/react-query';
import { queryTarget, type TaskRecord } from '@/api/queries/scheduled';
import { rich, t } from '@/i18n/t';
import { CopyId } from '@/ui/copy/CopyId';
import { Json } from '@/ui/json/Json';
import { ProblemView } from '@/ui/state/ProblemView';
import { Time } from '@/ui/time/Time';
import { executionOf } from './cycles';
import classes from './scheduled.module.css';

const HEIGHT = 240;
const isThere = (value: unknown) => value !== null && value !== undefined;

export function RecordDetail({ record }: { record: TaskRecord }) {
  const asked = useMutation({
    mutationFn: () => queryTarget(record.scheduledTaskId, record.id),
  });
  return (
    <div className={classes.record}>
      <div className={classes.recordHead}>
        <CopyId id={record.id} to={`/executions/${executionOf(record)}`} full />
        {record.progressMessage && <span>{record.progressMessage}</span>}
        <span className={classes.space} />
        {isThere(record.queryConfig) && (
          <Button variant="default" loading={asked.isPending} onClick={() => asked.mutate()}>
            {t('scheduled.queryNow')}
          </Button>
        )}
      </div>
      {asked.isError && <ProblemView error={asked.error} />}
      {asked.data && (
        <section>
          <h3>
            {rich('scheduled.queried', {
              status: asked.data.httpStatus,
              time: <Time at={asked.data.queriedAt} />,
            })}
          </h3>
          <Json value={asked.data.response} label={t('scheduled.queryNow')} maxHeight={HEIGHT} />
        </section>
      )}
      <div className={classes.recordColumns}>
        <Part
          title={t('scheduled.rec.triggerResult')}
          value={record.triggerResult}
          id={record.id}
        />
        <Part title={t('scheduled.rec.result')} value={record.result} id={record.id} />
        {isThere(record.queryConfig) && (
          <Part title={t('scheduled.rec.query')} value={record.queryConfig} id={record.id} />
        )}
      </div>
    </div>
  );
}

function Part({ title, value, id }: { title: string; value: unknown; id: string }) {
  return (
    <section>
      <h3>{title}</h3>
      {isThere(value) ? (
        <Json value={value} label={title} file={id} maxHeight={HEIGHT} />
      ) : (
        <p className={classes.muted}>{t('scheduled.rec.noResult')}</p>
      )}
    </section>
  );
}
