/** What a dry run said: how many, and what would become of some of them. */
import { Link } from '@tanstack/react-router';
import { useState } from 'react';
import { stringifyExact } from '@/api/exact';
import type { BulkKind, BulkPreview, BulkSample } from '@/api/queries/bulk';
import { formatNumber, t, word } from '@/i18n/t';
import { shortId } from '@/ui/copy/CopyId';
import { Diff } from '@/ui/editor/Editor';
import { Json } from '@/ui/json/Json';
import { Status } from '@/ui/status/Status';
import classes from './bulk.module.css';

/** Below this width a difference is shown one under the other. */
const SIDE_BY_SIDE_PX = 720;

interface PreviewProps {
  kind: BulkKind;
  preview: BulkPreview;
  /** Made for what was asked before. */
  stale: boolean;
}

export function Preview({ kind, preview, stale }: PreviewProps) {
  const { count, at_least: more, sample } = preview;
  const number = formatNumber(count) + (more ? '+' : '');
  return (
    <div data-stale={stale || undefined} className={classes.previewBody}>
      <strong>
        {kind === 'letters'
          ? t('bulk.countLetters', { count, number })
          : t('bulk.countExecutions', { count, number })}
      </strong>
      {count === 0 && <p className={classes.muted}>{t('bulk.nothing')}</p>}
      {sample.some(isInput) ? (
        <Inputs sample={sample} />
      ) : (
        sample.length > 0 && <Statuses kind={kind} sample={sample} />
      )}
    </div>
  );
}

/** Inputs are shown as a difference, statuses as words. */
const isInput = (each: BulkSample) => typeof each.before !== 'string';

function Inputs({ sample }: { sample: BulkSample[] }) {
  const [chosen, setChosen] = useState<string>();
  const shown = sample.find((each) => each.id === chosen) ?? sample[0]!;
  const wrong = sample.filter((each) => each.error).length;
  const before = stringifyExact(shown.before, 2);
  const after = shown.error ? before : stringifyExact(shown.after, 2);
  return (
    <>
      <div className={classes.samples} role="group" aria-label={t('bulk.samples')}>
        {sample.map((each) => (
          <button
            key={each.id}
            type="button"
            className={classes.sample}
            aria-pressed={each === shown}
            data-wrong={!!each.error || undefined}
            onClick={() => setChosen(each.id)}
          >
            <code>{shortId(each.id)}</code>
          </button>
        ))}
      </div>
      {wrong > 0 && (
        <p className={classes.wrong}>
          {t('bulk.wrongSamples', { count: wrong, of: sample.length })}
        </p>
      )}
      {shown.error && (
        <p className={classes.wrong} role="alert">
          {shown.error}
        </p>
      )}
      {before === after ? (
        <>
          {!shown.error && <p className={classes.muted}>{t('bulk.sameInput')}</p>}
          <Json key={shown.id} value={shown.before} label={t('bulk.afterInput')} maxHeight={200} />
        </>
      ) : (
        <Diff
          key={shown.id}
          before={before}
          after={after}
          label={t('bulk.afterInput')}
          language="json"
          unified={window.innerWidth < SIDE_BY_SIDE_PX}
          maxHeight={260}
        />
      )}
    </>
  );
}

function Statuses({ kind, sample }: { kind: BulkKind; sample: BulkSample[] }) {
  return (
    <table className={classes.table}>
      <caption className="hidden-text">{t('bulk.samples')}</caption>
      <tbody>
        {sample.map((each) => (
          <tr key={each.id}>
            <td>
              <Link
                to={kind === 'letters' ? '/dlq/$id' : '/executions/$id'}
                params={{ id: each.id }}
              >
                <code>{shortId(each.id)}</code>
              </Link>
            </td>
            <td>
              <Status value={String(each.before)} />
            </td>
            <td>
              {each.error ? (
                <span className={classes.wrong}>{each.error}</span>
              ) : each.after === null || each.after === undefined ? (
                t('bulk.gone')
              ) : (
                <Status value={String(each.after)} label={word('status', String(each.after))} />
              )}
            </td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}
