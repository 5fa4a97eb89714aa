/** When the schedule of the form would begin its next cycles, in words and as times. */
import { useDebouncedValue } from '@mantine/hooks';
import { useQuery } from '@tanstack/react-query';
import { ApiProblem } from '@/api/problem';
import { schedulePreview } from '@/api/queries/triggers';
import { language } from '@/i18n/t';
import { formatFull } from '@/time/format';
import { isZone } from '@/time/zone';
import { Time } from '@/ui/time/Time';
import type { TaskDraft } from './draft';
import { previewOf } from './preview';
import classes from './scheduled.module.css';

const SHOWN = 3;
const DEBOUNCE_MS = 300;

export function SchedulePreview({ draft }: { draft: TaskDraft }) {
  const [settings] = useDebouncedValue(JSON.stringify(previewOf(draft)), DEBOUNCE_MS);
  const asked = JSON.parse(settings) as ReturnType<typeof previewOf>;
  const query = useQuery({
    ...schedulePreview(asked as never, SHOWN),
    enabled: asked !== null,
  });
  if (asked === null) return null;
  if (query.isError) {
    const refused = query.error instanceof ApiProblem && query.error.fields[0];
    return refused ? (
      <p className={classes.wrong} role="status">
        {refused.message}
      </p>
    ) : null;
  }
  if (!query.data) return null;
  const { description, description_zh, next, notes, notes_zh } = query.data;
  const chinese = language() === 'zh-TW';
  const zone = isZone(draft.timezone) ? draft.timezone : 'UTC';
  return (
    <div className={classes.preview} role="status">
      <strong>{chinese ? description_zh || description : description}</strong>
      <ul>
        {next.map((slot) => (
          <li key={slot.at}>
            <Time at={slot.at} as="full" zone={zone} />
            <span className={classes.muted}>
              {formatFull(Date.parse(slot.at), zone).replace('.000', '')} {zone}
            </span>
          </li>
        ))}
      </ul>
      {((chinese && notes_zh) || notes).map((note) => (
        <span key={note} className={classes.previewNote}>
          {note}
        </span>
      ))}
    </div>
  );
}
