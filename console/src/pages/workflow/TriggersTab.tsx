/** What starts this workflow by itself. */
import { Button, Menu } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { type Trigger, triggersOf } from '@/api/queries/workflows';
import { language, t, word } from '@/i18n/t';
import { CopyText } from '@/ui/copy/CopyText';
import { IconCalendarTime, IconPlus, IconWebhook } from '@/ui/icons';
import { Panel } from '@/ui/page/Page';
import { EmptyState } from '@/ui/state/EmptyState';
import { ProblemView } from '@/ui/state/ProblemView';
import { Skeleton } from '@/ui/state/Skeleton';
import { Status } from '@/ui/status/Status';
import { Time } from '@/ui/time/Time';
import type { TabProps } from './tab';
import classes from './workflow.module.css';

export default function TriggersTab({ id }: TabProps) {
  const triggers = useQuery(triggersOf(id));
  return (
    <Panel flush title={t('workflow.tabTriggers')} actions={<NewTrigger id={id} />}>
      {triggers.isPending && <Skeleton rows={4} />}
      {triggers.isError && (
        <div className={classes.pad}>
          <ProblemView error={triggers.error} retry={triggers.refetch} />
        </div>
      )}
      {triggers.data?.length === 0 && (
        <EmptyState
          title={t('workflow.noTriggers')}
          text={t('workflow.noTriggersText')}
          command={`refire trigger create ${id} --cron '0 9 * * MON'`}
        />
      )}
      {triggers.data && triggers.data.length > 0 && <TriggerTable rows={triggers.data} />}
    </Panel>
  );
}

function NewTrigger({ id }: { id: string }) {
  const to = `/workflows/${encodeURIComponent(id)}/triggers/new`;
  const item = (type: string) => (props: object) => (
    <Link to={to as string} search={{ type } as never} {...props} />
  );
  return (
    <Menu>
      <Menu.Target>
        <Button variant="default" leftSection={<IconPlus size={14} />}>
          {t('workflow.newTrigger')}
        </Button>
      </Menu.Target>
      <Menu.Dropdown>
        <Menu.Item leftSection={<IconCalendarTime size={14} />} renderRoot={item('cron')}>
          {t('workflow.newCron')}
        </Menu.Item>
        <Menu.Item leftSection={<IconWebhook size={14} />} renderRoot={item('webhook')}>
          {t('workflow.newWebhook')}
        </Menu.Item>
      </Menu.Dropdown>
    </Menu>
  );
}

/** What people read: the server's words, or the address of a webhook. */
function When({ trigger }: { trigger: Trigger }) {
  const words = trigger.description_in_words;
  if (words) return <>{words[language()]}</>;
  if (trigger.webhook_url) return <CopyText text={trigger.webhook_url} />;
  return <>{'–'}</>;
}

function stateOf(trigger: Trigger): string {
  if (trigger.overdue_since) return 'overdue';
  if (trigger.finished) return 'finished';
  return trigger.enabled ? 'enabled' : 'disabled';
}

function TriggerTable({ rows }: { rows: Trigger[] }) {
  return (
    <div className={classes.scroll}>
      <table className={classes.table}>
        <thead>
          <tr>
            <th scope="col">{t('workflow.state')}</th>
            <th scope="col">{t('workflow.typeName')}</th>
            <th scope="col">{t('workflow.when')}</th>
            <th scope="col">{t('workflow.next')}</th>
            <th scope="col">{t('workflow.trigger')}</th>
          </tr>
        </thead>
        <tbody>
          {rows.map((row) => (
            <tr key={row.id}>
              <td>
                <Status value={stateOf(row)} />
              </td>
              <td>{word('executions.by', row.trigger_type)}</td>
              <td>
                <When trigger={row} />
                {row.problem && <div className={classes.error}>{row.problem}</div>}
              </td>
              <td>
                <Time at={row.next_execution} />
              </td>
              <td>
                <Link to="/triggers/$id" params={{ id: row.id }}>
                  <code>{row.id}</code>
                </Link>
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}
