/** When the retries of the form's policy would come, on an axis and in words; recent reality laid over it. */
import { Checkbox } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { retriesOf, type Timeline } from '@/api/queries/workflows';
import { formatNumber, t } from '@/i18n/t';
import { useKept } from '@/settings/kept';
import { Panel } from '@/ui/page/Page';
import { ProblemView } from '@/ui/state/ProblemView';
import { Skeleton } from '@/ui/state/Skeleton';
import { type Recovery, recoveryOf, waitsOf } from './axis';
import type { RetryForm } from './policy';
import classes from './retry.module.css';
import type { Simulated } from './simulation';

/** `2 s`, `49.6 s`, `4 min 10 s`: with tenths, since ranges need them. */
export function seconds(ms: number): string {
  const unit = (value: number, digits = 0) =>
    formatNumber(Math.round(value * 10 ** digits) / 10 ** digits);
  if (ms < 1000) return `${unit(ms)} ms`;
  if (ms < 120_000) return `${unit(ms / 1000, 1)} s`;
  const minutes = Math.floor(ms / 60_000);
  if (minutes < 120) return `${unit(minutes)} min ${unit((ms % 60_000) / 1000)} s`;
  if (minutes < 2880) return `${unit(Math.floor(minutes / 60))} h ${unit(minutes % 60)} min`;
  return `${unit(minutes / 1440, 1)} d`;
}

interface SimulatorProps {
  id: string;
  form: RetryForm;
  simulated: Simulated;
}

const OVERLAID = 100;

export function Simulator({ id, form, simulated }: SimulatorProps) {
  const [log, setLog] = useKept('retry.log', false);
  const [overlay, setOverlay] = useKept('retry.overlay', true);
  const { data = [] } = useQuery(retriesOf(id, OVERLAID));
  const recovery = recoveryOf(data);
  const { timeline, error } = simulated;
  return (
    <Panel
      title={t('retry.simulator')}
      actions={
        <>
          <Checkbox
            label={t('retry.log')}
            checked={log}
            onChange={(e) => setLog(e.currentTarget.checked)}
          />
          <Checkbox
            label={t('retry.overlay')}
            checked={overlay}
            onChange={(e) => setOverlay(e.currentTarget.checked)}
          />
        </>
      }
    >
      {error !== undefined && <ProblemView error={error} retry={simulated.refetch} />}
      {!timeline && error === undefined && <Skeleton rows={3} />}
      {timeline && timeline.retries.length === 0 && (
        <p className={classes.quiet}>{t(form.enabled ? 'retry.none' : 'retry.off')}</p>
      )}
      {timeline && timeline.retries.length > 0 && (
        <div className={classes.simulator}>
          <Axis timeline={timeline} log={log} recovery={overlay ? recovery.by : []} />
          <Words timeline={timeline} form={form} />
          {overlay && <Reality {...recovery} />}
        </div>
      )}
    </Panel>
  );
}

const percent = (share: number) => `${share * 100}%`;

interface AxisProps {
  timeline: Timeline;
  log: boolean;
  recovery: Recovery[];
}

function Axis({ timeline, log, recovery }: AxisProps) {
  const waits = waitsOf(timeline, log);
  return (
    <div className={classes.axis} aria-hidden="true">
      <span className={classes.start} />
      {waits.map((wait, index) => {
        const real = recovery.find((each) => each.retry === wait.retry);
        return (
          <div key={wait.retry}>
            <span
              className={classes.wait}
              data-even={index % 2 === 0 || undefined}
              style={{ left: percent(wait.from), width: percent(wait.to - wait.from) }}
            >
              <span>{seconds(timeline.retries[index]!.delay_ms)}</span>
            </span>
            <span
              className={classes.range}
              style={{ left: percent(wait.earliest), width: percent(wait.latest - wait.earliest) }}
            />
            <span className={classes.mark} style={{ left: percent(wait.to) }}>
              {wait.retry}
            </span>
            {real && (
              <span className={classes.real} style={{ left: percent(wait.to) }}>
                {`${Math.round(real.share * 100)} %`}
              </span>
            )}
          </div>
        );
      })}
    </div>
  );
}

function Words({ timeline, form }: { timeline: Timeline; form: RetryForm }) {
  const spread = timeline.total_min_ms !== timeline.total_max_ms;
  const total = seconds(timeline.total_ms);
  const fewer = timeline.retries.length < Number(form.maxRetries);
  return (
    <div className={classes.words}>
      <ol className={classes.retries}>
        {timeline.retries.map((retry) => (
          <li key={retry.retry}>
            {t('retry.nth', { n: retry.retry, delay: seconds(retry.delay_ms) })}
            {retry.min_ms !== retry.max_ms && (
              <span className={classes.between}>
                {t('retry.between', { least: seconds(retry.min_ms), most: seconds(retry.max_ms) })}
              </span>
            )}
          </li>
        ))}
      </ol>
      <p className={classes.total} data-testid="retry-total">
        <strong>{t('retry.total', { total })}</strong>
        {spread &&
          ` ${t('retry.totalBetween', { least: seconds(timeline.total_min_ms), most: seconds(timeline.total_max_ms) })}`}
        {fewer && ` ${t('retry.fewer')}`}
      </p>
    </div>
  );
}

function Reality({ ended, by }: { ended: number; by: Recovery[] }) {
  const last = by.at(-1);
  if (!last) return <p className={classes.quiet}>{t('retry.noReality', { count: ended })}</p>;
  const enough = by.find((each) => each.share >= 0.9) ?? last;
  return (
    <p className={classes.reality}>
      {t('retry.reality', {
        share: Math.round(enough.share * 100),
        retry: enough.retry,
        count: ended,
      })}
    </p>
  );
}
