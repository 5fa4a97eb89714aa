/** Whether executions of this trigger are tried again otherwise than their workflow says. */
import { Radio, Select, TextInput } from '@mantine/core';
import { Link } from '@tanstack/react-router';
import { t, word } from '@/i18n/t';
import type { FieldErrors } from '@/ui/form/fieldErrors';
import classes from './form.module.css';
import { Section } from './Section';
import type { RetryDraft } from './settings';

interface RetryFieldsProps {
  value: RetryDraft;
  onChange: (value: RetryDraft) => void;
  errors: FieldErrors;
  workflow: string;
}

export function retrySummary(value: RetryDraft): string {
  if (value.mode === 'workflow') return t('trigger.retry.workflow');
  if (value.mode === 'off') return t('trigger.retry.off');
  return t('trigger.retry.ownShort', {
    max: value.max || '5',
    first: value.first || '2s',
    strategy: value.strategy || 'exponential',
  });
}

export function RetryFields({ value, onChange, errors, workflow }: RetryFieldsProps) {
  const set = (part: Partial<RetryDraft>) => onChange({ ...value, ...part });
  const others = Object.keys(value.other);
  return (
    <Section title={t('trigger.retry')} summary={retrySummary(value)} wrong={errors.has('retry')}>
      <Radio.Group
        aria-label={t('trigger.retry')}
        value={value.mode}
        onChange={(mode) => set({ mode: mode as RetryDraft['mode'] })}
        error={value.mode === 'own' ? undefined : errors.at('retry')}
      >
        <div className={classes.types}>
          <Radio value="workflow" label={t('trigger.retry.workflow')} />
          <Radio value="own" label={t('trigger.retry.own')} />
          <Radio value="off" label={t('trigger.retry.off')} />
        </div>
      </Radio.Group>
      {value.mode === 'workflow' && (
        <div className={classes.hint}>
          <Link to="/workflows/$id" params={{ id: workflow }} search={{ tab: 'retry' }}>
            {t('trigger.retry.see')}
          </Link>
        </div>
      )}
      {value.mode === 'own' && (
        <>
          <div className={classes.row}>
            <TextInput
              className={classes.short}
              label={t('trigger.retry.max')}
              placeholder="5"
              inputMode="numeric"
              value={value.max}
              error={errors.at('retry.maxRetries', 'retry.max_retries')}
              onChange={(event) => set({ max: event.currentTarget.value })}
            />
            <Select
              className={classes.short}
              label={t('trigger.retry.strategy')}
              placeholder={t('trigger.retry.exponential')}
              clearable
              data={(['exponential', 'linear', 'fixed'] as const).map((name) => ({
                value: name,
                label: word('trigger.retry', name),
              }))}
              value={value.strategy || null}
              error={errors.at('retry.strategy')}
              onChange={(strategy) => set({ strategy: strategy ?? '' })}
            />
            <TextInput
              className={classes.short}
              label={t('trigger.retry.first')}
              placeholder="2s"
              value={value.first}
              error={errors.at('retry.initialDelay', 'retry.initial_delay')}
              onChange={(event) => set({ first: event.currentTarget.value })}
            />
            <TextInput
              className={classes.short}
              label={t('trigger.retry.cap')}
              placeholder={t('trigger.none')}
              value={value.cap}
              error={errors.at('retry.maxDelay', 'retry.max_delay')}
              onChange={(event) => set({ cap: event.currentTarget.value })}
            />
          </div>
          {others.length > 0 && (
            <div className={classes.hint}>
              {t('trigger.retry.others', { names: others.join(', ') })}
            </div>
          )}
        </>
      )}
    </Section>
  );
}
