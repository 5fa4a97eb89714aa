/** The filters of a list as chips; typed text becomes chips; the URL keeps them. */
import { Button, Menu, TextInput } from '@mantine/core';
import { useRef, useState } from 'react';
import { t } from '@/i18n/t';
import { IconPlus, IconSearch } from '../icons';
import { useShortcuts } from '../keys/keys';
import { Chip } from './Chip';
import {
  clearFilter,
  type FilterField,
  type FilterValue,
  isFiltered,
  parseTyped,
  split,
} from './filter';
import classes from './filter.module.css';
import { Range } from './Range';

interface FilterBarProps {
  fields: FilterField[];
  value: FilterValue;
  onChange: (next: FilterValue) => void;
  /** What the search box finds, said in its empty state; none without `q`. */
  placeholder?: string;
  /** Without a range of time. */
  noRange?: boolean;
  /** Whether there is something to clear, where a page has filters by default. */
  clearable?: boolean;
  /** What the URL asked for and no field allows. */
  wrong?: readonly string[];
  children?: React.ReactNode;
}

export function FilterBar(props: FilterBarProps) {
  const { fields, value, onChange } = props;
  const [opened, setOpened] = useState<string>();
  const set = (change: FilterValue) => onChange({ ...value, ...change });
  const shown = fields.filter((field) => value[field.key] || field.key === opened);
  const free = fields.filter((field) => !value[field.key] && field.key !== opened);

  return (
    <div className={classes.bar} role="search">
      <SearchBox {...props} />
      {!props.noRange && <Range from={value.from} to={value.to} onChange={set} />}
      {shown.map((field) => (
        <Chip
          key={field.key}
          field={field}
          value={value[field.key]}
          startOpen={field.key === opened}
          onChange={(next) => set({ [field.key]: next })}
          onClose={() => setOpened(undefined)}
        />
      ))}
      {free.length > 0 && (
        <Menu position="bottom-start">
          <Menu.Target>
            <Button variant="subtle" color="gray" leftSection={<IconPlus size={14} />}>
              {t('common.addFilter')}
            </Button>
          </Menu.Target>
          <Menu.Dropdown>
            {free.map((field) => (
              <Menu.Item key={field.key} onClick={() => setOpened(field.key)}>
                {field.label}
              </Menu.Item>
            ))}
          </Menu.Dropdown>
        </Menu>
      )}
      {(props.clearable ?? isFiltered(value, fields)) && (
        <Button variant="subtle" color="gray" onClick={() => onChange(clearFilter(value, fields))}>
          {t('common.clear')}
        </Button>
      )}
      {props.children && <div className={classes.end}>{props.children}</div>}
      {props.wrong && props.wrong.length > 0 && (
        <div className={classes.wrong} role="status">
          {t('common.wrongFilter', { what: props.wrong.join(', ') })}
        </div>
      )}
    </div>
  );
}

function SearchBox({ fields, value, onChange, placeholder }: FilterBarProps) {
  const [text, setText] = useState(value.q ?? '');
  const [wrong, setWrong] = useState<string[]>([]);
  const [known, setKnown] = useState(value.q);
  const input = useRef<HTMLInputElement>(null);
  useShortcuts([{ keys: '/', label: t('common.keyFilter'), run: () => input.current?.focus() }]);
  if (known !== value.q) {
    setKnown(value.q);
    setText(value.q ?? '');
  }

  const submit = () => {
    const typed = parseTyped(text, fields);
    setWrong(typed.wrong);
    const change = typed.change;
    for (const field of fields) {
      const added = change[field.key];
      if (field.several && added)
        change[field.key] = [...new Set([...split(value[field.key]), ...split(added)])].join(',');
    }
    setText(typed.rest);
    onChange({ ...value, ...change, q: typed.rest || undefined });
  };

  return (
    <form
      className={classes.search}
      onSubmit={(event) => {
        event.preventDefault();
        submit();
      }}
    >
      <TextInput
        ref={input}
        aria-label={t('common.filterLabel')}
        placeholder={placeholder ?? t('common.filterPlaceholder')}
        leftSection={<IconSearch size={14} />}
        value={text}
        error={wrong.length > 0 ? t('common.wrongFilter', { what: wrong.join(', ') }) : undefined}
        onChange={(event) => {
          setText(event.currentTarget.value);
          setWrong([]);
        }}
        onKeyDown={(event) => {
          if (event.key === 'Escape') event.currentTarget.blur();
        }}
        onBlur={() => text !== (value.q ?? '') && submit()}
      />
    </form>
  );
}
