/** How each is retried: where it begins, by whose policy, and how its input changes. */
import { Radio, SegmentedControl, Switch } from '@mantine/core';
import { t } from '@/i18n/t';
import { Editor } from '@/ui/editor/Editor';
import classes from './bulk.module.css';
import type { Transform, TransformKind } from './transform';

export interface RetryWish {
  from: 'start' | 'failed_step';
  /** By the workflow's policy, instead of once. */
  retries: boolean;
  transform: Transform;
}

interface OptionsProps {
  wish: RetryWish;
  change: (wish: RetryWish) => void;
  /** What is wrong with the transform; empty if there is none yet. */
  problem: string | undefined;
}

export function Options({ wish, change, problem }: OptionsProps) {
  const { transform } = wish;
  return (
    <>
      <div className={classes.choices}>
        <Radio.Group
          label={t('dlq.from')}
          value={wish.from}
          onChange={(from) => change({ ...wish, from: from as RetryWish['from'] })}
        >
          <div className={classes.radios}>
            <Radio value="start" label={t('dlq.fromStart')} description={t('dlq.fromStartNote')} />
            <Radio
              value="failed_step"
              label={t('dlq.fromStep')}
              description={t('dlq.fromStepNote')}
            />
          </div>
        </Radio.Group>
        <Switch
          label={t('bulk.retries')}
          description={t('bulk.retriesNote')}
          checked={wish.retries}
          onChange={(event) => change({ ...wish, retries: event.currentTarget.checked })}
        />
      </div>
      <div className={classes.transform}>
        <span id="bulk-transform">{t('bulk.transform')}</span>
        <SegmentedControl
          aria-labelledby="bulk-transform"
          value={transform.kind}
          onChange={(kind) =>
            change({ ...wish, transform: { ...transform, kind: kind as TransformKind } })
          }
          data={[
            { value: 'none', label: t('bulk.transform.none') },
            { value: 'merge', label: t('bulk.transform.merge') },
            { value: 'template', label: t('bulk.transform.template') },
          ]}
        />
      </div>
      {transform.kind !== 'none' && (
        <div>
          <p className={classes.text}>
            {t(
              transform.kind === 'merge' ? 'bulk.transform.mergeText' : 'bulk.transform.wholeText',
            )}{' '}
            {t('bulk.transform.places')} <code>{'${input.order}'}</code>{' '}
            <code>{'${error.code}'}</code> <code>{'${letter.id}'}</code>{' '}
            <code>{'${input.note ?? "none"}'}</code>
          </p>
          <Editor
            value={transform.text}
            onChange={(text) => change({ ...wish, transform: { ...transform, text } })}
            label={t('bulk.transform')}
            language="json"
            minHeight={96}
            maxHeight={280}
          />
          {problem && (
            <p className={classes.wrong} role="alert">
              {t('dlq.notJson', { error: problem })}
            </p>
          )}
        </div>
      )}
    </>
  );
}
