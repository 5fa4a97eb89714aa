/** When it would fire next, with the offset and what changes of the clock do. */
import { Button } from '@mantine/core';
import type { PreviewedSlot, SchedulePreview } from '@/api/queries/triggers';
import { language, t } from '@/i18n/t';
import { useNow } from '@/live/clock';
import { formatRelative } from '@/time/format';
import { IconAlertTriangle } from '@/ui/icons';
import { Panel } from '@/ui/page/Page';
import { localText } from '../slots';
import { ours } from '../words';
import classes from './schedule.module.css';

export const SHORT = 2;
export const LONG = 10;

interface PlanProps {
  /** Nothing while it is read, or where settings are wrong. */
  preview: SchedulePreview | undefined;
  /** Planned times of the saved trigger, where the server cannot preview. */
  saved: readonly string[];
  /** Why nothing can be shown. */
  problem: string | undefined;
  /** What the next changes of the clock do. */
  changes: readonly PreviewedSlot[];
  enabled: boolean;
  stale: boolean;
  long: boolean;
  setLong: (long: boolean) => void;
}

export function Plan(props: PlanProps) {
  const { preview, saved, problem, enabled, stale, long, setLong } = props;
  const now = useNow();
  const slots =
    preview?.next.slice(0, long ? LONG : SHORT) ??
    saved.map((local) => ({ at: local, local, offset: '', note: null, note_zh: null }));
  const notes = preview
    ? ((language() === 'zh-TW' ? preview.notes_zh : undefined) ?? preview.notes)
    : [];
  return (
    <Panel
      title={t('trigger.plan')}
      actions={
        preview && (
          <Button variant="subtle" size="compact-xs" onClick={() => setLong(!long)}>
            {long ? t('trigger.showTwo') : t('trigger.showTen')}
          </Button>
        )
      }
    >
      <div className={classes.plan} aria-live="polite" aria-busy={stale}>
        {!enabled && <div className={classes.away}>{t('trigger.planPaused')}</div>}
        {problem && <div className={classes.away}>{problem}</div>}
        <ol className={enabled && !stale ? classes.slots : `${classes.slots} ${classes.paused}`}>
          {slots.map((slot, index) => (
            <li key={slot.at}>
              <span>
                {index === 0 ? t('trigger.nextOne') : index === 1 ? t('trigger.thenOne') : ''}
              </span>
              <span className={classes.moment}>
                <span className={index === 0 ? classes.first : undefined}>
                  {localText(slot.local)}
                </span>
                <span className={classes.away}>{formatRelative(Date.parse(slot.at), now)}</span>
              </span>
              {slot.note && (
                <span className={classes.slotNote}>{ours(slot.note, slot.note_zh)}</span>
              )}
            </li>
          ))}
        </ol>
        {preview && slots.length === 0 && (
          <div className={classes.away}>{t('trigger.noneLeft')}</div>
        )}
        {props.changes.length > 0 && (
          <ul className={classes.changes}>
            {props.changes.map((slot) => (
              <li key={slot.at}>
                <IconAlertTriangle size={13} aria-hidden="true" />
                <span>
                  {localText(slot.local)}: {ours(slot.note ?? '', slot.note_zh)}
                </span>
              </li>
            ))}
          </ul>
        )}
        {notes.length > 0 && (
          <ul className={classes.notes}>
            {notes.map((note) => (
              <li key={note}>{note}</li>
            ))}
          </ul>
        )}
      </div>
    </Panel>
  );
}
