/** The state of a trigger. */
import type { Trigger } from '@/api/queries/triggers';
import { word } from '@/i18n/t';
import { Status } from '@/ui/status/Status';
import { toneOf } from '@/ui/status/status';
import { stateOf } from './words';

export function StateBadge({ trigger }: { trigger: Trigger }) {
  const state = stateOf(trigger);
  return (
    <Status
      value={state}
      label={word('triggers.state', state)}
      tone={state === 'broken' ? 'failed' : toneOf(state)}
    />
  );
}
