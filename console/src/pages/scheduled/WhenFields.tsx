/** The schedule of the form: its kind, and the fields that this kind has. */
import { Autocomplete, Chip, Switch, TextInput } from '@mantine/core';
import { useMemo } from 'react';
import { t, word } from '@/i18n/t';
import { zoneName } from '@/time/zone';
import { Panel } from '@/ui/page/Page';
import { SCHEDULE_TYPES } from './draft';
import { SchedulePreview } from './SchedulePreview';
import classes from './scheduled.module.css';
import type { FieldProps } from './TaskForm';

/** Monday first, as calendars here have it. */
const DAYS = ['1', '2', '3', '4', '5', '6', '0'];

export function WhenFields(props: FieldProps) {
  const { draft, set, wrong } = props;
  const zone = zoneName();
  const recurring = !/^(immediate|once)$/.test(draft.scheduleType);
  return (
    <Panel title={t('scheduled.f.when')}>
      <div className={classes.grid}>
        <fieldset className={classes.chips}>
          <legend>{t('scheduled.f.scheduleType')}</legend>
          <Chip.Group
            value={draft.scheduleType}
            onChange={(next) => set({ scheduleType: next as string })}
          >
            {SCHEDULE_TYPES.map((value) => (
              <Chip key={value} value={value} size="xs">
                {word('scheduled.schedule', value)}
              </Chip>
            ))}
          </Chip.Group>
        </fieldset>
        {draft.scheduleType === 'once' && (
          <TextInput
            type="datetime-local"
            label={t('scheduled.f.executeAt', { zone })}
            value={draft.executeAt}
            error={wrong('scheduleConfig.executeAt')}
            onChange={(event) => set({ executeAt: event.currentTarget.value })}
          />
        )}
        {draft.scheduleType === 'cron' && (
          <TextInput
            label={t('scheduled.f.cron')}
            description={t('scheduled.f.cronNote')}
            classNames={{ input: classes.mono }}
            value={draft.cron}
            error={wrong('scheduleConfig.cron')}
            onChange={(event) => set({ cron: event.currentTarget.value })}
          />
        )}
        {draft.scheduleType === 'weekly' && (
          <fieldset className={classes.chips}>
            <legend>{t('scheduled.f.dayOfWeek')}</legend>
            <Chip.Group
              multiple
              value={draft.daysOfWeek}
              onChange={(daysOfWeek) => set({ daysOfWeek: [...daysOfWeek].sort() })}
            >
              {DAYS.map((day) => (
                <Chip key={day} value={day} size="xs">
                  {word('scheduled.day', day)}
                </Chip>
              ))}
            </Chip.Group>
            {wrong('scheduleConfig.dayOfWeek') && (
              <p className={classes.wrong}>{wrong('scheduleConfig.dayOfWeek')}</p>
            )}
          </fieldset>
        )}
        {draft.scheduleType === 'monthly' && (
          <TextInput
            label={t('scheduled.f.dayOfMonth')}
            description={t('scheduled.f.dayOfMonthNote')}
            value={draft.dayOfMonth}
            error={wrong('scheduleConfig.dayOfMonth')}
            onChange={(event) => set({ dayOfMonth: event.currentTarget.value })}
          />
        )}
        {/^(daily|weekly|monthly)$/.test(draft.scheduleType) && (
          <TextInput
            label={t('scheduled.f.time')}
            description={t('scheduled.f.timeNote')}
            value={draft.time}
            error={wrong('scheduleConfig.time')}
            onChange={(event) => set({ time: event.currentTarget.value })}
          />
        )}
        {recurring && <RecurringFields {...props} zone={zone} />}
        {draft.scheduleType !== 'immediate' && (
          <TextInput
            label={t('scheduled.f.description')}
            value={draft.description}
            error={wrong('scheduleConfig.description')}
            onChange={(event) => set({ description: event.currentTarget.value })}
          />
        )}
      </div>
      {recurring && <SchedulePreview draft={draft} />}
    </Panel>
  );
}

function RecurringFields({ draft, set, wrong, zone }: FieldProps & { zone: string }) {
  const zones = useMemo(() => ['UTC', ...Intl.supportedValuesOf('timeZone')], []);
  return (
    <>
      <Autocomplete
        label={t('scheduled.f.timezone')}
        placeholder="UTC"
        data={zones}
        limit={20}
        value={draft.timezone}
        error={wrong('scheduleConfig.timezone')}
        onChange={(timezone) => set({ timezone })}
      />
      <Switch
        className={classes.switch}
        label={t('scheduled.f.isRecurring')}
        description={t('scheduled.f.isRecurringNote')}
        checked={draft.isRecurring}
        onChange={(event) => set({ isRecurring: event.currentTarget.checked })}
      />
      <TextInput
        type="datetime-local"
        label={t('scheduled.f.startTime', { zone })}
        value={draft.startTime}
        error={wrong('startTime')}
        onChange={(event) => set({ startTime: event.currentTarget.value })}
      />
      <TextInput
        type="datetime-local"
        label={t('scheduled.f.endTime', { zone })}
        value={draft.endTime}
        error={wrong('endTime')}
        onChange={(event) => set({ endTime: event.currentTarget.value })}
      />
    </>
  );
}
