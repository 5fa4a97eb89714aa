/** What says when: the fields of each kind of schedule. */
import { Button, SegmentedControl, Textarea, TextInput } from '@mantine/core';
import { t, word } from '@/i18n/t';
import type { FieldErrors } from '@/ui/form/fieldErrors';
import formClasses from '../form/form.module.css';
import { CronField } from './CronField';
import classes from './schedule.module.css';
import type { Calendar, ScheduleDraft } from './scheduleDraft';
import { WEEKDAYS } from './weekdays';

interface TimingProps {
  draft: ScheduleDraft;
  change: (part: Partial<ScheduleDraft>) => void;
  errors: FieldErrors;
  words: string | undefined;
}

export function Timing({ draft, change, errors, words }: TimingProps) {
  const said = draft.kind !== 'cron' && words && (
    <output className={classes.wordsBelow}>{words}</output>
  );
  switch (draft.kind) {
    case 'cron':
      return (
        <CronField
          value={draft.cron}
          onChange={(cron) => change({ cron })}
          words={words}
          error={errors.at('cron_expression')}
        />
      );
    case 'interval':
      return (
        <>
          <div className={formClasses.row}>
            <TextInput
              className={formClasses.short}
              label={t('trigger.every')}
              description={t('trigger.everyHint')}
              required
              value={draft.every}
              error={errors.at('every')}
              onChange={(event) => change({ every: event.currentTarget.value })}
            />
            <TextInput
              className={formClasses.grow}
              label={t('trigger.anchor')}
              description={t('trigger.anchorHint')}
              placeholder="2026-11-15T09:30:00Z"
              value={draft.anchor}
              error={errors.at('anchor')}
              onChange={(event) => change({ anchor: event.currentTarget.value })}
            />
          </div>
          {said}
        </>
      );
    case 'once':
      return (
        <>
          <div className={formClasses.row}>
            <Textarea
              className={`${formClasses.grow} ${formClasses.mono}`}
              label={t('trigger.at')}
              description={t('trigger.atHint')}
              placeholder={'2026-12-24T18:00\n2026-12-31T23:59:30+08:00'}
              required
              autosize
              minRows={2}
              maxRows={8}
              value={draft.at}
              error={errors.at('at')}
              onChange={(event) => change({ at: event.currentTarget.value })}
            />
          </div>
          {said}
        </>
      );
    case 'calendar':
      return (
        <>
          <CalendarFields draft={draft} change={change} errors={errors} />
          {said}
        </>
      );
  }
}

function CalendarFields({ draft, change, errors }: Omit<TimingProps, 'words'>) {
  const { calendar } = draft;
  return (
    <div className={formClasses.fields}>
      <div>
        <SegmentedControl
          aria-label={t('trigger.calendar')}
          data={(['daily', 'weekly', 'monthly'] as const).map((value) => ({
            value,
            label: word('trigger.calendar', value),
          }))}
          value={calendar}
          onChange={(value) => change({ calendar: value as Calendar })}
        />
      </div>
      {calendar === 'weekly' && (
        <div>
          <div className={formClasses.label} id="weekdays">
            {t('trigger.days')}
          </div>
          <div className={classes.weekdays} role="group" aria-labelledby="weekdays">
            {WEEKDAYS.map((day) => {
              const on = draft.weekdays.includes(day);
              return (
                <Button
                  key={day}
                  size="compact-sm"
                  variant={on ? 'light' : 'default'}
                  aria-pressed={on}
                  onClick={() =>
                    change({
                      weekdaysText: '',
                      weekdays: on
                        ? draft.weekdays.filter((each) => each !== day)
                        : [...draft.weekdays, day],
                    })
                  }
                >
                  {word('trigger.day', day)}
                </Button>
              );
            })}
          </div>
          {errors.has('weekly.dayOfWeek') && (
            <div className={formClasses.wrong}>{errors.at('weekly.dayOfWeek')}</div>
          )}
        </div>
      )}
      <div className={formClasses.row}>
        {calendar === 'monthly' && (
          <TextInput
            className={formClasses.grow}
            label={t('trigger.monthdays')}
            description={t('trigger.monthdaysHint')}
            required
            value={draft.monthdays}
            error={errors.at('monthly.dayOfMonth')}
            onChange={(event) => change({ monthdays: event.currentTarget.value })}
          />
        )}
        <TextInput
          className={formClasses.grow}
          label={t('trigger.times')}
          description={t('trigger.timesHint')}
          required
          value={draft.times}
          error={
            errors.at(`${calendar}.time`) ??
            (errors.has(calendar) && !errors.has('weekly.dayOfWeek', 'monthly.dayOfMonth')
              ? errors.at(calendar)
              : undefined)
          }
          onChange={(event) => change({ times: event.currentTarget.value })}
        />
      </div>
    </div>
  );
}
