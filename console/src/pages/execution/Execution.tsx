/** One execution: what it is, what it waits for, its attempts over time, and everything behind them. */
import { Tabs } from '@mantine/core';
import { useQuery, useQueryClient, useSuspenseQuery } from '@tanstack/react-query';
import { Link, useRouter } from '@tanstack/react-router';
import { lazy, Suspense, useEffect, useMemo } from 'react';
import { attemptsQuery, executionKeys, executionQuery } from '@/api/queries/executions';
import { t } from '@/i18n/t';
import { useNow } from '@/live/clock';
import { IconArrowRight } from '@/ui/icons';
import { Page, Panel } from '@/ui/page/Page';
import { ProblemView } from '@/ui/state/ProblemView';
import { Skeleton } from '@/ui/state/Skeleton';
import { Status } from '@/ui/status/Status';
import { isFinal } from '@/ui/status/status';
import { Timeline } from '@/ui/timeline/Timeline';
import { Actions } from './Actions';
import { AttemptsTab } from './AttemptsTab';
import classes from './execution.module.css';
import { About, Headline } from './Headline';
import { executionRoute } from './route';
import { spansOf } from './spans';
import { ValuesTab } from './ValuesTab';

const EventsTab = lazy(() => import('./EventsTab'));
const ContextTab = lazy(() => import('./ContextTab'));
const ReplayTab = lazy(() => import('./ReplayTab'));

/** How often an execution that goes on is read again. */
const OPEN_EVERY_MS = 1_500;

export function ExecutionPage() {
  const { id } = executionRoute.useParams();
  const search = executionRoute.useSearch();
  const router = useRouter();
  const client = useQueryClient();
  const { data: execution } = useSuspenseQuery({
    ...executionQuery(id),
    refetchInterval: (query) =>
      query.state.data && isFinal(query.state.data.status) ? false : OPEN_EVERY_MS,
  });
  const final = isFinal(execution.status);
  const attempts = useQuery({
    ...attemptsQuery(id),
    refetchInterval: final ? false : OPEN_EVERY_MS,
  });
  // The end is read once more: what was read while it came may lack the last events.
  const { status } = execution;
  useEffect(() => {
    if (isFinal(status))
      client.invalidateQueries({ queryKey: [...executionKeys.one(id), 'attempts'] });
    client.invalidateQueries({ queryKey: [...executionKeys.one(id), 'events'] });
  }, [status, client, id]);

  const set = (change: Partial<typeof search>) =>
    router.navigate({
      to: '/executions/$id',
      params: { id },
      search: { ...search, ...change },
      replace: true,
      resetScroll: false,
    });
  const selected = search.step && search.attempt ? `${search.step}#${search.attempt}` : undefined;
  const tab = search.tab ?? 'attempts';

  return (
    <Page
      title={execution.workflow_id}
      name={`${execution.workflow_id} ${id}`}
      badges={<Status value={execution.status} size="md" />}
      actions={<Actions execution={execution} />}
      subtitle={<Headline execution={execution} />}
    >
      <Panel>
        <About execution={execution} />
      </Panel>
      <Panel title={t('execution.timeline')}>
        {attempts.isPending && <Skeleton rows={3} />}
        {attempts.isError && <ProblemView error={attempts.error} retry={attempts.refetch} />}
        {attempts.data && (
          <Line
            execution={execution}
            attempts={attempts.data}
            selected={selected}
            select={(bar) => {
              const [step, attempt] = bar.split('#');
              set({ step, attempt, tab: undefined });
            }}
          />
        )}
      </Panel>
      <Tabs
        value={tab}
        onChange={(next) => set({ tab: next === 'attempts' ? undefined : (next ?? undefined) })}
      >
        <Tabs.List className={classes.tabs}>
          <Tabs.Tab value="attempts">{t('execution.attempts')}</Tabs.Tab>
          <Tabs.Tab value="values">{t('execution.values')}</Tabs.Tab>
          <Tabs.Tab value="events">{t('execution.events')}</Tabs.Tab>
          <Tabs.Tab value="context">{t('execution.context')}</Tabs.Tab>
          <Tabs.Tab value="replay">{t('execution.replay')}</Tabs.Tab>
          <Link
            className={classes.tabLink}
            to="/workflows/$id"
            params={{ id: execution.workflow_id }}
            search={{ tab: 'graph', v: String(execution.workflow_version), execution: id }}
          >
            {t('execution.graph')}
            <IconArrowRight size={12} aria-hidden="true" />
          </Link>
        </Tabs.List>
        <Suspense fallback={<Skeleton />}>
          <Tabs.Panel value="attempts" className={classes.panel}>
            <AttemptsTab
              attempts={attempts.data ?? []}
              steps={execution.steps ?? []}
              selected={selected}
              select={(step, attempt) => set({ step, attempt: String(attempt) })}
            />
          </Tabs.Panel>
          <Tabs.Panel value="values" className={classes.panel}>
            <ValuesTab execution={execution} />
          </Tabs.Panel>
          <Tabs.Panel value="events" className={classes.panel}>
            <EventsTab id={id} open={!final} />
          </Tabs.Panel>
          <Tabs.Panel value="context" className={classes.panel}>
            <ContextTab id={id} at={search.at} move={(at) => set({ at: String(at) })} />
          </Tabs.Panel>
          <Tabs.Panel value="replay" className={classes.panel}>
            <ReplayTab execution={execution} />
          </Tabs.Panel>
        </Suspense>
      </Tabs>
    </Page>
  );
}

function Line({
  execution,
  attempts,
  selected,
  select,
}: {
  execution: {
    created_at: string;
    started_at?: string | null;
    completed_at?: string | null;
    status: string;
  };
  attempts: Parameters<typeof spansOf>[0];
  selected: string | undefined;
  select: (bar: string) => void;
}) {
  const spans = useMemo(() => spansOf(attempts), [attempts]);
  const undo = useMemo(
    () => new Set(attempts.filter((each) => each.compensation).map((each) => each.step_id)),
    [attempts],
  );
  const shared = {
    spans,
    start: Date.parse(execution.created_at),
    label: t('execution.timeline'),
    rowLabel: (row: string) => (
      <>
        <span className={classes.rowName} title={row}>
          {row}
        </span>
        {undo.has(row) && <Status value="compensated" label={t('execution.undo')} />}
      </>
    ),
    selected,
    select,
  };
  if (spans.length === 0) return <p className={classes.none}>{t('execution.noAttempts')}</p>;
  if (execution.completed_at)
    return (
      <Timeline
        {...shared}
        end={Date.parse(execution.completed_at)}
        now={Date.parse(execution.completed_at)}
      />
    );
  return <OpenLine {...shared} />;
}

function OpenLine(props: Omit<Parameters<typeof Timeline>[0], 'now'>) {
  return <Timeline {...props} now={useNow()} />;
}
