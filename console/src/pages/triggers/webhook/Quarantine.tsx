/** Refused requests: why and since when; checked again once the setting is fixed: verdict first, then run. */
import { Button, Checkbox, Modal } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { useMemo, useState } from 'react';
import { isUnknownCall, type Trigger } from '@/api/queries/triggers';
import {
  newestRequests,
  type Rechecked,
  recheckRequests,
  type WebhookRequest,
} from '@/api/queries/webhooks';
import { t } from '@/i18n/t';
import { curlOf } from '@/ui/confirm/curl';
import { CopyButton } from '@/ui/copy/CopyButton';
import { CopyId } from '@/ui/copy/CopyId';
import { Panel } from '@/ui/page/Page';
import { ProblemView } from '@/ui/state/ProblemView';
import { Skeleton } from '@/ui/state/Skeleton';
import { Status } from '@/ui/status/Status';
import { Time } from '@/ui/time/Time';
import { useTriggerChanged } from '../acting';
import formClasses from '../form/form.module.css';
import classes from './webhook.module.css';

/** What is kept because it may have been refused by mistake. */
export const REFUSED = ['auth_failed', 'ip_refused', 'disabled', 'too_large', 'error', 'filtered'];
const LOOKED_AT = 200;

export interface RefusedGroup {
  status: string;
  reason: string;
  count: number;
  since: string;
  ips: string[];
}

/** Refused requests by status and reason, most first; the reason of a filter without its value. */
export function groupRefused(requests: readonly WebhookRequest[]): RefusedGroup[] {
  const groups = new Map<string, RefusedGroup>();
  for (const request of requests) {
    const reason = (request.error ?? '').replace(/: the value is .*$/s, '');
    const key = `${request.status} ${reason}`;
    const group = groups.get(key) ?? {
      status: request.status,
      reason,
      count: 0,
      since: request.received_at,
      ips: [],
    };
    group.count += 1;
    if (request.received_at < group.since) group.since = request.received_at;
    if (!group.ips.includes(request.source_ip)) group.ips.push(request.source_ip);
    groups.set(key, group);
  }
  const meant = (group: RefusedGroup) => (group.status === 'filtered' ? 1 : 0);
  return [...groups.values()].sort((a, b) => meant(a) - meant(b) || b.count - a.count);
}

export function Quarantine({ trigger }: { trigger: Trigger }) {
  const filter = { status: REFUSED.join(','), test: 'false' };
  const { data } = useQuery({
    ...newestRequests(trigger.id, LOOKED_AT, filter),
    refetchInterval: 10_000,
  });
  const groups = useMemo(() => groupRefused(data ?? []), [data]);
  const [opened, setOpened] = useState<string[]>();
  if (!data || data.length === 0) return null;
  // What a filter leaves out is mostly meant so: it can be checked again, and is counted apart.
  const filtered = data.filter((request) => request.status === 'filtered').length;
  const refused = data.length - filtered;
  const more = data.length === LOOKED_AT ? '+' : '';
  const count = `${refused || filtered}${more}`;
  return (
    <Panel
      title={
        refused > 0 ? t('webhook.quarantine', { count }) : t('webhook.filteredTitle', { count })
      }
      actions={
        <Button
          size="compact-sm"
          onClick={() =>
            setOpened([
              ...new Set(
                groups
                  .map((group) => group.status)
                  .filter((status) => refused === 0 || status !== 'filtered'),
              ),
            ])
          }
        >
          {t('webhook.recheckAll', { count })}
        </Button>
      }
    >
      <div className={formClasses.fields}>
        <div className={formClasses.hint}>{t('webhook.quarantineText')}</div>
        <ul className={classes.groups}>
          {groups.slice(0, 8).map((group) => (
            <li key={`${group.status} ${group.reason}`}>
              <Status value={group.status} />
              <strong>{group.count}</strong>
              <span className={classes.reason}>{group.reason}</span>
              <span className={formClasses.hint}>
                {t('webhook.since')} <Time at={group.since} /> · {group.ips.slice(0, 3).join(', ')}
                {group.ips.length > 3 && ' …'}
              </span>
              <Button variant="default" size="compact-xs" onClick={() => setOpened([group.status])}>
                {t('webhook.recheck')}
              </Button>
            </li>
          ))}
        </ul>
      </div>
      <Modal
        opened={opened !== undefined}
        onClose={() => setOpened(undefined)}
        size="xl"
        title={t('webhook.recheckTitle')}
      >
        {opened && (
          <Recheck trigger={trigger} first={opened} onClose={() => setOpened(undefined)} />
        )}
      </Modal>
    </Panel>
  );
}

interface RecheckProps {
  trigger: Trigger;
  first: string[];
  onClose: () => void;
}

