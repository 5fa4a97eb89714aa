/** Before a paused trigger goes on: what becomes of the times that passed meanwhile? */
import { Radio } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { previewSchedule, type Trigger, triggerKey } from '@/api/queries/triggers';
import { t, word } from '@/i18n/t';
import { serverNow } from '@/live/clock';
import { formatInstant } from '@/time/format';
import { Confirm } from '@/ui/confirm/Confirm';
import type { Request } from '@/ui/confirm/curl';
import { settingsOnly } from './form/settings';
import classes from './triggers.module.css';
import { titleOf } from './words';

/** The most that are counted. */
const MOST = 100;

export interface MissedTimes {
  count: number;
  more: boolean;
  first?: string;
  last?: string;
}

/** The planned times since the trigger was paused (its last change), as far as the server can tell. */
export function useMissedWhilePaused(trigger: Trigger, enabled: boolean): MissedTimes | undefined {
  return useQuery({
    queryKey: [...triggerKey(trigger.id), 'paused-times', trigger.version],
    queryFn: async (): Promise<MissedTimes> => {
      const now = serverNow();
      const plan = await previewSchedule(
        { ...settingsOnly(trigger), trigger_type: trigger.trigger_type },
        MOST,
        trigger.updated_at,
      );
      const passed = plan.next.filter((slot) => Date.parse(slot.at) <= now);
      return {
        count: passed.length,
        more: passed.length >= MOST,
        first: passed[0]?.at,
        last: passed.at(-1)?.at,
      };
    },
    enabled: enabled && !trigger.enabled && trigger.trigger_type !== 'webhook' && !trigger.problem,
    retry: false,
    staleTime: 0,
  }).data;
}

interface CatchUpProps {
  opened: boolean;
  onClose: () => void;
  trigger: Trigger;
  missed: MissedTimes | undefined;
  request: (catchUp: boolean) => Request;
  run: (catchUp: boolean) => Promise<unknown>;
}

export function CatchUp({ opened, onClose, trigger, missed, request, run }: CatchUpProps) {
  const [choice, setChoice] = useState('skip');
  const catchUp = choice === 'catch_up';
  const misfire = String(trigger.misfire ?? 'fire_once');
  return (
    <Confirm
      opened={opened}
      onClose={onClose}
      title={t('triggers.enableTitle', { name: titleOf(trigger) })}
      action={t('triggers.enable')}
      request={request(catchUp)}
      run={() => run(catchUp)}
    >
      <div className={classes.stack}>
        <div>{missedWords(missed)}</div>
        <Radio.Group aria-label={t('triggers.catchUpQuestion')} value={choice} onChange={setChoice}>
          <div className={classes.choices}>
            <Radio
              value="skip"
              label={t('triggers.catchUpNo')}
              description={t('triggers.catchUpNoText')}
            />
            <Radio
              value="catch_up"
              label={t('triggers.catchUpYes')}
              description={word('triggers.catchUpBy', misfire)}
            />
          </div>
        </Radio.Group>
      </div>
    </Confirm>
  );
}

function missedWords(missed: MissedTimes | undefined): string {
  if (!missed) return t('triggers.missedUnknown');
  if (missed.count === 0) return t('triggers.missedNone');
  const at = (text: string | undefined) => (text ? formatInstant(Date.parse(text)) : '');
  return t(missed.more ? 'triggers.missedMore' : 'triggers.missedSome', {
    count: missed.count,
    from: at(missed.first),
    to: at(missed.last),
  });
}
