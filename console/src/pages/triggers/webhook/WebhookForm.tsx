/** The settings of a webhook that a form edits: verification, conditions, options. */
import { Switch } from '@mantine/core';
import { type ReactNode, useMemo } from 'react';
import { t } from '@/i18n/t';
import { FieldErrors } from '@/ui/form/fieldErrors';
import { Panel } from '@/ui/page/Page';
import classes from '../form/form.module.css';
import { Conditions } from './Conditions';
import { HEADER, METHOD_OF, type Sender } from './methods';
import { Options } from './Options';
import type { Judged } from './useJudged';
import { Verify } from './Verify';
import type { Method, WebhookDraft } from './webhookDraft';

/** Names of settings that the form shows an error at. */
export const WEBHOOK_FIELDS = [
  'name',
  'description',
  'authentication',
  'signature_header',
  'secret',
  'prefix',
  'encoding',
  'signed_text',
  'timestamp_header',
  'tolerance',
  'filters',
  'idempotency_paths',
  'ignore_idempotency_header',
  'idempotency_window',
  'ip_allow',
  'rate_limit',
  'challenge',
  'dead_man',
  'retry',
] as const;

/** What a sender's guide sets. */
export function prepared(sender: Sender, draft: WebhookDraft): Partial<WebhookDraft> {
  const method = METHOD_OF[sender];
  if (sender !== 'servicenow') return { method };
  return {
    method,
    header: draft.header || 'X-ServiceNow-Signature',
    keyPaths: draft.keyPaths || '$.event_type\n$.incident_id',
    ignoreKeyHeader: true,
  };
}

export const headerOf = (draft: WebhookDraft) => draft.header || HEADER[draft.method] || '';

interface WebhookFormProps {
  workflow: string;
  draft: WebhookDraft;
  change: (part: Partial<WebhookDraft>) => void;
  secret: string;
  setSecret: (secret: string) => void;
  judged: Judged;
  refused: unknown;
  saved?: Method;
  kept?: ReactNode;
  types?: ReactNode;
}

export function WebhookForm(props: WebhookFormProps) {
  const { draft, change, judged, refused } = props;
  const errors = useMemo(() => new FieldErrors(refused, judged.error), [refused, judged.error]);
  return (
    <>
      <Verify {...props} errors={errors} />
      <Conditions draft={draft} change={change} errors={errors} judged={judged} />
      <Panel
        flush
        title={t('trigger.options')}
        actions={
          <Switch
            label={draft.enabled ? t('trigger.enabled') : t('trigger.disabled')}
            checked={draft.enabled}
            onChange={(event) => change({ enabled: event.currentTarget.checked })}
          />
        }
      >
        <div className={classes.column}>
          <div>
            <Options draft={draft} change={change} errors={errors} workflow={props.workflow} />
          </div>
        </div>
      </Panel>
    </>
  );
}
