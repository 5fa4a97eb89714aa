/** Actions on several letters: in the head of the page, and beside the selection. */
import { Button, Menu } from '@mantine/core';
import { useEffect } from 'react';
import type { Letter } from '@/api/queries/dlq';
import { t } from '@/i18n/t';
import { IconChevronDown, IconRotate, IconTrash } from '@/ui/icons';
import type { BulkAction } from './bulk';

export interface Chosen {
  letters: Letter[];
  clear: () => void;
}

interface BulkMenuProps {
  count: number;
  /** Ticked rows; else all that are shown. */
  ofSelection: boolean;
  ask: (action: BulkAction) => void;
}

export function BulkMenu({ count, ofSelection, ask }: BulkMenuProps) {
  return (
    <Menu>
      <Menu.Target>
        <Button
          variant="default"
          rightSection={<IconChevronDown size={12} />}
          disabled={count === 0}
        >
          {t('dlq.bulk.menu')}
        </Button>
      </Menu.Target>
      <Menu.Dropdown>
        <Menu.Label>{t(ofSelection ? 'dlq.bulk.ofSelected' : 'dlq.bulk.ofShown')}</Menu.Label>
        <Menu.Item leftSection={<IconRotate size={14} />} onClick={() => ask('retry')}>
          {t('dlq.bulk.retry', { count })}
        </Menu.Item>
        <Menu.Item
          leftSection={<IconTrash size={14} />}
          color="danger"
          onClick={() => ask('delete')}
        >
          {t('dlq.bulk.delete', { count })}
        </Menu.Item>
      </Menu.Dropdown>
    </Menu>
  );
}

/** The buttons beside the selection; tells the page what is selected. */
export function Selected({
  letters,
  clear,
  tell,
  ask,
}: Chosen & { tell: (chosen: Chosen | undefined) => void; ask: (action: BulkAction) => void }) {
  const ids = letters.map((letter) => letter.id).join();
  // biome-ignore lint/correctness/useExhaustiveDependencies: the ids say which letters are meant
  useEffect(() => tell({ letters, clear }), [ids]);
  // biome-ignore lint/correctness/useExhaustiveDependencies: once, when nothing is selected any more
  useEffect(() => () => tell(undefined), []);
  return (
    <>
      <Button size="compact-xs" onClick={() => ask('retry')}>
        {t('dlq.bulk.retry', { count: letters.length })}
      </Button>
      <Button size="compact-xs" variant="light" color="danger" onClick={() => ask('delete')}>
        {t('dlq.bulk.delete', { count: letters.length })}
      </Button>
    </>
  );
}
