/** One filter: its name and values; a click changes it, the cross removes it. */
import {
  ActionIcon,
  Autocomplete,
  Button,
  Checkbox,
  Popover,
  TextInput,
  UnstyledButton,
} from '@mantine/core';
import { useEffect, useState } from 'react';
import { t } from '@/i18n/t';
import { IconX } from '../icons';
import { type ChoiceField, type FilterField, split, type TextField, valueWords } from './filter';
import classes from './filter.module.css';

interface ChipProps {
  field: FilterField;
  value: string | undefined;
  startOpen: boolean;
  onChange: (value: string | undefined) => void;
  onClose: () => void;
}

export function Chip({ field, value, startOpen, onChange, onClose }: ChipProps) {
  const [opened, setOpened] = useState(startOpen);
  const close = () => {
    setOpened(false);
    onClose();
  };
  return (
    <Popover
      opened={opened}
      onChange={(next) => (next ? setOpened(true) : close())}
      trapFocus
      position="bottom-start"
    >
      <span className={classes.chip}>
        <Popover.Target>
          <UnstyledButton className={classes.chipText} onClick={() => setOpened(!opened)}>
            <span className={classes.chipName}>{field.label}</span>
            {value ? valueWords(field, value) : '…'}
          </UnstyledButton>
        </Popover.Target>
        <ActionIcon
          size={24}
          aria-label={t('common.removeFilter', { name: field.label })}
          onClick={() => {
            onChange(undefined);
            close();
          }}
        >
          <IconX size={12} />
        </ActionIcon>
      </span>
      <Popover.Dropdown className={classes.dropdown}>
        {field.kind === 'choice' ? (
          <Choices field={field} value={value} onChange={onChange} close={close} />
        ) : (
          <Words
            field={field}
            value={value}
            onChange={(next) => {
              onChange(next);
              close();
            }}
          />
        )}
      </Popover.Dropdown>
    </Popover>
  );
}

function Choices({
  field,
  value,
  onChange,
  close,
}: {
  field: ChoiceField;
  value: string | undefined;
  onChange: (value: string | undefined) => void;
  close: () => void;
}) {
  const chosen = split(value);
  if (!field.several)
    return field.options.map((option) => (
      <UnstyledButton
        key={option.value}
        className={classes.option}
        aria-pressed={chosen.includes(option.value)}
        onClick={() => {
          onChange(option.value);
          close();
        }}
      >
        {option.label}
      </UnstyledButton>
    ));
  const toggle = (one: string) =>
    onChange(
      (chosen.includes(one) ? chosen.filter((each) => each !== one) : [...chosen, one]).join(',') ||
        undefined,
    );
  return field.options.map((option) => (
    <Checkbox
      key={option.value}
      className={classes.check}
      label={option.label}
      checked={chosen.includes(option.value)}
      onChange={() => toggle(option.value)}
    />
  ));
}

function Words({
  field,
  value,
  onChange,
}: {
  field: TextField;
  value: string | undefined;
  onChange: (value: string | undefined) => void;
}) {
  const [text, setText] = useState(value ?? '');
  const [offers, setOffers] = useState<string[]>();
  useEffect(() => {
    field.suggest?.().then(setOffers, () => setOffers([]));
  }, [field]);
  const invalid = text !== '' && field.valid && !split(text).every(field.valid);
  const shared = {
    'aria-label': field.label,
    placeholder: field.placeholder,
    value: text,
    error: invalid || undefined,
    'data-autofocus': true,
  };
  return (
    <form
      className={classes.words}
      onSubmit={(event) => {
        event.preventDefault();
        if (!invalid) onChange(text.trim() || undefined);
      }}
    >
      {offers ? (
        <Autocomplete
          {...shared}
          data={offers}
          limit={12}
          onChange={setText}
          comboboxProps={{ withinPortal: false }}
        />
      ) : (
        <TextInput {...shared} onChange={(event) => setText(event.currentTarget.value)} />
      )}
      <Button type="submit" disabled={!!invalid}>
        {t('common.apply')}
      </Button>
    </form>
  );
}
