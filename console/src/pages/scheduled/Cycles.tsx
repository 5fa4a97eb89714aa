/** The last cycles as a strip: how each ended; a cell chooses its attempts. */
import { Button } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { useMemo, useState } from 'react';
import { readRecords, scheduledKey } from '@/api/queries/scheduled';
import { t, word } from '@/i18n/t';
import { formatInstant } from '@/time/format';
import { Panel } from '@/ui/page/Page';
import { Status } from '@/ui/status/Status';
import { toneOf } from '@/ui/status/status';
import { Strip, type StripRange } from '@/ui/strip/Strip';
import { Time } from '@/ui/time/Time';
import { type Cycle, cyclesOf } from './cycles';
import classes from './scheduled.module.css';

const EVERY_MS = 3_000;

export function Cycles({ id, show }: { id: string; show: (cycle: number) => void }) {
  const query = useQuery({
    queryKey: [...scheduledKey, 'cycles', id],
    queryFn: ({ signal }) => readRecords(id, {}, null, signal),
    refetchInterval: EVERY_MS,
  });
  const [range, setRange] = useState<StripRange>();
  const cycles = useMemo(() => cyclesOf(query.data?.items ?? []), [query.data]);
  const cells = useMemo(
    () =>
      cycles.map((cycle) => ({
        key: String(cycle.number),
        tone: toneOf(cycle.status),
        mark: cycle.retries > 0 ? String(cycle.retries) : undefined,
        label: wordsOf(cycle),
      })),
    [cycles],
  );
  if (!query.data) return null;
  const chosen = range && cycles[range.head];
  return (
    <Panel title={t('scheduled.cyclesTitle')}>
      {cycles.length === 0 ? (
        <p className={classes.muted}>{t('scheduled.cyclesNone')}</p>
      ) : (
        <div className={classes.cycles}>
          <Strip
            cells={cells}
            label={t('scheduled.cyclesTitle')}
            range={range}
            onRange={(next) => setRange(next && { anchor: next.head, head: next.head })}
            onOpen={(index) => show(cycles[index]!.number)}
          />
          {chosen && (
            <div className={classes.chosen}>
              <strong>{t('scheduled.cycle', { cycle: chosen.number })}</strong>
              <Status value={chosen.status} />
              <Time at={chosen.startedAt} as="full" />
              {chosen.retries > 0 && (
                <span>{t('scheduled.cycleRetries', { count: chosen.retries })}</span>
              )}
              <Button size="compact-xs" variant="default" onClick={() => show(chosen.number)}>
                {t('scheduled.showCycle')}
              </Button>
            </div>
          )}
        </div>
      )}
    </Panel>
  );
}

function wordsOf(cycle: Cycle): string {
  const words = t('scheduled.cycleWords', {
    cycle: cycle.number,
    status: word('status', cycle.status),
    time: formatInstant(Date.parse(cycle.startedAt)),
  });
  return cycle.retries > 0
    ? `${words}, ${t('scheduled.cycleRetries', { count: cycle.retries })}`
    : words;
}
