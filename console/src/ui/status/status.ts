/** What each status looks like: a tone (colours of tokens.css) and an icon. Words come from i18n `status.*`. */
import type { Icon } from '@tabler/icons-react';
import {
  IconArrowBackUp,
  IconBan,
  IconCheck,
  IconCircleDashed,
  IconClockExclamation,
  IconHourglass,
  IconInboxOff,
  IconLoader2,
  IconPlayerPause,
  IconRotate,
  IconX,
} from '../icons';

export type Tone =
  | 'pending'
  | 'running'
  | 'retrying'
  | 'waiting'
  | 'paused'
  | 'completed'
  | 'failed'
  | 'dlq'
  | 'cancelled'
  | 'late'
  | 'compensated';

export const TONE_ICON: Record<Tone, Icon> = {
  pending: IconCircleDashed,
  running: IconLoader2,
  retrying: IconRotate,
  waiting: IconHourglass,
  paused: IconPlayerPause,
  completed: IconCheck,
  failed: IconX,
  dlq: IconInboxOff,
  cancelled: IconBan,
  late: IconClockExclamation,
  compensated: IconArrowBackUp,
};

/** Statuses of other things, by their look. */
const ALIKE: Record<string, Tone> = {
  skipped: 'cancelled',
  ok: 'completed',
  removed: 'cancelled',
  deleted: 'cancelled',
  disabled: 'paused',
  locked: 'running',
  processing: 'running',
  active: 'completed',
  alive: 'completed',
  idle: 'pending',
  dead: 'failed',
  lost: 'failed',
  fired: 'completed',
  recovered: 'completed',
  missed: 'failed',
  overdue: 'late',
  parked: 'late',
  resolved: 'completed',
  success: 'completed',
  timeout: 'failed',
  trigger_failed: 'failed',
  triggered: 'completed',
  filtered: 'pending',
  duplicate: 'pending',
  auth_failed: 'failed',
  ip_refused: 'failed',
  error: 'failed',
  too_large: 'late',
  rate_limited: 'late',
  planned: 'pending',
  enabled: 'completed',
  finished: 'pending',
  accepted: 'completed',
  sending: 'running',
  broken: 'failed',
  firing: 'failed',
  breaker_closed: 'completed',
  breaker_open: 'failed',
  breaker_half_open: 'running',
  breaker_closing: 'retrying',
};

export function toneOf(status: string): Tone {
  const name = status.toLowerCase();
  return name in TONE_ICON ? (name as Tone) : (ALIKE[name] ?? 'pending');
}

/** Executions that will not change any more. */
export function isFinal(status: string): boolean {
  return /^(completed|failed|dlq|cancelled)$/.test(status);
}
