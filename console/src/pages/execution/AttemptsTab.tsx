/** All attempts, and the selected one in full; two can be compared. */
import { Button } from '@mantine/core';
import { useVirtualizer } from '@tanstack/react-virtual';
import { useEffect, useRef, useState } from 'react';
import { parseExact, stringifyExact } from '@/api/exact';
import type { Attempt } from '@/api/queries/executions';
import type { Step } from '@/api/types';
import { t } from '@/i18n/t';
import { formatDuration } from '@/time/format';
import { CopyId } from '@/ui/copy/CopyId';
import { Diff } from '@/ui/editor/Editor';
import { Json } from '@/ui/json/Json';
import { Facts, Panel } from '@/ui/page/Page';
import { Status } from '@/ui/status/Status';
import { Time } from '@/ui/time/Time';
import classes from './execution.module.css';
import { attemptId } from './spans';

interface AttemptsTabProps {
  attempts: Attempt[];
  steps: Step[];
  selected: string | undefined;
  select: (step: string, attempt: number) => void;
}

export function AttemptsTab({ attempts, steps, selected, select }: AttemptsTabProps) {
  const [other, setOther] = useState<string>();
  const shown = attempts.find((each) => attemptId(each) === selected) ?? interesting(attempts);
  const compared = attempts.find((each) => attemptId(each) === other);
  if (!shown) return <p className={classes.none}>{t('execution.noAttempts')}</p>;
  return (
    <div className={classes.attempts}>
      <AttemptList
        attempts={attempts}
        shown={shown}
        choose={(attempt) => {
          setOther(undefined);
          select(attempt.step_id, attempt.attempt);
        }}
      />
      <Panel
        title={t('execution.attemptOf', { step: shown.step_id, attempt: shown.attempt })}
        actions={<Compare attempts={attempts} shown={shown} other={compared} setOther={setOther} />}
      >
        {compared ? (
          <Compared a={compared} b={shown} />
        ) : (
          <Detail attempt={shown} output={outputOf(shown, steps)} />
        )}
      </Panel>
    </div>
  );
}

/** How high a row is about, before it was drawn. */
const ROW_PX = 36;
const OVERSCAN = 8;

/** All of them by name; there may be thousands, so only those that can be seen are drawn. */
function AttemptList({
  attempts,
  shown,
  choose,
}: {
  attempts: Attempt[];
  shown: Attempt;
  choose: (attempt: Attempt) => void;
}) {
  const box = useRef<HTMLDivElement>(null);
  const virtual = useVirtualizer({
    count: attempts.length,
    getScrollElement: () => box.current,
    estimateSize: () => ROW_PX,
    overscan: OVERSCAN,
    initialRect: { width: 300, height: 520 },
  });
  const at = attempts.indexOf(shown);
  // biome-ignore lint/correctness/useExhaustiveDependencies: another choice is brought into view, once
  useEffect(() => virtual.scrollToIndex(at, { align: 'auto' }), [at]);
  return (
    <div ref={box} className={classes.attemptList}>
      <ol
        aria-label={t('execution.attempts')}
        className={classes.attemptRows}
        style={{ height: virtual.getTotalSize() }}
      >
        {virtual.getVirtualItems().map((item) => {
          const attempt = attempts[item.index];
          if (!attempt) return null;
          return (
            <li
              key={attemptId(attempt)}
              ref={virtual.measureElement}
              data-index={item.index}
              aria-setsize={attempts.length}
              aria-posinset={item.index + 1}
              style={{ transform: `translateY(${item.start}px)` }}
            >
              <button
                type="button"
                className={classes.attempt}
                aria-pressed={attempt === shown}
                onClick={() => choose(attempt)}
              >
                <Status value={attempt.status} />
                <span className={classes.attemptName}>
                  {t('execution.attemptOf', { step: attempt.step_id, attempt: attempt.attempt })}
                </span>
                {attempt.duration_ms !== null && (
                  <span className={classes.muted}>{formatDuration(attempt.duration_ms)}</span>
                )}
              </button>
            </li>
          );
        })}
      </ol>
    </div>
  );
}

/** Without a choice: the last that failed, else the last. */
function interesting(attempts: Attempt[]): Attempt | undefined {
  return attempts.findLast((each) => each.status === 'failed') ?? attempts.at(-1);
}

