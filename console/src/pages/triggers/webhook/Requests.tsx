/** The newest requests: where they came from, what became of them, and why. */
import { Button } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { useState } from 'react';
import type { Trigger } from '@/api/queries/triggers';
import { newestRequests, requestSummary, type WebhookRequest } from '@/api/queries/webhooks';
import { formatNumber, t, word } from '@/i18n/t';
import { CopyId } from '@/ui/copy/CopyId';
import { Panel } from '@/ui/page/Page';
import { ProblemView } from '@/ui/state/ProblemView';
import { Skeleton } from '@/ui/state/Skeleton';
import { Status } from '@/ui/status/Status';
import { Time } from '@/ui/time/Time';
import formClasses from '../form/form.module.css';
import { RequestDrawer } from './RequestDetail';
import classes from './webhook.module.css';

const SHOWN = 20;
/** Statuses in the order they are counted. */
export const STATUSES = [
  'triggered',
  'filtered',
  'duplicate',
  'auth_failed',
  'ip_refused',
  'rate_limited',
  'too_large',
  'disabled',
  'error',
] as const;

export function Requests({ trigger }: { trigger: Trigger }) {
  const { data, error, refetch } = useQuery(newestRequests(trigger.id, SHOWN));
  const [opened, setOpened] = useState<string>();
  return (
    <Panel
      flush
      title={t('webhook.requests')}
      actions={
        <Button
          variant="default"
          size="compact-sm"
          renderRoot={(props) => (
            <Link to="/triggers/$id/requests" params={{ id: trigger.id }} {...props} />
          )}
        >
          {t('webhook.fullLog')}
        </Button>
      }
    >
      <Counts id={trigger.id} />
      {error && <ProblemView error={error} retry={refetch} />}
      {!data && !error && <Skeleton rows={4} />}
      {data?.length === 0 && <div className={formClasses.empty}>{t('webhook.noRequests')}</div>}
      {data && data.length > 0 && (
        <div
          className={formClasses.tableScroll}
          tabIndex={0}
          role="region"
          aria-label={t('webhook.requests')}
        >
          <table className={formClasses.table}>
            <thead>
              <tr>
                <th>{t('trigger.time')}</th>
                <th>{t('webhook.ip')}</th>
                <th>{t('trigger.status')}</th>
                <th>{t('webhook.outcome')}</th>
                <th>{t('webhook.test')}</th>
              </tr>
            </thead>
            <tbody>
              {data.map((request) => (
                <tr key={request.id}>
                  <td>
                    <button
                      type="button"
                      className={classes.linkButton}
                      onClick={() => setOpened(request.id)}
                    >
                      <Time at={request.received_at} as="full" />
                    </button>
                  </td>
                  <td>
                    <code>{request.source_ip}</code>
                  </td>
                  <td>
                    <Status value={request.status} />
                  </td>
                  <td className={formClasses.wide}>
                    <Outcome request={request} />
                  </td>
                  <td>{request.test && <TestMark />}</td>
                </tr>
              ))}
            </tbody>
          </table>
        </div>
      )}
      <RequestDrawer trigger={trigger.id} request={opened} onClose={() => setOpened(undefined)} />
    </Panel>
  );
}

export function TestMark() {
  return <span className={classes.test}>{t('webhook.test')}</span>;
}

/** What it started, or why it started nothing. */
export function Outcome({ request }: { request: WebhookRequest }) {
  if (request.execution_id && !request.error)
    return <CopyId id={request.execution_id} to={`/executions/${request.execution_id}`} />;
  return <span title={request.error ?? undefined}>{request.error ?? ''}</span>;
}

/** How many requests came to what, each a link to them. */
export function Counts({ id, plain }: { id: string; plain?: boolean }) {
  const { data } = useQuery(requestSummary(id));
  if (!data || data.total === 0) return null;
  return (
    <div className={plain ? classes.plainCounts : classes.counts}>
      {STATUSES.filter((status) => data.by_status[status]).map((status) => (
        <Link key={status} to="/triggers/$id/requests" params={{ id: id }} search={{ status }}>
          <Status
            value={status}
            label={`${word('status', status)} ${formatNumber(data.by_status[status]!)}`}
          />
        </Link>
      ))}
    </div>
  );
}
