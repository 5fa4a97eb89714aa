/** Everything about a target below its row, with the offer to retry what failed on it. */
import { Button } from '@mantine/core';
import { Link } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import type { Target } from '@/api/queries/targets';
import type { BulkAsk } from '@/bulk/BulkDialog';
import { formatNumber, t } from '@/i18n/t';
import { CopyId } from '@/ui/copy/CopyId';
import { IconRotate } from '@/ui/icons';
import { Facts } from '@/ui/page/Page';
import { Time } from '@/ui/time/Time';
import { counted } from './columns';
import classes from './targets.module.css';

/** As the server counts `letters_since_opening`. */
const BEFORE_OPENING_MS = 5 * 60_000;

export function Detail({ target, retry }: { target: Target; retry: (ask: BulkAsk) => void }) {
  return (
    <div className={classes.detail}>
      <Offer target={target} retry={retry} />
      <Facts facts={factsOf(target)} />
    </div>
  );
}

/** Calls are made again, and letters are left from before: they may be retried together. */
function Offer({ target, retry }: { target: Target; retry: (ask: BulkAsk) => void }) {
  const since = target.opened_at && (target.letters_since_opening ?? 0) > 0;
  const count = since ? (target.letters_since_opening ?? 0) : target.letters;
  if (count === 0) return null;
  const healthy = target.state === 'closed' || target.state === 'closing';
  const from =
    since && target.opened_at
      ? new Date(Date.parse(target.opened_at) - BEFORE_OPENING_MS).toISOString()
      : undefined;
  const ask: BulkAsk = {
    kind: 'letters',
    action: 'retry',
    scope: { filter: { target: target.host, ...(from ? { from } : {}) } },
    words: t('targets.lettersOf', { host: target.host }),
  };
  return (
    <div className={classes.offer} data-healthy={healthy || undefined}>
      <span>
        {t(healthy ? 'targets.healthy' : 'targets.failing', {
          host: target.host,
          count: formatNumber(count),
        })}
      </span>
      <Button
        size="compact-xs"
        variant={healthy ? 'filled' : 'default'}
        leftSection={<IconRotate size={12} />}
        onClick={() => retry(ask)}
      >
        {t('targets.retryLetters', { count })}
      </Button>
    </div>
  );
}

function factsOf(target: Target): [string, ReactNode][] {
  const facts: [string, ReactNode][] = [];
  if (target.cause) facts.push([t('targets.cause'), target.cause]);
  if (target.opened_at)
    facts.push([t('targets.opened'), <Time key="o" at={target.opened_at} as="full" />]);
  if (target.openings > 0) facts.push([t('targets.openings'), formatNumber(target.openings)]);
  if (target.probing_node)
    facts.push([t('targets.probing'), <CopyId key="p" id={target.probing_node} />]);
  if (target.changed_at)
    facts.push([
      t('targets.changed'),
      <span key="c">
        <Time at={target.changed_at} as="full" /> {target.changed_by ?? t('targets.byCalls')}
      </span>,
    ]);
  facts.push([t('targets.parked'), counted(target.parked, target.parked_exact)]);
  if (target.window.limited > 0)
    facts.push([t('targets.limited'), formatNumber(target.window.limited)]);
  if (target.workflows.length > 0)
    facts.push([
      t('targets.workflows'),
      <span key="w" className={classes.workflows}>
        {target.workflows.map((id) => (
          <Link key={id} to="/workflows/$id" params={{ id }}>
            {id}
          </Link>
        ))}
      </span>,
    ]);
  return facts;
}
