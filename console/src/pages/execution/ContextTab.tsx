/** The state after any event of the log: a slider walks through it. */
import '@mantine/core/styles/Slider.layer.css';
import { ActionIcon, Slider } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { useMemo } from 'react';
import { type Log, logQuery } from '@/api/queries/log';
import { t } from '@/i18n/t';
import { formatClock } from '@/time/format';
import { IconChevronLeft, IconChevronRight } from '@/ui/icons';
import { Json } from '@/ui/json/Json';
import { Panel } from '@/ui/page/Page';
import { ProblemView } from '@/ui/state/ProblemView';
import { Skeleton } from '@/ui/state/Skeleton';
import { Status } from '@/ui/status/Status';
import classes from './execution.module.css';
import { type StateAfter, stateAfter } from './log';

interface ContextTabProps {
  id: string;
  at: string | undefined;
  move: (at: number) => void;
}

export default function ContextTab({ id, at, move }: ContextTabProps) {
  const log = useQuery(logQuery(id));
  if (log.isPending) return <Skeleton />;
  if (log.isError) return <ProblemView error={log.error} retry={log.refetch} />;
  return <Walk log={log.data} at={at} move={move} />;
}

function Walk({ log, at, move }: { log: Log } & Omit<ContextTabProps, 'id'>) {
  const { events } = log;
  const last = events.length;
  const count = Math.min(last, Math.max(1, Number(at) || last));
  const state = useMemo(() => stateAfter(log, count), [log, count]);
  const event = events[count - 1];
  return (
    <div className={classes.detail}>
      <div className={classes.walk}>
        <ActionIcon
          aria-label={t('execution.earlier')}
          disabled={count <= 1}
          onClick={() => move(count - 1)}
        >
          <IconChevronLeft size={16} />
        </ActionIcon>
        <Slider
          className={classes.slider}
          thumbLabel={t('execution.contextAt')}
          min={1}
          max={Math.max(2, last)}
          value={count}
          onChange={move}
          label={null}
        />
        <ActionIcon
          aria-label={t('execution.later')}
          disabled={count >= last}
          onClick={() => move(count + 1)}
        >
          <IconChevronRight size={16} />
        </ActionIcon>
      </div>
      {event && (
        <p className={classes.walkText}>
          <span>{t('execution.afterEvent', { n: count, total: last })}</span>
          <code>{event.event_type}</code>
          {event.step_id && <code>{event.step_id}</code>}
          <span className={classes.muted}>
            {formatClock(Date.parse(event.timestamp), undefined, true)}
          </span>
          <Status value={state.status} />
        </p>
      )}
      <div className={classes.values}>
        <Steps state={state} />
        <Panel title={t('execution.contextValues')}>
          <Json value={contextOf(state)} label={t('execution.contextValues')} file="context" />
        </Panel>
      </div>
    </div>
  );
}

/** What expressions of the definition could read at this moment. */
function contextOf(state: StateAfter): unknown {
  const steps = Object.fromEntries(
    Object.entries(state.steps)
      .filter(([, step]) => step.output !== undefined)
      .map(([id, step]) => [id, { output: step.output }]),
  );
  const read = { context: state.context, input: state.input, steps };
  return state.output === undefined ? read : { ...read, output: state.output };
}

function Steps({ state }: { state: StateAfter }) {
  return (
    <Panel title={t('execution.steps')}>
      <ul className={classes.steps}>
        {Object.entries(state.steps).map(([id, step]) => (
          <li key={id}>
            <Status value={step.status} />
            <code>{id}</code>
            <span className={classes.muted}>
              {t('execution.attemptCount', { count: step.attempts })}
            </span>
            {step.error && <span className={classes.error}>{step.error}</span>}
          </li>
        ))}
      </ul>
    </Panel>
  );
}
