/** Everything beside the times: overlap, downtime, clock changes, jitter, bounds, dead-man check, input, retry. */
import { Radio, Select, TextInput } from '@mantine/core';
import { t, word } from '@/i18n/t';
import { Editor } from '@/ui/editor/Editor';
import type { FieldErrors } from '@/ui/form/fieldErrors';
import { About } from '../form/About';
import classes from '../form/form.module.css';
import { RetryFields } from '../form/RetryFields';
import { Section } from '../form/Section';
import { jsonProblem } from '../form/settings';
import type { ScheduleDraft } from './scheduleDraft';

interface OptionsProps {
  draft: ScheduleDraft;
  change: (part: Partial<ScheduleDraft>) => void;
  errors: FieldErrors;
  workflow: string;
}

const OVERLAPS = ['allow', 'skip', 'buffer_one', 'cancel_previous'] as const;
const MISFIRES = ['fire_once', 'fire_all', 'skip'] as const;
const DEAD_MEN = ['none', 'grace', 'success_within'] as const;

export function Options(props: OptionsProps) {
  const { draft, change, errors, workflow } = props;
  return (
    <>
      <About draft={draft} change={change} errors={errors} />
      <Section
        title={t('trigger.overlap')}
        summary={word('trigger.overlap', draft.overlap)}
        wrong={errors.has('overlap')}
      >
        <Radio.Group
          aria-label={t('trigger.overlap')}
          value={draft.overlap}
          error={errors.at('overlap')}
          onChange={(overlap) => change({ overlap })}
        >
          <div className={classes.choices}>
            {OVERLAPS.map((value) => (
              <Radio
                key={value}
                value={value}
                label={word('trigger.overlap', value)}
                description={word('trigger.overlapText', value)}
              />
            ))}
          </div>
        </Radio.Group>
      </Section>
      <Downtime {...props} />
      <Clock {...props} />
      <Bounds {...props} />
      <DeadMan {...props} />
      <Input {...props} />
      <RetryFields
        value={draft.retry}
        onChange={(retry) => change({ retry })}
        errors={errors}
        workflow={workflow}
      />
    </>
  );
}

function Downtime({ draft, change, errors }: OptionsProps) {
  return (
    <Section
      title={t('trigger.misfire')}
      summary={word('trigger.misfire', draft.misfire)}
      wrong={errors.has('misfire', 'misfire_max', 'misfire_window')}
    >
      <Radio.Group
        aria-label={t('trigger.misfire')}
        description={t('trigger.misfireHint')}
        value={draft.misfire}
        error={errors.at('misfire')}
        onChange={(misfire) => change({ misfire })}
      >
        <div className={classes.choices}>
          {MISFIRES.map((value) => (
            <Radio key={value} value={value} label={word('trigger.misfire', value)} />
          ))}
        </div>
      </Radio.Group>
      {draft.misfire !== 'skip' && (
        <div className={classes.row}>
          {draft.misfire === 'fire_all' && (
            <TextInput
              className={classes.short}
              label={t('trigger.misfireMax')}
              placeholder="100"
              inputMode="numeric"
              value={draft.misfireMax}
              error={errors.at('misfire_max')}
              onChange={(event) => change({ misfireMax: event.currentTarget.value })}
            />
          )}
          <TextInput
            className={classes.short}
            label={t('trigger.misfireWindow')}
            placeholder="24h"
            value={draft.misfireWindow}
            error={errors.at('misfire_window')}
            onChange={(event) => change({ misfireWindow: event.currentTarget.value })}
          />
        </div>
      )}
    </Section>
  );
}

