/** Runs planned times of the past: first the list of what would run, then the run, then what was started. */
import { Button, Modal, Switch, TextInput } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import {
  type BackfillResult,
  type BackfillWish,
  backfill,
  type Trigger,
  triggerKey,
} from '@/api/queries/triggers';
import { formatNumber, t } from '@/i18n/t';
import { formatInstant } from '@/time/format';
import { instantOf, isZone, localInput, offsetText } from '@/time/zone';
import { curlOf } from '@/ui/confirm/curl';
import { CopyButton } from '@/ui/copy/CopyButton';
import { CopyId } from '@/ui/copy/CopyId';
import { ProblemView } from '@/ui/state/ProblemView';
import { Skeleton } from '@/ui/state/Skeleton';
import { useTriggerChanged } from '../acting';
import formClasses from '../form/form.module.css';
import { Notice } from '../form/Notices';
import classes from './schedule.module.css';

export interface BackfillRange {
  from: string;
  to: string;
  onlyMissed: boolean;
}

interface BackfillProps {
  trigger: Trigger;
  /** Closed without. */
  range: BackfillRange | undefined;
  onClose: () => void;
}

export function Backfill({ trigger, range, onClose }: BackfillProps) {
  return (
    <Modal
      opened={range !== undefined}
      onClose={onClose}
      size="lg"
      title={t('trigger.backfillTitle')}
    >
      {range && <Body trigger={trigger} range={range} onClose={onClose} />}
    </Modal>
  );
}

/** Seconds matter here: a planned time may be at any of them. */
const local = (iso: string, zone: string) => {
  const at = Date.parse(iso);
  return `${localInput(at, zone)}:${formatInstant(at, zone).slice(17, 19)}`;
};

function Body({ trigger, range, onClose }: BackfillProps & { range: BackfillRange }) {
  const named = String(trigger.timezone ?? 'UTC');
  const zone = isZone(named) ? named : 'UTC';
  const changed = useTriggerChanged();
  const [from, setFrom] = useState(() => local(range.from, zone));
  // Up to the end of the second, so that the last chosen time is in the range.
  const [to, setTo] = useState(() => local(range.to, zone));
  const [onlyMissed, setOnlyMissed] = useState(range.onlyMissed);
  const [done, setDone] = useState<BackfillResult>();
  const [refused, setRefused] = useState<unknown>();
  const [busy, setBusy] = useState(false);
  const iso = (text: string, end: boolean) => {
    const at = instantOf(text, zone) + (end ? 999 : 0);
    return Number.isNaN(at) ? undefined : new Date(at).toISOString();
  };
  const wish = { from: iso(from, false) ?? '', to: iso(to, true) ?? '', only_missed: onlyMissed };
  const ready = wish.from !== '' && wish.to !== '' && wish.from <= wish.to;
  const look = useQuery({
    queryKey: [...triggerKey(trigger.id), 'backfill', wish],
    queryFn: () => backfill(trigger.id, { ...wish, dry_run: true }),
    enabled: ready && !done,
    retry: false,
    staleTime: 0,
  });

  const run = async () => {
    setBusy(true);
    setRefused(undefined);
    try {
      setDone(await backfill(trigger.id, { ...wish, dry_run: false }));
      changed();
    } catch (error) {
      setRefused(error);
    } finally {
      setBusy(false);
    }
  };

  if (done) return <Done trigger={trigger} result={done} zone={zone} onClose={onClose} />;
  const request: { method: string; path: string; body: BackfillWish } = {
    method: 'POST',
    path: `/api/triggers/${trigger.id}/backfill`,
    body: { ...wish, dry_run: false },
  };
  const error = refused ?? look.error;
  const count = look.data?.count ?? 0;
  return (
    <div className={formClasses.fields}>
      <div className={formClasses.row}>
        <TextInput
          type="datetime-local"
          step={1}
          className={formClasses.grow}
          label={t('common.from', { zone })}
          value={from}
          onChange={(event) => setFrom(event.currentTarget.value)}
        />
        <TextInput
          type="datetime-local"
          step={1}
          className={formClasses.grow}
          label={t('common.to')}
          value={to}
          error={ready ? undefined : t('trigger.backfillOrder')}
          onChange={(event) => setTo(event.currentTarget.value)}
        />
      </div>
      <Switch
        label={t('trigger.onlyMissed')}
        description={onlyMissed ? t('trigger.onlyMissedText') : t('trigger.allTimesText')}
        checked={onlyMissed}
        onChange={(event) => setOnlyMissed(event.currentTarget.checked)}
      />
      {error ? <ProblemView error={error} retry={() => look.refetch()} /> : null}
      {look.isPending && ready && <Skeleton rows={3} />}
      {look.data && !error && (
        <>
          <div aria-live="polite">{t('trigger.wouldRun', { count })}</div>
          {look.data.ledger_from && (
            <Notice tone="late">
              {t('trigger.ledgerFrom', {
                time: formatInstant(Date.parse(look.data.ledger_from), zone),
              })}
            </Notice>
          )}
          {count > 0 && <Slots result={look.data} zone={zone} />}
        </>
      )}
      <div className={formClasses.row}>
        <CopyButton withText label={t('common.copyCurl')} text={() => curlOf(request)} />
        <span className={formClasses.grow} />
        <Button variant="default" onClick={onClose}>
          {t('common.cancel')}
        </Button>
        <Button
          loading={busy}
          disabled={count === 0 || look.isFetching || !!look.error}
          onClick={run}
        >
          {t('trigger.runThem', { count: formatNumber(count) })}
        </Button>
      </div>
    </div>
  );
}

function Slots({ result, zone }: { result: BackfillResult; zone: string }) {
  return (
    <div className={classes.dry} tabIndex={0} role="region" aria-label={t('trigger.planned')}>
      <table className={formClasses.table}>
        <thead>
          <tr>
            <th>{t('trigger.planned')}</th>
            <th>{t('trigger.execution')}</th>
          </tr>
        </thead>
        <tbody>
          {result.slots.map((slot) => {
            const at = Date.parse(slot.nominal);
            return (
              <tr key={slot.nominal}>
                <td>
                  {formatInstant(at, zone)} {zone === 'UTC' ? 'UTC' : offsetText(at, zone)}
                </td>
                <td>
                  {slot.execution_id ? (
                    <CopyId id={slot.execution_id} to={`/executions/${slot.execution_id}`} />
                  ) : (
                    '–'
                  )}
                </td>
              </tr>
            );
          })}
        </tbody>
      </table>
    </div>
  );
}

interface DoneProps {
  trigger: Trigger;
  result: BackfillResult;
  zone: string;
  onClose: () => void;
}

function Done({ result, zone, onClose }: DoneProps) {
  return (
    <div className={formClasses.fields}>
      <div role="status">{t('trigger.backfilled', { count: result.count })}</div>
      {result.error && <Notice tone="failed">{result.error}</Notice>}
      {result.slots.length > 0 && <Slots result={result} zone={zone} />}
      <div className={formClasses.row}>
        <span className={formClasses.grow} />
        <Button onClick={onClose} data-autofocus>
          {t('common.close')}
        </Button>
      </div>
    </div>
  );
}
