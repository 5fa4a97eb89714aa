/** The quick retry of a row: with the input as it is, from the start or the failed step. */
import { Radio, Switch } from '@mantine/core';
import { useQuery, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import {
  type Letter,
  letterQuery,
  lettersInPlace,
  type RetryFrom,
  retryLetter,
  retryRequest,
} from '@/api/queries/dlq';
import { rich, t } from '@/i18n/t';
import { Confirm } from '@/ui/confirm/Confirm';
import { toastDone } from '@/ui/toast/toast';
import classes from './dlq.module.css';

export function RetryDialog({ letter, close }: { letter: Letter; close: () => void }) {
  const client = useQueryClient();
  const [from, setFrom] = useState<RetryFrom>('start');
  const [retries, setRetries] = useState(false);
  const detail = useQuery(letterQuery(letter.id));
  const obstacle = detail.data?.retry_obstacle;
  return (
    <Confirm
      opened
      onClose={() => {
        close();
        // Also after a refusal: somebody else may have been faster.
        client.invalidateQueries(lettersInPlace);
      }}
      title={t('dlq.confirmRetry')}
      action={t('dlq.retry')}
      request={retryRequest(letter.id, { from, retries })}
      disabled={detail.data?.can_retry_from_start === false && from === 'start'}
      run={async () => {
        const { execution_id } = await retryLetter(letter.id, { from, retries });
        toastDone(t('dlq.retried', { id: execution_id }));
      }}
    >
      <p className={classes.text}>
        {rich('dlq.confirmRetryText', { workflow: <strong>{letter.workflow_id}</strong> })}{' '}
        {t('dlq.confirmRetryOriginal')}
      </p>
      {obstacle && (
        <p className={classes.warning}>
          <strong>{t('dlq.obstacle')}</strong> {obstacle}
        </p>
      )}
      <FromChoice
        from={from}
        setFrom={setFrom}
        step={letter.step_id}
        canStep={detail.data?.can_retry_from_failed_step ?? true}
      />
      <PolicySwitch on={retries} set={setRetries} />
    </Confirm>
  );
}

/** Whether the retry is itself retried by the workflow's policy. */
export function PolicySwitch({ on, set }: { on: boolean; set: (on: boolean) => void }) {
  return (
    <Switch
      className={classes.policy}
      label={t('bulk.retries')}
      description={t('dlq.retriesNote')}
      checked={on}
      onChange={(event) => set(event.currentTarget.checked)}
    />
  );
}

interface FromChoiceProps {
  from: RetryFrom;
  setFrom: (from: RetryFrom) => void;
  step?: string | null;
  canStep: boolean;
}

export function FromChoice({ from, setFrom, step, canStep }: FromChoiceProps) {
  return (
    <Radio.Group label={t('dlq.from')} value={from} onChange={(next) => setFrom(next as RetryFrom)}>
      <div className={classes.radios}>
        <Radio value="start" label={t('dlq.fromStart')} description={t('dlq.fromStartNote')} />
        <Radio
          value="failed_step"
          disabled={!canStep}
          label={step ? t('dlq.fromStepNamed', { step }) : t('dlq.fromStep')}
          description={t(canStep ? 'dlq.fromStepNote' : 'dlq.fromStepNot')}
        />
      </div>
    </Radio.Group>
  );
}
