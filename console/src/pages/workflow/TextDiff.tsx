/** Two texts of a definition with their differences, side by side or unified. */
import { SegmentedControl } from '@mantine/core';
import { useMediaQuery } from '@mantine/hooks';
import { useState } from 'react';
import { t } from '@/i18n/t';
import { Diff } from '@/ui/editor/Editor';
import classes from './workflow.module.css';

const SIDE_BY_SIDE = '(min-width: 900px)';

interface TextDiffProps {
  before: string;
  after: string;
  labels: [string, string];
  format: 'json' | 'yaml';
}

export function TextDiff({ before, after, labels, format }: TextDiffProps) {
  const wide = useMediaQuery(SIDE_BY_SIDE, true, { getInitialValueInEffect: false });
  const [chosen, setChosen] = useState<string>();
  const shape = chosen ?? (wide ? 'split' : 'unified');
  if (before === after) return null;
  return (
    <div className={classes.diff}>
      <div className={classes.diffHead}>
        <span>{labels[0]}</span>
        <span>{labels[1]}</span>
        <SegmentedControl
          aria-label={t('workflow.diffShape')}
          value={shape}
          onChange={setChosen}
          data={[
            { value: 'split', label: t('workflow.diffSplit') },
            { value: 'unified', label: t('workflow.diffUnified') },
          ]}
        />
      </div>
      <Diff
        key={shape}
        before={before}
        after={after}
        label={t('workflow.textDiff')}
        language={format}
        unified={shape === 'unified'}
        maxHeight={360}
      />
    </div>
  );
}
