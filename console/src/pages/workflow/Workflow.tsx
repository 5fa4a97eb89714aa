/** One workflow: its head, and a tab for each way to look at it. */
import { Button, Menu, Tabs } from '@mantine/core';
import { useSuspenseQuery } from '@tanstack/react-query';
import { Link, useRouter } from '@tanstack/react-router';
import { type ComponentType, lazy, Suspense, useEffect, useRef, useState } from 'react';
import { type Workflow, workflowQuery } from '@/api/queries/workflows';
import { usePageActions } from '@/app/palette/actions';
import { type PlainKey, t } from '@/i18n/t';
import { CopyButton } from '@/ui/copy/CopyButton';
import { hasDraft } from '@/ui/definition/draft';
import { IconDots, IconPlayerPlay, IconTrash } from '@/ui/icons';
import { Page } from '@/ui/page/Page';
import { Skeleton } from '@/ui/state/Skeleton';
import { Time } from '@/ui/time/Time';
import { DeleteWorkflow } from './DeleteWorkflow';
import { Numbers } from './Numbers';
import { workflowRoute } from './route';
import type { TabProps } from './tab';
import { draftName } from './tab';
import classes from './workflow.module.css';

type Tab = { name: string; label: PlainKey; part: ComponentType<TabProps> };

const TABS: Tab[] = [
  { name: 'graph', label: 'workflow.tabGraph', part: lazy(() => import('./GraphTab')) },
  {
    name: 'definition',
    label: 'workflow.tabDefinition',
    part: lazy(() => import('./DefinitionTab')),
  },
  { name: 'versions', label: 'workflow.tabVersions', part: lazy(() => import('./VersionsTab')) },
  { name: 'triggers', label: 'workflow.tabTriggers', part: lazy(() => import('./TriggersTab')) },
  { name: 'retry', label: 'workflow.tabRetry', part: lazy(() => import('./retry/RetryTab')) },
  {
    name: 'executions',
    label: 'workflow.tabExecutions',
    part: lazy(() => import('./ExecutionsTab')),
  },
  { name: 'run', label: 'workflow.tabRun', part: lazy(() => import('./run/RunTab')) },
];

export function WorkflowPage() {
  const { id } = workflowRoute.useParams();
  const search = workflowRoute.useSearch();
  const router = useRouter();
  const { data } = useSuspenseQuery(workflowQuery(id));
  const tab = TABS.find((each) => each.name === search.tab) ?? TABS[0]!;
  const list = useRef<HTMLDivElement>(null);
  // biome-ignore lint/correctness/useExhaustiveDependencies: another tab comes into view
  useEffect(() => {
    const active = list.current?.querySelector('[aria-selected="true"]');
    active?.scrollIntoView({ block: 'nearest', inline: 'nearest' });
  }, [tab.name]);
  usePageActions(TABS.map((each) => ({ label: t(each.label), run: () => open(each.name) })));
  const open = (name: string | null) =>
    router.navigate({ to: '/workflows/$id', params: { id }, search: { tab: name ?? undefined } });

  return (
    <Page
      title={id}
      badges={<Badges workflow={data} />}
      actions={<Actions id={id} run={() => open('run')} />}
      subtitle={<Subtitle workflow={data} />}
    >
      <Tabs value={tab.name} onChange={open} className={classes.tabs}>
        <Tabs.List ref={list} aria-label={id} className={classes.tabList}>
          {TABS.map(({ name, label }) => (
            <Tabs.Tab key={name} value={name}>
              {t(label)}
              {name === 'definition' && hasDraft(draftName(id)) && (
                <span className={classes.dot} title={t('workflow.hasDraft')} />
              )}
            </Tabs.Tab>
          ))}
        </Tabs.List>
        <Tabs.Panel value={tab.name} className={classes.panel}>
          <Suspense fallback={<Skeleton />}>
            <tab.part key={id} id={id} workflow={data} search={search} />
          </Suspense>
        </Tabs.Panel>
      </Tabs>
    </Page>
  );
}

function Badges({ workflow }: { workflow: Workflow }) {
  return (
    <>
      <Link
        to="/workflows/$id"
        params={{ id: workflow.workflow_id }}
        search={{ tab: 'versions' }}
        className={classes.version}
      >
        {t('workflow.v', { version: workflow.version })}
      </Link>
      <CopyButton text={workflow.workflow_id} label={t('common.copyId')} size={24} />
    </>
  );
}

function Subtitle({ workflow }: { workflow: Workflow }) {
  return (
    <span className={classes.about}>
      {workflow.name !== workflow.workflow_id && <span>{workflow.name}</span>}
      <span>{t('workflow.stepCount', { count: workflow.steps })}</span>
      <span>
        {t('workflow.saved')} <Time at={workflow.updated_at} />
      </span>
      <Numbers id={workflow.workflow_id} />
      {workflow.description && <span className={classes.description}>{workflow.description}</span>}
    </span>
  );
}

function Actions({ id, run }: { id: string; run: () => void }) {
  const [deleting, setDeleting] = useState(false);
  return (
    <>
      <Button leftSection={<IconPlayerPlay size={14} />} onClick={run}>
        {t('workflow.run')}
      </Button>
      <Menu>
        <Menu.Target>
          <Button variant="default" px={8} aria-label={t('workflow.more')}>
            <IconDots size={16} />
          </Button>
        </Menu.Target>
        <Menu.Dropdown>
          <Menu.Item
            color="danger"
            leftSection={<IconTrash size={14} />}
            onClick={() => setDeleting(true)}
          >
            {t('workflow.delete')}
          </Menu.Item>
        </Menu.Dropdown>
      </Menu>
      <DeleteWorkflow id={id} opened={deleting} onClose={() => setDeleting(false)} />
    </>
  );
}
