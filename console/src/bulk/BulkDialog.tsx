/**
 * Asks before many are touched at once: which, what would become of them by a dry run of the server, how fast.
 * Then the server does it as a job, whose page follows.
 */
import { Button, Modal, NumberInput, Switch, TextInput } from '@mantine/core';
import { keepPreviousData, useQuery, useQueryClient } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { useMemo, useState } from 'react';
import {
  type BulkAction,
  type BulkKind,
  type BulkScope,
  type BulkWish,
  bulkRequest,
  jobsKey,
  previewBulk,
  startBulk,
} from '@/api/queries/bulk';
import { formatNumber, t, word } from '@/i18n/t';
import { formatDuration } from '@/time/format';
import { curlOf } from '@/ui/confirm/curl';
import { CopyButton } from '@/ui/copy/CopyButton';
import { useSettled } from '@/ui/form/useSettled';
import { ProblemView } from '@/ui/state/ProblemView';
import { Skeleton } from '@/ui/state/Skeleton';
import { toastDone } from '@/ui/toast/toast';
import classes from './bulk.module.css';
import { Options, type RetryWish } from './Options';
import { Preview } from './Preview';
import { DEFAULT_RATE, durationOf, isRate, LEAST_RATE, MOST_RATE } from './rate';
import { transformProblem, transformText } from './transform';

export interface BulkAsk {
  kind: BulkKind;
  action: BulkAction;
  scope: BulkScope;
  /** The scope in words: "3 ticked dead letters", "Workflow: crm · last 7 days". */
  words: string;
}

interface BulkDialogProps {
  ask: BulkAsk;
  /** `started`: a job was made, so the selection is over. */
  close: (started: boolean) => void;
}

/** Above this many, what cannot be taken back asks for the count. */
const TYPED_ABOVE = 100;
const isDanger = (action: BulkAction) => /^(delete|purge|cancel)$/.test(action);

export function BulkDialog({ ask, close }: BulkDialogProps) {
  return (
    <Modal
      opened
      size={ask.action === 'retry' ? 960 : 'lg'}
      onClose={() => close(false)}
      closeButtonProps={{ size: 28, 'aria-label': t('common.close') }}
      title={word('bulk.ask', ask.action)}
    >
      <Body ask={ask} close={close} />
    </Modal>
  );
}

const RETRY: RetryWish = {
  from: 'start',
  retries: false,
  transform: { kind: 'none', text: '{\n  \n}' },
};

function Body({ ask, close }: BulkDialogProps) {
  const { kind, action, scope } = ask;
  const navigate = useNavigate();
  const client = useQueryClient();
  const [retry, setRetry] = useState(RETRY);
  const [compensate, setCompensate] = useState(false);
  const [rate, setRate] = useState<number | string>(DEFAULT_RATE);
  const [typed, setTyped] = useState('');
  const [busy, setBusy] = useState(false);
  const [error, setError] = useState<unknown>();
  const problem = action === 'retry' ? transformProblem(retry.transform) : undefined;
  const wish = useMemo((): BulkWish => {
    if (action === 'retry')
      return {
        action,
        from: retry.from,
        retries: retry.retries || undefined,
        transform: transformText(retry.transform),
      };
    return action === 'cancel' && compensate ? { action, compensate } : { action };
  }, [action, retry, compensate]);
  const asked = useSettled(wish, Object.is);
  const preview = useQuery({
    queryKey: [...jobsKey, 'preview', kind, scope, asked],
    queryFn: ({ signal }) => previewBulk(kind, scope, asked, signal),
    enabled: problem === undefined,
    placeholderData: keepPreviousData,
    retry: false,
    gcTime: 0,
  });
  const count = preview.data?.count ?? 0;
  const mustType = isDanger(action) && count > TYPED_ABOVE;
  const right = isRate(Number(rate));
  const ready =
    problem === undefined &&
    preview.isSuccess &&
    count > 0 &&
    right &&
    (!mustType || typed.replace(/\D/g, '') === String(count));
  const whole: BulkWish = { ...wish, rate: Number(rate) };

  const start = async () => {
    if (!ready || busy) return;
    setBusy(true);
    setError(undefined);
    try {
      const { id } = await startBulk(kind, scope, whole);
      toastDone(t('bulk.started'));
      client.invalidateQueries({ queryKey: jobsKey });
      close(true);
      navigate({ to: '/bulk/$id', params: { id } });
    } catch (refused) {
      setError(refused);
      setBusy(false);
    }
  };

  const duration = durationOf(count, Number(rate));
  return (
    <form
      className={classes.dialog}
      onSubmit={(event) => {
        event.preventDefault();
        start();
      }}
    >
      <div>
        <strong>{ask.words}</strong>
        <p className={classes.text}>{word('bulk.text', action)}</p>
      </div>
      {action === 'retry' && <Options wish={retry} change={setRetry} problem={problem} />}
      {action === 'cancel' && (
        <Switch
          label={t('bulk.compensate')}
          description={t('bulk.compensateNote')}
          checked={compensate}
          onChange={(event) => setCompensate(event.currentTarget.checked)}
        />
      )}
      <section className={classes.preview} aria-label={t('bulk.preview')} aria-live="polite">
        {preview.isPending && problem === undefined && <Skeleton rows={3} />}
        {preview.isError && <ProblemView error={preview.error} retry={preview.refetch} />}
        {preview.data && (
          <Preview kind={kind} preview={preview.data} stale={preview.isPlaceholderData} />
        )}
      </section>
      <div className={classes.pace}>
        <NumberInput
          label={t('bulk.rate')}
          className={classes.rate}
          min={LEAST_RATE}
          max={MOST_RATE}
          allowDecimal={false}
          value={rate}
          onChange={setRate}
          error={right ? undefined : t('bulk.rateWrong')}
        />
        {right && count > 0 && duration !== undefined && (
          <span className={classes.muted}>
            {t('bulk.takes', { time: formatDuration(Math.max(1_000, duration)) })}
          </span>
        )}
      </div>
      {mustType && (
        <TextInput
          label={t('common.typeCount', { count: formatNumber(count) })}
          value={typed}
          onChange={(event) => setTyped(event.currentTarget.value)}
          autoComplete="off"
        />
      )}
      {error !== undefined && <ProblemView error={error} />}
      <div className={classes.foot}>
        <CopyButton
          withText
          label={t('common.copyCurl')}
          text={() => curlOf(bulkRequest(kind, scope, whole))}
        />
        <span className={classes.space} />
        <Button variant="default" onClick={() => close(false)}>
          {t('common.cancel')}
        </Button>
        <Button
          type="submit"
          color={isDanger(action) ? 'danger' : undefined}
          disabled={!ready}
          loading={busy}
        >
          {word('bulk.do', action)} {count > 0 && formatNumber(count)}
        </Button>
      </div>
    </form>
  );
}
