/** Actions on many: on those that are ticked, and on all that match the filter. */
import { Button, Menu } from '@mantine/core';
import { Fragment } from 'react';
import type { BulkAction, BulkKind, BulkScope } from '@/api/queries/bulk';
import { t, word } from '@/i18n/t';
import { IconChevronDown } from '@/ui/icons';
import type { BulkAsk } from './BulkDialog';

interface BulkMenuProps {
  kind: BulkKind;
  actions: readonly BulkAction[];
  /** The ids of ticked rows, where the page has them at hand. */
  selected?: string[];
  /** The filter by the server's names; nothing while none is set. */
  filter: Record<string, string | number> | undefined;
  /** The filter in words. */
  words: string;
  ask: (ask: BulkAsk) => void;
}

/** The ids of ticked rows as a scope, with its words. */
export function ticked(kind: BulkKind, ids: string[]): Pick<BulkAsk, 'scope' | 'words'> {
  const count = ids.length;
  const words =
    kind === 'letters' ? t('bulk.tickedLetters', { count }) : t('bulk.tickedExecutions', { count });
  return { scope: { ids }, words };
}

export function BulkMenu({ kind, actions, selected = [], filter, words, ask }: BulkMenuProps) {
  const matching: { scope: BulkScope; words: string } = {
    scope: { filter: filter ?? {} },
    words: t('bulk.matching', { words }),
  };
  const groups = [
    {
      name: 'ticked',
      label: t('bulk.ticked', { count: selected.length }),
      able: true,
      of: ticked(kind, selected),
    },
    {
      name: 'matching',
      label: t(filter ? 'bulk.allMatching' : 'bulk.needsFilter'),
      able: filter !== undefined,
      of: matching,
    },
  ].filter(({ name }) => name === 'matching' || selected.length > 0);
  return (
    <Menu>
      <Menu.Target>
        <Button variant="default" rightSection={<IconChevronDown size={12} />}>
          {t('bulk.menu')}
        </Button>
      </Menu.Target>
      <Menu.Dropdown>
        {groups.map(({ name, label, able, of }) => (
          <Fragment key={name}>
            <Menu.Label>{label}</Menu.Label>
            {actions.map((action) => (
              <Menu.Item
                key={action}
                disabled={!able}
                color={/^(delete|purge|cancel)$/.test(action) ? 'danger' : undefined}
                onClick={() => ask({ kind, action, ...of })}
              >
                {t('bulk.more', { action: word('bulk.do', action) })}
              </Menu.Item>
            ))}
          </Fragment>
        ))}
      </Menu.Dropdown>
    </Menu>
  );
}

/** The buttons beside the selection. */
export function BulkButtons({
  kind,
  actions,
  ids,
  ask,
}: Pick<BulkMenuProps, 'kind' | 'actions' | 'ask'> & { ids: string[] }) {
  return (
    <>
      {actions.map((action) => (
        <Button
          key={action}
          size="compact-xs"
          variant="default"
          onClick={() => ask({ kind, action, ...ticked(kind, ids) })}
        >
          {t('bulk.more', { action: word('bulk.do', action) })}
        </Button>
      ))}
    </>
  );
}

/** Only what is set: the server refuses a filter that says nothing. */
export function setOnly(filter: Record<string, string | number | undefined>) {
  const set = Object.entries(filter).filter(
    (entry): entry is [string, string | number] => entry[1] !== undefined && entry[1] !== '',
  );
  return set.length > 0 ? Object.fromEntries(set) : undefined;
}
