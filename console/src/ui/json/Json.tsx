/** A JSON value: the lazy read-only editor with folding and search; large values show their beginning. */
import { useMemo } from 'react';
import { stringifyExact } from '@/api/exact';
import { t } from '@/i18n/t';
import { formatBytes } from '@/time/format';
import { CopyButton } from '../copy/CopyButton';
import { Editor } from '../editor/Editor';
import { DownloadButton } from './Download';
import classes from './json.module.css';

/** Larger values show only their beginning. */
const SHOWN_WHOLE = 256 * 1024;
const SHOWN_PART = 64 * 1024;

interface JsonProps {
  value: unknown;
  label: string;
  /** Names the file of a download. */
  file?: string;
  maxHeight?: number;
}

export function Json({ value, label, file = 'value', maxHeight = 420 }: JsonProps) {
  const text = useMemo(
    () => (typeof value === 'string' ? value : stringifyExact(value, 2)),
    [value],
  );
  const whole = text.length <= SHOWN_WHOLE;
  return (
    <div className={classes.json}>
      <div className={classes.tools}>
        <CopyButton text={text} label={t('common.copyJson')} size={24} />
        <DownloadButton name={`${file}.json`} text={() => text} />
      </div>
      <Editor
        value={whole ? text : text.slice(0, SHOWN_PART)}
        label={label}
        language={typeof value === 'string' ? 'text' : 'json'}
        readOnly
        maxHeight={maxHeight}
      />
      {!whole && (
        <div className={classes.cut}>
          {t('common.cut', { shown: formatBytes(SHOWN_PART), total: formatBytes(text.length) })}
        </div>
      )}
    </div>
  );
}
