/** A status: colour, icon and word, always all three. */
import { word } from '@/i18n/t';
import { TONE_ICON, toneOf } from './status';
import classes from './status.module.css';

interface StatusProps {
  value: string;
  /** Another word than the status's own. */
  label?: string;
  /** Another look than the status's own. */
  tone?: ReturnType<typeof toneOf>;
  size?: 'sm' | 'md';
}

export function Status({ value, label, tone = toneOf(value), size = 'sm' }: StatusProps) {
  const Icon = TONE_ICON[tone];
  return (
    <span className={classes.badge} data-tone={tone} data-size={size}>
      <Icon
        size={size === 'sm' ? 12 : 14}
        stroke={2}
        aria-hidden="true"
        data-spin={tone === 'running' || undefined}
      />
      {label ?? word('status', value.toLowerCase())}
    </span>
  );
}
