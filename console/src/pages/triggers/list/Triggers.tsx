/** Every trigger: when it fires, what became of its last times, on or off, run now. */
import { Button, Menu } from '@mantine/core';
import { useNavigate } from '@tanstack/react-router';
import { useMemo, useState } from 'react';
import { readTriggers, type Trigger, triggerListKey } from '@/api/queries/triggers';
import { formatNumber, t, word } from '@/i18n/t';
import { useFollow } from '@/live/follow';
import { FilterBar } from '@/ui/filter/FilterBar';
import { checkFilter, clearFilter, filterWords, isFiltered } from '@/ui/filter/filter';
import { IconChevronDown, IconPlus } from '@/ui/icons';
import { Page } from '@/ui/page/Page';
import { DataTable } from '@/ui/table/DataTable';
import { DeleteTrigger } from '../DeleteTrigger';
import { RunNow } from '../RunNow';
import { triggersRoute } from '../route';
import { triggerColumns } from './columns';
import { triggerFields } from './fields';
import { NewTrigger } from './NewTrigger';

const rowKey = (row: Trigger) => row.id;

export function Triggers() {
  const search = triggersRoute.useSearch();
  const navigate = useNavigate();
  const fields = useMemo(triggerFields, []);
  const { value, wrong } = useMemo(() => checkFilter(search, fields), [search, fields]);
  const queryKey = useMemo(() => triggerListKey(value), [value]);
  const list = useFollow<Trigger>({
    queryKey,
    page: (cursor, signal) => readTriggers(value, cursor, signal),
    rowKey,
  });
  const [running, setRunning] = useState<Trigger>();
  const [deleting, setDeleting] = useState<Trigger>();
  const [making, setMaking] = useState<string>();
  const columns = useMemo(() => triggerColumns(setRunning), []);
  const change = (next: typeof value) => navigate({ to: '/triggers', search: next });

  return (
    <Page
      fill
      title={t('shell.triggers')}
      actions={
        <Menu>
          <Menu.Target>
            <Button
              leftSection={<IconPlus size={14} />}
              rightSection={<IconChevronDown size={12} />}
            >
              {t('triggers.new')}
            </Button>
          </Menu.Target>
          <Menu.Dropdown>
            {(['cron', 'schedule', 'webhook'] as const).map((type) => (
              <Menu.Item key={type} onClick={() => setMaking(type)}>
                {word('triggers.type', type)}
              </Menu.Item>
            ))}
          </Menu.Dropdown>
        </Menu>
      }
    >
      <FilterBar
        fields={fields}
        value={value}
        wrong={wrong}
        noRange
        placeholder={t('triggers.search')}
        onChange={change}
      />
      <DataTable
        id="triggers"
        label={t('shell.triggers')}
        columns={columns}
        list={list}
        rowKey={rowKey}
        open={(row) => navigate({ to: '/triggers/$id', params: { id: row.id } })}
        rowKeys={{ r: setRunning, Delete: setDeleting }}
        summary={
          list.loading || list.error !== undefined
            ? undefined
            : t('triggers.count', {
                count: formatNumber(list.rows.length) + (list.more ? '+' : ''),
              })
        }
        empty={{
          title: t('triggers.empty'),
          text: t('triggers.emptyText'),
          command: 'refire trigger create WORKFLOW --cron "0 9 * * MON" --tz Asia/Taipei',
        }}
        filtered={
          isFiltered(value, fields)
            ? {
                words: filterWords(value, fields),
                clear: () => change(clearFilter(value, fields)),
              }
            : undefined
        }
      />
      {running && <RunNow trigger={running} opened onClose={() => setRunning(undefined)} />}
      {deleting && (
        <DeleteTrigger trigger={deleting} opened onClose={() => setDeleting(undefined)} />
      )}
      <NewTrigger type={making} onClose={() => setMaking(undefined)} workflow={value.workflow} />
    </Page>
  );
}
