/** A list of tick boxes; what is not offered can be added. */
import { ActionIcon, Checkbox, TextInput } from '@mantine/core';
import { type ReactNode, useId, useState } from 'react';
import { t } from '@/i18n/t';
import { IconPlus } from '@/ui/icons';
import classes from './retry.module.css';

interface TicksProps {
  label: string;
  text: string;
  offered: readonly string[];
  value: string[];
  onChange: (value: string[]) => void;
  words: (value: string) => string;
  /** Lets more be added: statuses, classes (`5xx`), ranges (`500-504`). */
  addLabel?: string;
  error?: string;
  children?: ReactNode;
}

const STATUS = /^[1-5](\d{2}(-[1-5]\d{2})?|xx)$/i;

export function Ticks(props: TicksProps) {
  const { offered, value, onChange } = props;
  const id = useId();
  const [seen, setSeen] = useState<string[]>([]);
  const [typed, setTyped] = useState('');
  const [bad, setBad] = useState(false);
  // What was ticked once stays to be ticked again.
  const all = [...new Set([...offered, ...seen, ...value])];
  const set = (name: string, on: boolean) => {
    if (!seen.includes(name)) setSeen([...seen, name]);
    onChange(all.filter((each) => (each === name ? on : value.includes(each))));
  };
  const add = () => {
    const name = typed.replace(/\s/g, '').toLowerCase();
    if (!name) return;
    if (!STATUS.test(name)) return setBad(true);
    setTyped('');
    if (!value.includes(name)) onChange([...value, name]);
  };
  return (
    <div role="group" aria-labelledby={id} className={classes.ticks}>
      <div id={id} className={classes.ticksLabel}>
        {props.label}
      </div>
      <div className={classes.ticksText}>{props.text}</div>
      {all.map((name) => (
        <Checkbox
          key={name}
          label={props.words(name)}
          checked={value.includes(name)}
          onChange={(event) => set(name, event.currentTarget.checked)}
        />
      ))}
      {props.addLabel && (
        <TextInput
          aria-label={props.addLabel}
          placeholder={t('retry.addPlaceholder')}
          className={classes.add}
          value={typed}
          error={bad ? t('retry.notStatus') : undefined}
          onChange={(event) => {
            setTyped(event.currentTarget.value);
            setBad(false);
          }}
          onKeyDown={(event) => {
            if (event.key !== 'Enter') return;
            event.preventDefault();
            add();
          }}
          rightSection={
            <ActionIcon size={22} aria-label={props.addLabel} onClick={add}>
              <IconPlus size={14} />
            </ActionIcon>
          }
        />
      )}
      {props.error && (
        <p className={classes.bad} role="alert">
          {props.error}
        </p>
      )}
      {props.children}
    </div>
  );
}
