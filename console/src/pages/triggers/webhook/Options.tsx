/** Everything beside verification and conditions: name, duplicates, addresses, rate, handshake, checks, retry. */
import { Select, Switch, Textarea, TextInput } from '@mantine/core';
import { t } from '@/i18n/t';
import type { FieldErrors } from '@/ui/form/fieldErrors';
import { About } from '../form/About';
import classes from '../form/form.module.css';
import { RetryFields } from '../form/RetryFields';
import { Section } from '../form/Section';
import type { WebhookDraft } from './webhookDraft';

interface OptionsProps {
  draft: WebhookDraft;
  change: (part: Partial<WebhookDraft>) => void;
  errors: FieldErrors;
  workflow: string;
}

const lines = (text: string) => text.split('\n').filter((line) => line.trim()).length;

export function Options(props: OptionsProps) {
  const { draft, change, errors } = props;
  return (
    <>
      <About draft={draft} change={change} errors={errors} />
      <Duplicates {...props} />
      <Limits {...props} />
      <Section
        title={t('webhook.challenge')}
        summary={draft.challenge || t('webhook.challengeAuto')}
        wrong={errors.has('challenge')}
      >
        <Select
          label={t('webhook.challenge')}
          description={t('webhook.challengeHint')}
          placeholder={t('webhook.challengeAuto')}
          clearable
          data={[
            { value: 'slack', label: 'Slack' },
            { value: 'microsoft_graph', label: 'Microsoft Graph' },
            { value: 'none', label: t('trigger.none') },
          ]}
          value={draft.challenge || null}
          error={errors.at('challenge')}
          onChange={(challenge) => change({ challenge: challenge ?? '' })}
        />
      </Section>
      <Section
        title={t('trigger.deadMan')}
        summary={draft.successWithin || t('trigger.deadMan.none')}
        wrong={errors.has('dead_man')}
      >
        <TextInput
          className={classes.short}
          label={t('trigger.deadMan.success_within')}
          description={t('trigger.deadManText.success_within')}
          placeholder="2d"
          value={draft.successWithin}
          error={errors.at('dead_man')}
          onChange={(event) => change({ successWithin: event.currentTarget.value })}
        />
      </Section>
      <Section title={t('trigger.input')} summary={t('webhook.inputBody')}>
        <div>{t('webhook.inputText')}</div>
      </Section>
      <RetryFields
        value={draft.retry}
        onChange={(retry) => change({ retry })}
        errors={errors}
        workflow={props.workflow}
      />
    </>
  );
}

function Duplicates({ draft, change, errors }: OptionsProps) {
  return (
    <Section
      title={t('webhook.idempotency')}
      summary={
        draft.keyPaths.trim()
          ? draft.keyPaths.trim().split('\n').join(' + ')
          : t('webhook.idempotencyAuto')
      }
      wrong={errors.has('idempotency_paths', 'idempotency_window', 'ignore_idempotency_header')}
    >
      <Textarea
        className={classes.mono}
        label={t('webhook.keyPaths')}
        description={t('webhook.keyPathsHint')}
        placeholder={'$.event_type\n$.incident_id'}
        autosize
        minRows={2}
        maxRows={10}
        value={draft.keyPaths}
        error={errors.at('idempotency_paths')}
        onChange={(event) => change({ keyPaths: event.currentTarget.value })}
      />
      <Switch
        label={t('webhook.ignoreHeader')}
        description={t('webhook.ignoreHeaderHint')}
        checked={draft.ignoreKeyHeader}
        onChange={(event) => change({ ignoreKeyHeader: event.currentTarget.checked })}
      />
      <TextInput
        className={classes.short}
        label={t('webhook.keyWindow')}
        placeholder="7d"
        value={draft.keyWindow}
        error={errors.at('idempotency_window')}
        onChange={(event) => change({ keyWindow: event.currentTarget.value })}
      />
    </Section>
  );
}

function Limits({ draft, change, errors }: OptionsProps) {
  const rate = draft.perSecond
    ? t('webhook.rateShort', { rate: draft.perSecond, burst: draft.burst || draft.perSecond })
    : t('webhook.noLimit');
  return (
    <>
      <Section
        title={t('webhook.ipAllow')}
        summary={
          draft.ipAllow.trim()
            ? t('webhook.ipCount', { count: lines(draft.ipAllow) })
            : t('webhook.ipAll')
        }
        wrong={errors.has('ip_allow')}
      >
        <Textarea
          className={classes.mono}
          label={t('webhook.ipAllow')}
          description={t('webhook.ipHint')}
          placeholder={'203.0.113.0/24\n2001:db8::/32'}
          autosize
          minRows={2}
          maxRows={12}
          value={draft.ipAllow}
          error={errors.at('ip_allow')}
          onChange={(event) => change({ ipAllow: event.currentTarget.value })}
        />
      </Section>
      <Section title={t('webhook.rate')} summary={rate} wrong={errors.has('rate_limit')}>
        <div className={classes.row}>
          <TextInput
            className={classes.short}
            label={t('webhook.perSecond')}
            inputMode="numeric"
            placeholder={t('trigger.none')}
            value={draft.perSecond}
            error={
              errors.at('rate_limit.per_second') ??
              (errors.has('rate_limit.burst') ? undefined : errors.at('rate_limit'))
            }
            onChange={(event) => change({ perSecond: event.currentTarget.value })}
          />
          <TextInput
            className={classes.short}
            label={t('webhook.burst')}
            inputMode="numeric"
            placeholder={draft.perSecond}
            value={draft.burst}
            error={errors.at('rate_limit.burst')}
            onChange={(event) => change({ burst: event.currentTarget.value })}
          />
        </div>
      </Section>
    </>
  );
}