function Compare({
  attempts,
  shown,
  other,
  setOther,
}: {
  attempts: Attempt[];
  shown: Attempt;
  other: Attempt | undefined;
  setOther: (id: string | undefined) => void;
}) {
  const before = attempts
    .filter((each) => each.step_id === shown.step_id && each.attempt < shown.attempt)
    .at(-1);
  if (other)
    return (
      <Button size="compact-xs" variant="default" onClick={() => setOther(undefined)}>
        {t('execution.stopCompare')}
      </Button>
    );
  if (!before) return null;
  return (
    <Button size="compact-xs" variant="default" onClick={() => setOther(attemptId(before))}>
      {t('execution.compareWith', { attempt: before.attempt })}
    </Button>
  );
}

/** The attempt that completed its step gave the step's output. */
function outputOf(attempt: Attempt, steps: Step[]): unknown {
  if (attempt.status !== 'completed') return undefined;
  return steps.find((step) => step.step_id === attempt.step_id)?.output ?? undefined;
}

function Detail({ attempt, output }: { attempt: Attempt; output: unknown }) {
  const { error } = attempt;
  return (
    <div className={classes.detail}>
      {error && (
        <div className={classes.failure}>
          <strong>{error.message}</strong>
          <span>
            <code>{[error.type, error.code].filter(Boolean).join(' ')}</code>
            {' · '}
            {t(error.retryable ? 'execution.retryable' : 'execution.notRetryable')}
          </span>
          {(error.causes ?? []).length > 0 && (
            <ol>
              {(error.causes ?? []).map((cause, index) => (
                <li key={index}>{cause}</li>
              ))}
            </ol>
          )}
        </div>
      )}
      <Facts facts={factsOf(attempt)} />
      {output !== undefined && (
        <div>
          <h3 className={classes.small}>{t('execution.output')}</h3>
          <Json value={output} label={t('execution.output')} file={attemptId(attempt)} />
        </div>
      )}
      {attempt.response !== null && (
        <div>
          <h3 className={classes.small}>{t('execution.response')}</h3>
          <Json
            value={asValue(attempt.response)}
            label={t('execution.response')}
            file={attemptId(attempt)}
          />
        </div>
      )}
    </div>
  );
}

/** A recorded answer is text; JSON is shown as such. */
function asValue(response: string | null): unknown {
  if (response === null) return null;
  try {
    return parseExact(response);
  } catch {
    return response;
  }
}

function factsOf(attempt: Attempt): [string, React.ReactNode][] {
  const facts: [string, React.ReactNode][] = [];
  if (attempt.started_at)
    facts.push([t('execution.began'), <Time key="b" at={attempt.started_at} as="full" />]);
  if (attempt.ended_at)
    facts.push([t('execution.ended'), <Time key="e" at={attempt.ended_at} as="full" />]);
  if (!attempt.started_at && attempt.due_at)
    facts.push([t('execution.due'), <Time key="d" at={attempt.due_at} as="full" />]);
  if (attempt.duration_ms !== null)
    facts.push([t('execution.took'), formatDuration(attempt.duration_ms)]);
  if (attempt.backoff_ms !== null)
    facts.push([t('execution.backoffBefore'), formatDuration(attempt.backoff_ms)]);
  if (attempt.early) facts.push([t('execution.early'), t('execution.earlyText')]);
  if (attempt.node_id) facts.push([t('execution.node'), <CopyId key="n" id={attempt.node_id} />]);
  if (attempt.worker_id)
    facts.push([t('execution.worker'), <CopyId key="w" id={attempt.worker_id} />]);
  if (attempt.task_id) facts.push([t('execution.task'), <CopyId key="t" id={attempt.task_id} />]);
  return facts;
}

function Compared({ a, b }: { a: Attempt; b: Attempt }) {
  const text = (attempt: Attempt) =>
    stringifyExact(
      {
        status: attempt.status,
        duration_ms: attempt.duration_ms,
        backoff_ms: attempt.backoff_ms,
        error: attempt.error,
        response: asValue(attempt.response),
        node_id: attempt.node_id,
        worker_id: attempt.worker_id,
      },
      2,
    );
  return <Diff before={text(a)} after={text(b)} label={t('execution.attempts')} language="json" />;
}
