/** The range of time: the last 15 minutes to 30 days, all, or from and to in the chosen zone. */
import { Button, Popover, TextInput, UnstyledButton } from '@mantine/core';
import { useState } from 'react';
import { t } from '@/i18n/t';
import { serverNow } from '@/live/clock';
import { formatInstant } from '@/time/format';
import { absoluteTime, relativeMs } from '@/time/range';
import { instantOf, localInput, zoneName } from '@/time/zone';
import { IconCalendarTime, IconChevronDown } from '../icons';
import classes from './filter.module.css';

const PRESETS = ['-15m', '-1h', '-6h', '-24h', '-7d', '-30d'] as const;

interface RangeProps {
  from: string | undefined;
  to: string | undefined;
  onChange: (range: { from: string | undefined; to: string | undefined }) => void;
}

/** `last 24 h`. */
function relativeWords(text: string): string {
  const [, count = '', unit = ''] = /^-(\d+)([mhdw])$/.exec(text) ?? [];
  const keys = {
    m: 'common.lastMinutes',
    h: 'common.lastHours',
    d: 'common.lastDays',
    w: 'common.lastWeeks',
  } as const;
  return t(keys[unit as keyof typeof keys], { count: Number(count) });
}

export function rangeWords(from: string | undefined, to: string | undefined): string {
  if (!from && !to) return t('common.allTime');
  if (from && !to && relativeMs(from) !== undefined) return relativeWords(from);
  const words = (text: string | undefined) =>
    text === undefined
      ? '…'
      : relativeMs(text) !== undefined
        ? relativeWords(text)
        : formatInstant(Date.parse(text)).slice(0, 16);
  return `${words(from)} – ${words(to)}`;
}

export function Range({ from, to, onChange }: RangeProps) {
  const [opened, setOpened] = useState(false);
  const choose = (range: { from: string | undefined; to: string | undefined }) => {
    onChange(range);
    setOpened(false);
  };
  return (
    <Popover opened={opened} onChange={setOpened} trapFocus position="bottom-start">
      <Popover.Target>
        <Button
          variant="default"
          leftSection={<IconCalendarTime size={14} />}
          rightSection={<IconChevronDown size={12} />}
          onClick={() => setOpened(!opened)}
        >
          {rangeWords(from, to)}
        </Button>
      </Popover.Target>
      <Popover.Dropdown className={classes.dropdown}>
        <div className={classes.presets}>
          {PRESETS.map((preset) => (
            <UnstyledButton
              key={preset}
              className={classes.option}
              aria-pressed={from === preset && !to}
              onClick={() => choose({ from: preset, to: undefined })}
            >
              {relativeWords(preset)}
            </UnstyledButton>
          ))}
          <UnstyledButton
            className={classes.option}
            aria-pressed={!from && !to}
            onClick={() => choose({ from: undefined, to: undefined })}
          >
            {t('common.allTime')}
          </UnstyledButton>
        </div>
        <Custom from={from} to={to} choose={choose} />
      </Popover.Dropdown>
    </Popover>
  );
}

function Custom({
  from,
  to,
  choose,
}: Omit<RangeProps, 'onChange'> & { choose: RangeProps['onChange'] }) {
  const zone = zoneName();
  const local = (text: string | undefined) => {
    const iso = absoluteTime(text, serverNow());
    return iso ? localInput(Date.parse(iso), zone) : '';
  };
  const [start, setStart] = useState(() => local(from));
  const [end, setEnd] = useState(() => local(to));
  const iso = (text: string) => (text ? new Date(instantOf(text, zone)).toISOString() : undefined);
  return (
    <form
      className={classes.custom}
      onSubmit={(event) => {
        event.preventDefault();
        choose({ from: iso(start), to: iso(end) });
      }}
    >
      <TextInput
        type="datetime-local"
        label={t('common.from', { zone })}
        value={start}
        onChange={(event) => setStart(event.currentTarget.value)}
      />
      <TextInput
        type="datetime-local"
        label={t('common.to')}
        value={end}
        onChange={(event) => setEnd(event.currentTarget.value)}
      />
      <Button type="submit">{t('common.apply')}</Button>
    </form>
  );
}
