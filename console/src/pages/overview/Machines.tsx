/** Who does the work: workers, tasks that wait for them, nodes, triggers. */
import { Link } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import type { Overview } from '@/api/queries/overview';
import { t } from '@/i18n/t';
import { Panel } from '@/ui/page/Page';
import classes from './overview.module.css';

interface Part {
  text: string;
  search?: Record<string, string>;
  alarm?: boolean;
}

export function Machines({ overview }: { overview: Overview }) {
  const { workers, tasks, nodes, triggers } = overview;
  return (
    <Panel title={t('overview.machines')}>
      <dl className={classes.machines}>
        <Line name={t('overview.nodes')}>
          <Parts to="/nodes" parts={[{ text: t('overview.nodesAlive', { count: nodes.alive }) }]} />
        </Line>
        <Line name={t('overview.workers')}>
          <Parts
            to="/workers"
            parts={[
              {
                text: t('overview.workersActive', { count: workers.active }),
                search: { status: 'active' },
              },
              {
                text: t('overview.workersIdle', { count: workers.idle }),
                search: { status: 'idle' },
              },
              {
                text: t('overview.workersDead', { count: workers.dead }),
                search: { status: 'dead' },
                alarm: workers.dead > 0,
              },
            ]}
          />
        </Line>
        <Line name={t('overview.tasks')}>
          <Parts
            to="/tasks"
            parts={[
              {
                text: t('overview.tasksPending', { count: tasks.pending }),
                search: { status: 'pending' },
              },
              {
                text: t('overview.tasksLocked', { count: tasks.locked }),
                search: { status: 'locked' },
              },
            ]}
          />
        </Line>
        <Line name={t('overview.triggers')}>
          <Parts
            to="/triggers"
            parts={[
              {
                text: t('overview.triggersOn', { count: triggers.enabled }),
                search: { enabled: 'true' },
              },
              {
                text: t('overview.triggersOverdue', { count: triggers.overdue }),
                search: { overdue: 'true' },
                alarm: triggers.overdue > 0,
              },
            ]}
          />
        </Line>
      </dl>
    </Panel>
  );
}

function Line({ name, children }: { name: string; children: ReactNode }) {
  return (
    <div>
      <dt>{name}</dt>
      <dd>{children}</dd>
    </div>
  );
}

function Parts({ to, parts }: { to: string; parts: Part[] }) {
  return parts.map((part) => (
    <Link key={part.text} to={to} search={part.search ?? {}} data-alarm={part.alarm || undefined}>
      {part.text}
    </Link>
  ));
}