function Clock({ draft, change, errors }: OptionsProps) {
  const summary = `${word('trigger.gap', draft.gap)} · ${word('trigger.repeat', draft.repeat)}`;
  return (
    <Section title={t('trigger.dst')} summary={summary} wrong={errors.has('dst')}>
      <div className={classes.hint}>{t('trigger.dstHint')}</div>
      <div className={classes.row}>
        <Select
          className={classes.grow}
          label={t('trigger.gap')}
          data={(['next_valid', 'skip'] as const).map((value) => ({
            value,
            label: word('trigger.gap', value),
          }))}
          allowDeselect={false}
          value={draft.gap}
          error={errors.at('dst.gap')}
          onChange={(gap) => gap && change({ gap })}
        />
        <Select
          className={classes.grow}
          label={t('trigger.repeat')}
          data={(['first', 'last', 'both'] as const).map((value) => ({
            value,
            label: word('trigger.repeat', value),
          }))}
          allowDeselect={false}
          value={draft.repeat}
          error={errors.at('dst.repeat')}
          onChange={(repeat) => repeat && change({ repeat })}
        />
      </div>
    </Section>
  );
}

function Bounds({ draft, change, errors }: OptionsProps) {
  const summary = [
    draft.jitter && t('trigger.jitterShort', { jitter: draft.jitter }),
    draft.start && t('trigger.startShort', { at: draft.start }),
    draft.end && t('trigger.endShort', { at: draft.end }),
  ]
    .filter(Boolean)
    .join(' · ');
  return (
    <Section
      title={t('trigger.bounds')}
      summary={summary || t('trigger.none')}
      wrong={errors.has('jitter', 'start', 'end')}
    >
      <TextInput
        className={classes.short}
        label={t('trigger.jitter')}
        description={t('trigger.jitterHint')}
        placeholder="0s"
        value={draft.jitter}
        error={errors.at('jitter')}
        onChange={(event) => change({ jitter: event.currentTarget.value })}
      />
      <div className={classes.row}>
        {(['start', 'end'] as const).map((bound) => (
          <TextInput
            key={bound}
            className={classes.grow}
            label={bound === 'start' ? t('trigger.start') : t('trigger.end')}
            description={t('trigger.momentHint', { zone: draft.timezone })}
            placeholder="2026-11-15T09:30"
            value={draft[bound]}
            error={errors.at(bound)}
            onChange={(event) => change({ [bound]: event.currentTarget.value })}
          />
        ))}
      </div>
    </Section>
  );
}

function DeadMan({ draft, change, errors }: OptionsProps) {
  const summary =
    draft.deadMan === 'none'
      ? t('trigger.deadMan.none')
      : `${word('trigger.deadMan', draft.deadMan)} ${draft.deadManFor}`;
  return (
    <Section title={t('trigger.deadMan')} summary={summary} wrong={errors.has('dead_man')}>
      <Radio.Group
        aria-label={t('trigger.deadMan')}
        value={draft.deadMan}
        onChange={(value) => change({ deadMan: value as ScheduleDraft['deadMan'] })}
      >
        <div className={classes.choices}>
          {DEAD_MEN.map((value) => (
            <Radio
              key={value}
              value={value}
              label={word('trigger.deadMan', value)}
              description={word('trigger.deadManText', value)}
            />
          ))}
        </div>
      </Radio.Group>
      {draft.deadMan !== 'none' && (
        <TextInput
          className={classes.short}
          label={t('trigger.deadManFor')}
          placeholder="15m"
          value={draft.deadManFor}
          error={errors.at('dead_man')}
          onChange={(event) => change({ deadManFor: event.currentTarget.value })}
        />
      )}
    </Section>
  );
}

function Input({ draft, change, errors }: OptionsProps) {
  const wrong = jsonProblem(draft.input) ?? errors.at('input');
  const summary = draft.input.trim() === '' ? '{}' : draft.input.replace(/\s+/g, ' ').slice(0, 80);
  return (
    <Section
      title={t('trigger.input')}
      summary={<code>{summary}</code>}
      wrong={wrong !== undefined}
    >
      <div className={classes.hint}>{t('trigger.inputHint')}</div>
      <Editor
        value={draft.input}
        onChange={(input) => change({ input })}
        label={t('trigger.input')}
        language="json"
        minHeight={120}
        maxHeight={360}
      />
      {wrong && <div className={classes.wrong}>{wrong}</div>}
    </Section>
  );
}