function Recheck({ trigger, first, onClose }: RecheckProps) {
  const changed = useTriggerChanged();
  const [statuses, setStatuses] = useState(first);
  const [done, setDone] = useState<Rechecked>();
  const [refused, setRefused] = useState<unknown>();
  const [busy, setBusy] = useState(false);
  const verdict = useQuery({
    queryKey: ['recheck', trigger.id, trigger.version, statuses],
    queryFn: () => recheckRequests(trigger.id, { status: statuses, dry_run: true }),
    enabled: statuses.length > 0 && !done,
    retry: false,
    staleTime: 0,
  });
  const run = async () => {
    setBusy(true);
    setRefused(undefined);
    try {
      setDone(await recheckAll(trigger.id, statuses));
      changed();
    } catch (error) {
      setRefused(error);
    } finally {
      setBusy(false);
    }
  };
  if (done)
    return (
      <div className={formClasses.fields}>
        <div role="status">
          {t('webhook.rechecked', {
            looked: done.looked_at,
            count: done.started ?? 0,
            refused: done.refused,
          })}
        </div>
        {done.error && <div className={formClasses.wrong}>{done.error}</div>}
        <Items result={done} />
        <div className={formClasses.row}>
          <span className={formClasses.grow} />
          <Button onClick={onClose}>{t('common.close')}</Button>
        </div>
      </div>
    );
  const error = refused ?? verdict.error;
  const would = verdict.data?.would_start ?? 0;
  return (
    <div className={formClasses.fields}>
      <Checkbox.Group label={t('webhook.recheckWhich')} value={statuses} onChange={setStatuses}>
        <div className={formClasses.typeRow}>
          {REFUSED.map((status) => (
            <Checkbox key={status} value={status} label={<Status value={status} />} />
          ))}
        </div>
      </Checkbox.Group>
      {error ? (
        isUnknownCall(error) ? (
          <div className={formClasses.hint}>{t('webhook.recheckUnavailable')}</div>
        ) : (
          <ProblemView error={error} retry={() => verdict.refetch()} />
        )
      ) : null}
      {verdict.isFetching && <Skeleton rows={3} />}
      {verdict.data && !verdict.isFetching && (
        <>
          <div aria-live="polite">
            {t('webhook.wouldStart', {
              looked: verdict.data.looked_at,
              count: would,
              refused: verdict.data.refused,
            })}
            {verdict.data.next_cursor && ` ${t('webhook.recheckMore')}`}
          </div>
          <Items result={verdict.data} dry />
        </>
      )}
      <div className={formClasses.row}>
        <CopyButton
          withText
          label={t('common.copyCurl')}
          text={() =>
            curlOf({
              method: 'POST',
              path: `/api/triggers/${trigger.id}/requests/recheck`,
              body: { status: statuses, dry_run: false },
            })
          }
        />
        <span className={formClasses.grow} />
        <Button variant="default" onClick={onClose}>
          {t('common.cancel')}
        </Button>
        <Button loading={busy} disabled={would === 0 || verdict.isFetching} onClick={run}>
          {t('webhook.runThem', { count: would })}
        </Button>
      </div>
    </div>
  );
}

/** A call checks at most some hundreds; the rest follows by cursor. */
async function recheckAll(id: string, status: string[]): Promise<Rechecked> {
  const whole: Rechecked = { looked_at: 0, started: 0, refused: 0, items: [] };
  let cursor: string | null | undefined;
  do {
    const part = await recheckRequests(id, { status, dry_run: false, cursor: cursor ?? undefined });
    whole.looked_at += part.looked_at;
    whole.started = (whole.started ?? 0) + (part.started ?? 0);
    whole.refused += part.refused;
    whole.items.push(...part.items);
    whole.error = part.error;
    cursor = part.error ? null : part.next_cursor;
  } while (cursor);
  return whole;
}

function Items({ result, dry }: { result: Rechecked; dry?: boolean }) {
  if (result.items.length === 0) return null;
  return (
    <div
      className={formClasses.tableScroll}
      tabIndex={0}
      role="region"
      aria-label={t('webhook.requests')}
    >
      <table className={formClasses.table}>
        <thead>
          <tr>
            <th>{t('webhook.request')}</th>
            <th>{t('webhook.verdict')}</th>
            <th>{t('webhook.outcome')}</th>
          </tr>
        </thead>
        <tbody>
          {result.items.map((item) => (
            <tr key={item.request_id}>
              <td>
                <CopyId id={item.request_id} plain />
              </td>
              <td>
                <Status
                  value={item.status}
                  label={dry && item.status === 'triggered' ? t('webhook.wouldRun') : undefined}
                />
              </td>
              <td className={formClasses.wide} title={item.reason ?? undefined}>
                {item.execution_id ? (
                  <CopyId id={item.execution_id} to={`/executions/${item.execution_id}`} />
                ) : (
                  item.reason
                )}
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}
