/** A JSON value: the lazy read-only editor with folding and search; large values show their beginning. */
import { useMemo } from 'react';
import { stringifyExact } from '@/api/exact';
import { t } from '@/i18n/t';
import { formatBytes } from '@/time/format';
import { CopyButton } from '../copy/CopyButton';
import { Editor } from '../editor/Editor';
import { DownloadButton } from './Download';
import classes from './json.module.css';
import { useSeen } from './useSeen';

/** Larger values show only their beginning. */
const SHOWN_WHOLE = 256 * 1024;
const SHOWN_PART = 64 * 1024;
/** What stands in the place of a value that nobody has seen yet. */
const PLACE_LINES = 20;

/** Texts of values that are shown, so that coming back to a large one costs nothing. */
const texts = new WeakMap<object, string>();

function textOf(value: unknown): string {
  if (typeof value === 'string') return value;
  if (typeof value !== 'object' || value === null) return stringifyExact(value, 2);
  const text = texts.get(value) ?? stringifyExact(value, 2);
  texts.set(value, text);
  return text;
}

interface JsonProps {
  value: unknown;
  label: string;
  /** Names the file of a download. */
  file?: string;
  maxHeight?: number;
}

export function Json({ value, label, file = 'value', maxHeight = 420 }: JsonProps) {
  const text = useMemo(() => textOf(value), [value]);
  const [place, seen] = useSeen();
  const whole = text.length <= SHOWN_WHOLE;
  return (
    <div ref={place} className={classes.json}>
      <div className={classes.tools}>
        <CopyButton text={text} label={t('common.copyJson')} size={24} />
        <DownloadButton name={`${file}.json`} text={() => text} />
      </div>
      {seen ? (
        <Editor
          value={whole ? text : text.slice(0, SHOWN_PART)}
          label={label}
          language={typeof value === 'string' ? 'text' : 'json'}
          readOnly
          maxHeight={maxHeight}
        />
      ) : (
        <pre className={classes.place} style={{ maxHeight }}>
          {text.slice(0, SHOWN_PART).split('\n', PLACE_LINES).join('\n')}
        </pre>
      )}
      {!whole && (
        <div className={classes.cut}>
          {t('common.cut', { shown: formatBytes(SHOWN_PART), total: formatBytes(text.length) })}
        </div>
      )}
    </div>
  );
}
