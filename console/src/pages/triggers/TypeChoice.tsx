/** What starts the workflow. The type of a saved trigger stays; a new one may be anything. */
import { Radio } from '@mantine/core';
import { t, word } from '@/i18n/t';
import classes from './form/form.module.css';

export const CHOICES = ['cron', 'interval', 'calendar', 'once', 'webhook', 'manual'] as const;
export type Choice = (typeof CHOICES)[number];

interface TypeChoiceProps {
  value: Choice;
  onChange: (choice: Choice) => void;
  /** Those that can be chosen; all without. */
  allowed?: readonly Choice[];
}

export function TypeChoice({ value, onChange, allowed }: TypeChoiceProps) {
  return (
    <Radio.Group
      label={t('trigger.type')}
      required
      value={value}
      onChange={(choice) => onChange(choice as Choice)}
      description={allowed ? t('trigger.typeStays') : undefined}
    >
      <div className={classes.typeRow}>
        {CHOICES.map((choice) => (
          <Radio
            key={choice}
            value={choice}
            label={word('trigger.type', choice)}
            disabled={allowed !== undefined && !allowed.includes(choice)}
          />
        ))}
      </div>
    </Radio.Group>
  );
}
