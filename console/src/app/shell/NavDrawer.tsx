/** The navigation on narrow screens. */
import { Drawer } from '@mantine/core';
import { t } from '@/i18n/t';
import { Nav } from './Nav';
import classes from './shell.module.css';

export default function NavDrawer({ close }: { close: () => void }) {
  return (
    <Drawer
      opened
      onClose={close}
      size={240}
      title={t('shell.menu')}
      classNames={{ body: classes.drawerBody }}
    >
      <Nav collapsed={false} />
    </Drawer>
  );
}
