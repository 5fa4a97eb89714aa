/** One request: headers, body, reason; the difference to the last accepted one; check it again. */
import { Button, Drawer } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { stringifyExact } from '@/api/exact';
import {
  newestRequests,
  recheckRequest,
  requestQuery,
  type WebhookRequest,
} from '@/api/queries/webhooks';
import { t } from '@/i18n/t';
import { formatBytes } from '@/time/format';
import { Confirm } from '@/ui/confirm/Confirm';
import { CopyId } from '@/ui/copy/CopyId';
import { Diff } from '@/ui/editor/Editor';
import { Json } from '@/ui/json/Json';
import { Facts } from '@/ui/page/Page';
import { ProblemView } from '@/ui/state/ProblemView';
import { Skeleton } from '@/ui/state/Skeleton';
import { Status } from '@/ui/status/Status';
import { Time } from '@/ui/time/Time';
import { toastDone } from '@/ui/toast/toast';
import { useTriggerChanged } from '../acting';
import formClasses from '../form/form.module.css';
import classes from './webhook.module.css';

/** Requests that started nothing and may be checked again. */
export const canRecheck = (request: WebhookRequest) =>
  !/^(triggered|rate_limited)$/.test(request.status) && request.body_bytes >= 0;

interface RequestDrawerProps {
  trigger: string;
  request: string | undefined;
  onClose: () => void;
}

export function RequestDrawer({ trigger, request, onClose }: RequestDrawerProps) {
  return (
    <Drawer
      opened={request !== undefined}
      onClose={onClose}
      position="right"
      size="min(720px, 100vw)"
      title={t('webhook.request')}
    >
      {request && <RequestDetail trigger={trigger} request={request} />}
    </Drawer>
  );
}

export function RequestDetail({ trigger, request }: { trigger: string; request: string }) {
  const { data, error, refetch } = useQuery(requestQuery(trigger, request));
  if (error) return <ProblemView error={error} retry={refetch} />;
  if (!data) return <Skeleton rows={8} />;
  return (
    <div className={formClasses.fields}>
      <Facts
        facts={[
          [t('trigger.status'), <Status key="s" value={data.status} />],
          [t('webhook.received'), <Time key="t" at={data.received_at} as="full" />],
          [t('webhook.ip'), <code key="i">{data.source_ip}</code>],
          [t('webhook.bytes'), formatBytes(data.body_bytes)],
          [t('webhook.request'), <CopyId key="r" id={data.id} />],
          ...(data.execution_id
            ? [
                [
                  t('trigger.execution'),
                  <CopyId key="e" id={data.execution_id} to={`/executions/${data.execution_id}`} />,
                ] as [string, React.ReactNode],
              ]
            : []),
          ...(data.test ? [[t('webhook.test'), t('webhook.testYes')] as [string, string]] : []),
        ]}
      />
      {data.error && <div className={formClasses.wrong}>{data.error}</div>}
      {data.note && <div className={classes.warn}>{data.note}</div>}
      {canRecheck(data) && <Recheck trigger={trigger} request={data} />}
      <Headers request={data} />
      <Body trigger={trigger} request={data} />
    </div>
  );
}

function Headers({ request }: { request: WebhookRequest }) {
  const headers = request.headers ?? [];
  return (
    <div>
      <div className={formClasses.label}>{t('webhook.headers')}</div>
      <table className={classes.headers}>
        <tbody>
          {headers.map(({ name, value }, index) => (
            <tr key={`${name}${index}`}>
              <td>{name}</td>
              <td>{value}</td>
            </tr>
          ))}
        </tbody>
      </table>
      {!!request.headers_left_out && (
        <div className={formClasses.hint}>
          {t('webhook.headersLeftOut', { count: request.headers_left_out })}
        </div>
      )}
    </div>
  );
}

function Body({ trigger, request }: { trigger: string; request: WebhookRequest }) {
  const [compare, setCompare] = useState(false);
  if (request.body === undefined || request.body === null)
    return <div className={formClasses.hint}>{t('webhook.noBody')}</div>;
  return (
    <div>
      <div className={formClasses.row}>
        <div className={formClasses.label}>
          {t('webhook.bodyShort')}
          {request.body_encoding === 'base64' && ' (base64)'}
        </div>
        {request.status !== 'triggered' && (
          <Button variant="subtle" size="compact-xs" onClick={() => setCompare(!compare)}>
            {compare ? t('webhook.hideCompare') : t('webhook.compare')}
          </Button>
        )}
      </div>
      {compare ? (
        <Compare trigger={trigger} request={request} />
      ) : (
        <Json value={request.body} label={t('webhook.bodyShort')} file={request.id} />
      )}
    </div>
  );
}

/** The body beside that of the last request that was accepted. */
function Compare({ trigger, request }: { trigger: string; request: WebhookRequest }) {
  const accepted = useQuery(newestRequests(trigger, 1, { status: 'triggered' }));
  const id = accepted.data?.[0]?.id;
  const { data, error } = useQuery({
    ...requestQuery(trigger, id ?? ''),
    enabled: id !== undefined,
  });
  if (error ?? accepted.error) return <ProblemView error={error ?? accepted.error} />;
  if (accepted.data?.length === 0)
    return <div className={formClasses.hint}>{t('webhook.noAccepted')}</div>;
  if (!data) return <Skeleton rows={4} />;
  const text = (value: unknown) => (typeof value === 'string' ? value : stringifyExact(value, 2));
  return (
    <Diff
      before={text(data.body)}
      after={text(request.body)}
      label={t('webhook.compare')}
      language="json"
      unified
      maxHeight={420}
    />
  );
}

function Recheck({ trigger, request }: { trigger: string; request: WebhookRequest }) {
  const [opened, setOpened] = useState(false);
  const changed = useTriggerChanged();
  return (
    <div>
      <Button variant="default" onClick={() => setOpened(true)}>
        {t('webhook.recheckOne')}
      </Button>
      <Confirm
        opened={opened}
        onClose={() => setOpened(false)}
        title={t('webhook.recheckOne')}
        action={t('webhook.recheckRun')}
        request={{
          method: 'POST',
          path: `/api/triggers/${trigger}/requests/${request.id}/recheck`,
        }}
        run={async () => {
          const answer = await recheckRequest(trigger, request.id);
          toastDone(answer.message);
          changed();
        }}
      >
        {t('webhook.recheckOneText')}
      </Confirm>
    </div>
  );
}
