/** Who is told of what: the channels, and every message with how far it got. */
import { Button, Tabs } from '@mantine/core';
import { useNavigate } from '@tanstack/react-router';
import { useState } from 'react';
import type { Channel } from '@/api/queries/channels';
import { usePageActions } from '@/app/palette/actions';
import { t } from '@/i18n/t';
import { IconPlus } from '@/ui/icons';
import { Page } from '@/ui/page/Page';
import { ChannelDialog } from './ChannelDialog';
import { Channels } from './Channels';
import classes from './channels.module.css';
import { Deliveries } from './Deliveries';
import { channelsRoute } from './route';

export function ChannelsPage() {
  const { tab } = channelsRoute.useSearch();
  const navigate = useNavigate();
  const [editing, setEditing] = useState<Channel | 'new'>();
  usePageActions([{ label: t('channels.new'), run: () => setEditing('new') }]);
  return (
    <Page
      title={t('channels.title')}
      fill
      actions={
        <Button leftSection={<IconPlus size={14} />} onClick={() => setEditing('new')}>
          {t('channels.new')}
        </Button>
      }
    >
      <Tabs
        className={classes.tabs}
        value={tab === 'deliveries' ? tab : 'channels'}
        onChange={(next) =>
          navigate({
            to: '/channels',
            search: { tab: next === 'deliveries' ? next : undefined },
          })
        }
      >
        <Tabs.List>
          <Tabs.Tab value="channels">{t('channels.channels')}</Tabs.Tab>
          <Tabs.Tab value="deliveries">{t('channels.deliveries')}</Tabs.Tab>
        </Tabs.List>
        <Tabs.Panel value="channels" className={classes.panel}>
          <Channels edit={setEditing} make={() => setEditing('new')} />
        </Tabs.Panel>
        <Tabs.Panel value="deliveries" className={classes.panel}>
          <Deliveries />
        </Tabs.Panel>
      </Tabs>
      {editing && (
        <ChannelDialog
          key={editing === 'new' ? 'new' : editing.id}
          channel={editing === 'new' ? undefined : editing}
          close={() => setEditing(undefined)}
        />
      )}
    </Page>
  );
}
