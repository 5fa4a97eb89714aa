/** A time zone with its present offset, found by typing a part of its name or offset. */
import { Select } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { useMemo } from 'react';
import { timeZones } from '@/api/queries/triggers';
import { t } from '@/i18n/t';
import { serverNow } from '@/live/clock';
import { browserZone, isZone, shortOffset } from '@/time/zone';

/** So many are offered at a time; typing narrows them down. */
const OFFERED = 60;

interface ZoneSelectProps {
  value: string;
  onChange: (zone: string) => void;
  error?: string;
}

/** `+08:00` of the server as people write it: `UTC+8`. */
export function offsetWords(offset: string): string {
  const found = /^([+-])(\d\d):(\d\d)$/.exec(offset);
  if (!found || offset === '+00:00') return 'UTC';
  const rest = found[3] === '00' ? '' : `:${found[3]}`;
  return `UTC${found[1] === '-' ? '−' : '+'}${Number(found[2])}${rest}`;
}

export function ZoneSelect({ value, onChange, error }: ZoneSelectProps) {
  const { data } = useQuery(timeZones);
  const options = useMemo(() => {
    const now = serverNow();
    const zones =
      data?.map(({ name, offset }) => ({ name, offset: offsetWords(offset) })) ??
      Intl.supportedValuesOf('timeZone').map((name) => ({ name, offset: shortOffset(now, name) }));
    const near = ['UTC', browserZone()];
    const known = new Set(zones.map((zone) => zone.name));
    for (const name of [value, ...near])
      if (name && !known.has(name)) {
        known.add(name);
        zones.unshift({ name, offset: isZone(name) ? shortOffset(now, name) : '?' });
      }
    const first = (name: string) => (near.includes(name) ? 0 : 1);
    return zones
      .sort((a, b) => first(a.name) - first(b.name))
      .map(({ name, offset }) => ({
        value: name,
        label: offset === name ? name : `${name.replaceAll('_', ' ')} (${offset})`,
      }));
  }, [data, value]);
  return (
    <Select
      label={t('trigger.zone')}
      data={options}
      value={value}
      searchable
      limit={OFFERED}
      allowDeselect={false}
      nothingFoundMessage={t('trigger.noZone')}
      error={error}
      onChange={(zone) => zone && onChange(zone)}
      selectFirstOptionOnChange
    />
  );
}
