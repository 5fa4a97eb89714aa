/** One scheduled task: what it is, its cycles as a strip, every attempt, and its form. */
import { Button, Menu, Tabs } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { useState } from 'react';
import { type ScheduledTask, scheduledQuery } from '@/api/queries/scheduled';
import { usePageActions } from '@/app/palette/actions';
import { t } from '@/i18n/t';
import { shortId } from '@/ui/copy/CopyId';
import { IconDots, IconPlayerPause, IconPlayerPlay } from '@/ui/icons';
import { Json } from '@/ui/json/Json';
import { Page, Panel } from '@/ui/page/Page';
import { ProblemView } from '@/ui/state/ProblemView';
import { Skeleton } from '@/ui/state/Skeleton';
import { type Asking, TaskDialogs, usePausing } from './actions';
import { Cycles } from './Cycles';
import { TaskStateBadge } from './columns';
import { requestOf } from './draft';
import { EditTask } from './EditTask';
import { Records } from './Records';
import { scheduledRoute } from './route';
import { TaskFacts } from './TaskFacts';
import { nameOf, stateOf } from './words';

const TABS = ['records', 'edit', 'definition'] as const;

export function ScheduledPage() {
  const { id } = scheduledRoute.useParams();
  const search = scheduledRoute.useSearch();
  const navigate = useNavigate();
  const query = useQuery(scheduledQuery(id));
  const [asking, setAsking] = useState<Asking>();
  const task = query.data?.task;
  const tab = TABS.find((each) => each === search.tab) ?? 'records';
  const go = (next: Record<string, string | undefined>) =>
    navigate({
      to: '/scheduled/$id',
      params: { id },
      search: next as Record<string, string>,
      replace: true,
    });

  return (
    <Page
      title={task ? nameOf(task) : shortId(id)}
      badges={task && <TaskStateBadge task={task} size="md" />}
      subtitle={task?.taskDescription}
      actions={task && <Actions task={task} ask={setAsking} edit={() => go({ tab: 'edit' })} />}
    >
      {query.isError && <ProblemView error={query.error} retry={() => query.refetch()} />}
      {query.isPending && <Skeleton rows={10} />}
      {task && (
        <>
          <Panel>
            <TaskFacts task={task} />
          </Panel>
          <Cycles id={id} show={(cycle) => go({ cycle: String(cycle) })} />
          <Tabs
            value={tab}
            onChange={(next) => go({ tab: next === 'records' ? undefined : (next ?? undefined) })}
          >
            <Tabs.List>
              <Tabs.Tab value="records">{t('scheduled.records')}</Tabs.Tab>
              {stateOf(task) !== 'cancelled' && (
                <Tabs.Tab value="edit">{t('scheduled.edit')}</Tabs.Tab>
              )}
              <Tabs.Tab value="definition">{t('scheduled.definition')}</Tabs.Tab>
            </Tabs.List>
          </Tabs>
          {tab === 'records' && <Records id={id} search={search} go={go} />}
          {tab === 'edit' && stateOf(task) !== 'cancelled' && (
            <EditTask task={task} tag={query.data!.tag} done={() => go({})} />
          )}
          {tab === 'definition' && (
            <Panel>
              <Json
                value={requestOf(task)}
                label={t('scheduled.definition')}
                file={task.taskId}
                maxHeight={640}
              />
            </Panel>
          )}
          {asking && <TaskDialogs what={asking} task={task} close={() => setAsking(undefined)} />}
        </>
      )}
    </Page>
  );
}

interface ActionsProps {
  task: ScheduledTask;
  ask: (what: Asking) => void;
  edit: () => void;
}

function Actions({ task, ask, edit }: ActionsProps) {
  const toggle = usePausing();
  const navigate = useNavigate();
  const state = stateOf(task);
  const goesOn = state === 'active' || state === 'paused';
  usePageActions([
    ...(state === 'cancelled'
      ? []
      : [
          { label: t('scheduled.run'), run: () => ask('run') },
          { label: t('scheduled.edit'), run: edit },
        ]),
    ...(goesOn
      ? [
          {
            label: t(state === 'active' ? 'scheduled.pause' : 'scheduled.resume'),
            run: () => toggle(task),
          },
          { label: t('scheduled.cancel'), run: () => ask('cancel') },
        ]
      : []),
    { label: t('scheduled.delete'), run: () => ask('delete') },
  ]);
  return (
    <>
      {state !== 'cancelled' && (
        <Button leftSection={<IconPlayerPlay size={14} />} onClick={() => ask('run')}>
          {t('scheduled.run')}
        </Button>
      )}
      {goesOn && (
        <Button
          variant="default"
          leftSection={
            state === 'active' ? <IconPlayerPause size={14} /> : <IconPlayerPlay size={14} />
          }
          onClick={() => toggle(task)}
        >
          {t(state === 'active' ? 'scheduled.pause' : 'scheduled.resume')}
        </Button>
      )}
      {state !== 'cancelled' && (
        <Button variant="default" onClick={edit}>
          {t('scheduled.edit')}
        </Button>
      )}
      <Menu>
        <Menu.Target>
          <Button variant="default" aria-label={t('scheduled.more')}>
            <IconDots size={14} />
          </Button>
        </Menu.Target>
        <Menu.Dropdown>
          <Menu.Item
            onClick={() => navigate({ to: '/scheduled/new', search: { copy: task.taskId } })}
          >
            {t('scheduled.copy')}
          </Menu.Item>
          {goesOn && (
            <Menu.Item color="danger" onClick={() => ask('cancel')}>
              {t('scheduled.cancel')}
            </Menu.Item>
          )}
          <Menu.Item color="danger" onClick={() => ask('delete')}>
            {t('scheduled.delete')}
          </Menu.Item>
        </Menu.Dropdown>
      </Menu>
    </>
  );
}
