/** The fields of the retry form. */
import { NumberInput, Radio, Select, Switch, TextInput } from '@mantine/core';
import { useState } from 'react';
import { ApiProblem } from '@/api/problem';
import { type PlainKey, t, word } from '@/i18n/t';
import {
  FAILED_STATUSES,
  JITTERS,
  MOST_RETRIES,
  NETWORK_ERRORS,
  OTHER_ERRORS,
  RETRIED_STATUSES,
  type RetryForm,
  STRATEGIES,
} from './policy';
import classes from './retry.module.css';
import { Ticks } from './Ticks';

interface FieldsProps {
  form: RetryForm;
  change: (part: Partial<RetryForm>) => void;
  /** The server's refusal of the policy. */
  error: unknown;
}

/** The server names fields by path, `retryOn.statuses[2]`. */
function wrong(error: unknown, field: string): string | undefined {
  if (!(error instanceof ApiProblem)) return undefined;
  return error.fields.find(
    (each) =>
      each.field === field ||
      each.field.startsWith(`${field}[`) ||
      each.field.startsWith(`${field}.`),
  )?.message;
}

export function RetryFields({ form, change, error }: FieldsProps) {
  return (
    <div className={classes.form}>
      <Switch
        label={t('retry.enabled')}
        checked={form.enabled}
        onChange={(event) => change({ enabled: event.currentTarget.checked })}
      />
      <fieldset className={classes.group} disabled={!form.enabled}>
        <legend className="hidden-text">{t('retry.times')}</legend>
        <Times form={form} change={change} error={error} />
        <Strategy form={form} change={change} error={error} />
        <Lists form={form} change={change} error={error} />
      </fieldset>
    </div>
  );
}

function Times({ form, change, error }: FieldsProps) {
  const time = (
    field: 'initialDelay' | 'maxDelay' | 'maxElapsed',
    label: PlainKey,
    text: PlainKey,
    placeholder: string,
  ) => (
    <TextInput
      label={t(label)}
      description={t(text)}
      placeholder={placeholder}
      value={form[field]}
      onChange={(event) => change({ [field]: event.currentTarget.value })}
      error={wrong(error, field)}
    />
  );
  return (
    <div className={classes.row}>
      <NumberInput
        label={t('retry.max')}
        description={t('retry.maxText', { most: MOST_RETRIES })}
        min={1}
        max={MOST_RETRIES}
        allowDecimal={false}
        clampBehavior="none"
        value={form.maxRetries}
        onChange={(value) => change({ maxRetries: String(value) })}
        error={wrong(error, 'maxRetries')}
      />
      {time('initialDelay', 'retry.first', 'retry.firstText', '2s')}
      {time('maxDelay', 'retry.cap', 'retry.capText', '–')}
      {time('maxElapsed', 'retry.limit', 'retry.limitText', '–')}
    </div>
  );
}

const SHOWN_DELAYS = 5;

/** The first delays of a strategy, by plain numbers: "2 → 4 → 8". */
export function delaysOf(strategy: string, form: RetryForm): string {
  const found = /^(\d+(?:\.\d+)?)(ms|s|m|h|d)?$/.exec(form.initialDelay.replace(/\s/g, ''));
  if (!found) return '';
  const first = Number(found[1]);
  const factor = Number(form.multiplier) || 2;
  return Array.from({ length: SHOWN_DELAYS }, (_, index) => {
    const delay =
      strategy === 'exponential'
        ? first * factor ** index
        : strategy === 'linear'
          ? first * (index + 1)
          : first;
    return `${Math.round(delay * 100) / 100}${found[2] ?? 's'}`;
  }).join(' → ');
}

function Strategy({ form, change, error }: FieldsProps) {
  return (
    <div className={classes.row}>
      <Radio.Group
        label={t('retry.strategy')}
        value={form.strategy}
        onChange={(strategy) => change({ strategy })}
        error={wrong(error, 'strategy')}
        className={classes.wide}
      >
        <div className={classes.radios}>
          {STRATEGIES.map((strategy) => (
            <Radio
              key={strategy}
              value={strategy}
              label={word('retry.strategy', strategy)}
              description={delaysOf(strategy, form)}
            />
          ))}
        </div>
      </Radio.Group>
      <div className={classes.pair}>
        <Select
          label={t('retry.jitter')}
          description={t('retry.jitterText')}
          allowDeselect={false}
          value={form.jitter}
          onChange={(jitter) => change({ jitter: jitter ?? 'proportional' })}
          data={JITTERS.map((value) => ({ value, label: word('retry.jitter', value) }))}
          error={wrong(error, 'jitter')}
        />
        {form.jitter === 'proportional' && (
          <NumberInput
            label={t('retry.share')}
            description={t('retry.shareText')}
            suffix=" %"
            min={0}
            max={100}
            clampBehavior="none"
            value={Number(form.ratio) * 100}
            onChange={(value) => change({ ratio: String(Number(value) / 100) })}
            error={wrong(error, 'jitter')}
          />
        )}
        {form.strategy === 'exponential' && (
          <NumberInput
            label={t('retry.factor')}
            description={t('retry.factorText')}
            min={1}
            max={10}
            clampBehavior="none"
            value={form.multiplier}
            onChange={(value) => change({ multiplier: String(value) })}
            error={wrong(error, 'multiplier')}
          />
        )}
      </div>
    </div>
  );
}

const statusWord = (status: string) => {
  const name = word('retry.http', status);
  return name === status ? status : `${status} ${name}`;
};

function Lists({ form, change, error }: FieldsProps) {
  const [more, setMore] = useState(false);
  const others = OTHER_ERRORS.filter((name) => more || form.errors.includes(name));
  const both = form.statuses.filter((status) => form.failStatuses.includes(status));
  return (
    <div className={classes.lists}>
      <Ticks
        label={t('retry.statuses')}
        text={t('retry.statusesText')}
        offered={RETRIED_STATUSES}
        value={form.statuses}
        onChange={(statuses) => change({ statuses })}
        words={statusWord}
        addLabel={t('retry.addStatus')}
        error={wrong(error, 'retryOn.statuses')}
      />
      <Ticks
        label={t('retry.errors')}
        text={t('retry.errorsText')}
        offered={[...NETWORK_ERRORS, ...others]}
        value={form.errors}
        onChange={(errors) => change({ errors })}
        words={(name) => word('retry.error', name)}
        error={wrong(error, 'retryOn.errors')}
      >
        {!more && (
          <button type="button" className={classes.more} onClick={() => setMore(true)}>
            {t('retry.moreErrors')}
          </button>
        )}
      </Ticks>
      <Ticks
        label={t('retry.fail')}
        text={t('retry.failText')}
        offered={FAILED_STATUSES}
        value={form.failStatuses}
        onChange={(failStatuses) => change({ failStatuses })}
        words={statusWord}
        addLabel={t('retry.addStatus')}
        error={wrong(error, 'failOn.statuses')}
      >
        {both.length > 0 && (
          <p className={classes.warn}>{t('retry.both', { statuses: both.join(', ') })}</p>
        )}
      </Ticks>
    </div>
  );
}
