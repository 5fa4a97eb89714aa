/** Is anything wrong, since when, how much: numbers that link to their rows, trouble, the next fires. */
import { SegmentedControl } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { anyWorkflow, overviewQuery } from '@/api/queries/overview';
import { t, word } from '@/i18n/t';
import { Page } from '@/ui/page/Page';
import { ProblemView } from '@/ui/state/ProblemView';
import { Skeleton } from '@/ui/state/Skeleton';
import { Causes } from './Causes';
import { Fires } from './Fires';
import { FirstStart } from './FirstStart';
import { Machines } from './Machines';
import { Numbers } from './Numbers';
import { RANGES, rangeOf } from './numbers';
import { Outcomes } from './Outcomes';
import classes from './overview.module.css';
import { overviewRoute } from './route';
import { TroubleList } from './TroubleList';

export function OverviewPage() {
  const range = rangeOf(overviewRoute.useSearch().range);
  const navigate = useNavigate();
  const query = useQuery(overviewQuery(range));
  const any = useQuery(anyWorkflow);
  const overview = query.data;
  const empty = any.data === false && !overview?.executions.total;

  return (
    <Page
      title={t('overview.title')}
      actions={
        !empty && (
          <SegmentedControl
            aria-label={t('overview.range')}
            value={range}
            onChange={(next) =>
              navigate({ to: '/', search: next === '24h' ? {} : { range: next }, replace: true })
            }
            data={RANGES.map((value) => ({ value, label: word('overview.range', value) }))}
          />
        )
      }
    >
      {query.isError && <ProblemView error={query.error} retry={() => query.refetch()} />}
      {query.isPending && <Skeleton rows={4} />}
      {empty && <FirstStart />}
      {!empty && overview && (
        <div className={classes.stack} data-stale={query.isError || undefined}>
          <Numbers overview={overview} range={range} />
          <Outcomes overview={overview} range={range} />
        </div>
      )}
      {overview === null && <p className={classes.muted}>{t('overview.older')}</p>}
      {!empty && (
        <div className={classes.panels}>
          <TroubleList />
          <Fires />
          <Causes />
          {overview && <Machines overview={overview} />}
        </div>
      )}
    </Page>
  );
}
