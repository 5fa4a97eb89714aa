/** All workflows with what is going on in each. */
import { Button, Select } from '@mantine/core';
import { Link, useRouter } from '@tanstack/react-router';
import { lazy, Suspense, useMemo } from 'react';
import {
  type Workflow,
  type WorkflowFilter,
  workflowPage,
  workflowsKey,
} from '@/api/queries/workflows';
import { usePageActions } from '@/app/palette/actions';
import { t } from '@/i18n/t';
import { useFollow } from '@/live/follow';
import { FilterBar } from '@/ui/filter/FilterBar';
import { IconPlus } from '@/ui/icons';
import { Page } from '@/ui/page/Page';
import { Skeleton } from '@/ui/state/Skeleton';
import { DataTable } from '@/ui/table/DataTable';
import { workflowColumns } from './columns';
import { workflowsRoute } from './route';
import classes from './workflows.module.css';

const NewWorkflow = lazy(() =>
  import('./NewWorkflow').then((part) => ({ default: part.NewWorkflow })),
);

const SORTS = ['name', '-updated'];
const LIST_EVERY_MS = 10_000;
const rowKey = (row: Workflow) => row.workflow_id;

export function Workflows() {
  const search = workflowsRoute.useSearch();
  if (search.new === undefined) return <WorkflowList />;
  return (
    <Suspense fallback={<Skeleton />}>
      <NewWorkflow template={search.new} />
    </Suspense>
  );
}

function WorkflowList() {
  const { q, sort } = workflowsRoute.useSearch();
  const router = useRouter();
  const columns = useMemo(workflowColumns, []);
  const filter = useMemo<WorkflowFilter>(
    () => ({ q, sort: sort && SORTS.includes(sort) ? sort : undefined }),
    [q, sort],
  );
  const queryKey = useMemo(() => [...workflowsKey, 'list', filter], [filter]);
  const list = useFollow<Workflow>({
    queryKey,
    page: (cursor, signal) => workflowPage(filter, cursor, signal),
    rowKey,
    everyMs: LIST_EVERY_MS,
  });
  usePageActions([
    {
      label: t('workflows.new'),
      run: () => router.navigate({ to: '/workflows', search: { new: 'http' } }),
    },
  ]);
  const change = (next: WorkflowFilter) => router.navigate({ to: '/workflows', search: next });

  return (
    <Page
      title={t('workflows.title')}
      fill
      actions={
        <Button
          leftSection={<IconPlus size={14} />}
          className={classes.linkButton}
          renderRoot={(props) => <Link to="/workflows" search={{ new: 'http' }} {...props} />}
        >
          {t('workflows.new')}
        </Button>
      }
    >
      <FilterBar
        fields={[]}
        noRange
        value={{ q }}
        wrong={sort && !SORTS.includes(sort) ? [`sort:${sort}`] : []}
        onChange={(next) => change({ ...filter, q: next.q })}
        placeholder={t('workflows.placeholder')}
      >
        <Select
          aria-label={t('workflows.sort')}
          w={170}
          allowDeselect={false}
          value={filter.sort ?? 'name'}
          onChange={(next) =>
            change({ ...filter, sort: next === 'name' ? undefined : (next ?? undefined) })
          }
          data={[
            { value: 'name', label: t('workflows.byName') },
            { value: '-updated', label: t('workflows.byUpdated') },
          ]}
        />
      </FilterBar>
      <DataTable
        id="workflows"
        label={t('workflows.title')}
        columns={columns}
        list={list}
        rowKey={rowKey}
        open={(row) => router.navigate({ to: '/workflows/$id', params: { id: row.workflow_id } })}
        empty={{
          title: t('workflows.empty'),
          text: t('workflows.emptyText'),
          command: 'refire workflow apply -f my_workflow.yaml',
          children: (
            <Link to="/workflows" search={{ new: 'http' }}>
              {t('workflows.new')}
            </Link>
          ),
        }}
        filtered={
          q ? { words: `“${q}”`, clear: () => change({ ...filter, q: undefined }) } : undefined
        }
      />
    </Page>
  );
}
