/** The form of a cron trigger or a schedule: what says when, the zone, on or off, and all options. */
import { Switch } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { type ReactNode, useMemo, useState } from 'react';
import {
  isUnknownCall,
  type PreviewedSlot,
  type SchedulePreview,
  schedulePreview,
  type Trigger,
} from '@/api/queries/triggers';
import { t } from '@/i18n/t';
import { FieldErrors } from '@/ui/form/fieldErrors';
import { useSettled } from '@/ui/form/useSettled';
import { Panel } from '@/ui/page/Page';
import classes from '../form/form.module.css';
import { sameDraft } from '../form/useFormDraft';
import { ours } from '../words';
import { Options } from './Options';
import { LONG, Plan } from './Plan';
import { type ScheduleDraft, scheduleSettings } from './scheduleDraft';
import { Timing } from './Timing';
import { useClockChanges } from './useClockChanges';
import { ZoneSelect } from './ZoneSelect';

/** Names of settings that the form shows an error at. */
export const SCHEDULE_FIELDS = [
  'name',
  'description',
  'cron_expression',
  'every',
  'anchor',
  'at',
  'daily',
  'weekly',
  'monthly',
  'timezone',
  'start',
  'end',
  'jitter',
  'dst',
  'overlap',
  'misfire',
  'misfire_max',
  'misfire_window',
  'dead_man',
  'input',
  'retry',
] as const;

export interface SchedulePlan {
  preview: SchedulePreview | undefined;
  error: unknown;
  /** The plan of what was typed before. */
  stale: boolean;
  /** Planned times that the next changes of the clock move or repeat. */
  changes: readonly PreviewedSlot[];
}

/** What the server makes of the settings as they are typed. */
export function usePlan(draft: ScheduleDraft): SchedulePlan {
  const settings = useMemo(() => {
    const { enabled: _, ...rest } = scheduleSettings(draft);
    return rest;
  }, [draft]);
  const settled = useSettled(settings, sameDraft);
  const query = useQuery(schedulePreview(settled, LONG));
  const matters = !query.isError && !query.isPlaceholderData && !!query.data?.notes.length;
  const changes = useClockChanges(settled, query.data?.timezone ?? draft.timezone, matters);
  return {
    preview: query.isError ? undefined : query.data,
    error: query.isError ? query.error : undefined,
    stale: settled !== settings || query.isPlaceholderData,
    changes: matters ? changes : [],
  };
}

interface ScheduleFormProps {
  /** Nothing for a new one. */
  trigger?: Trigger;
  workflow: string;
  draft: ScheduleDraft;
  change: (part: Partial<ScheduleDraft>) => void;
  plan: SchedulePlan;
  /** What was refused at the last save. */
  refused: unknown;
  types: ReactNode;
}

export function ScheduleForm(props: ScheduleFormProps) {
  const { trigger, draft, change, plan, refused } = props;
  const [long, setLong] = useState(false);
  const errors = useMemo(() => new FieldErrors(refused, plan.error), [refused, plan.error]);
  const { preview } = plan;
  const words = preview && ours(preview.description, preview.description_zh);
  const unknown = plan.error !== undefined && isUnknownCall(plan.error);
  return (
    <div className={classes.layout} data-side>
      <div className={classes.column}>
        <Panel title={t('trigger.when')}>
          <div className={classes.fields}>
            {props.types}
            <Timing draft={draft} change={change} errors={errors} words={words} />
            <div className={classes.statusRow}>
              <div className={classes.grow}>
                <ZoneSelect
                  value={draft.timezone}
                  onChange={(timezone) => change({ timezone })}
                  error={errors.at('timezone')}
                />
              </div>
              <div className={classes.grow}>
                <div className={classes.label}>{t('trigger.status')}</div>
                <Switch
                  label={draft.enabled ? t('trigger.enabled') : t('trigger.disabled')}
                  checked={draft.enabled}
                  onChange={(event) => change({ enabled: event.currentTarget.checked })}
                />
              </div>
            </div>
          </div>
        </Panel>
        <Panel flush title={t('trigger.options')}>
          <Options draft={draft} change={change} errors={errors} workflow={props.workflow} />
        </Panel>
      </div>
      <div className={`${classes.column} ${classes.side}`}>
        <Plan
          preview={preview}
          saved={unknown && trigger ? (trigger.next_executions ?? []) : []}
          problem={
            unknown
              ? t('trigger.noPreview')
              : plan.error !== undefined
                ? t('trigger.planWrong')
                : undefined
          }
          changes={plan.changes}
          enabled={draft.enabled}
          stale={plan.stale}
          long={long}
          setLong={setLong}
        />
      </div>
    </div>
  );
}
