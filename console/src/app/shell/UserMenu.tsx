/** The menu of the header: theme, language, zone, density, help, log out. */
import { Menu, UnstyledButton } from '@mantine/core';
import { lazy, Suspense } from 'react';
import { logOut } from '@/api/queries/session';
import { t } from '@/i18n/t';
import { IconChevronDown, IconKeyboard, IconLogout, IconUser } from '@/ui/icons';
import { sessionEnds, useSession } from '../session/session';
import { openHelp } from '../shortcuts/open';
import classes from './shell.module.css';

const Preferences = lazy(() => import('./Preferences'));

async function leave() {
  await logOut();
  sessionEnds();
}

export function UserMenu() {
  const session = useSession();
  return (
    <Menu width={288} closeOnItemClick={false}>
      <Menu.Target>
        <UnstyledButton className={classes.user} title={t('shell.account')}>
          <IconUser size={16} stroke={1.5} aria-hidden="true" />
          <span className={classes.userName}>{session?.actor}</span>
          <span className="hidden-text">{t('shell.account')}</span>
          <IconChevronDown size={12} aria-hidden="true" />
        </UnstyledButton>
      </Menu.Target>
      <Menu.Dropdown>
        <Suspense fallback={<div className={classes.preferencesPlace} />}>
          <Preferences />
        </Suspense>
        <Menu.Divider />
        <Menu.Item
          leftSection={<IconKeyboard size={16} stroke={1.5} />}
          rightSection={<kbd className={classes.kbd}>?</kbd>}
          closeMenuOnClick
          onClick={openHelp}
        >
          {t('shell.help')}
        </Menu.Item>
        <Menu.Item leftSection={<IconLogout size={16} stroke={1.5} />} onClick={leave}>
          {t('shell.logout')}
        </Menu.Item>
        {session && (
          <div className={classes.about}>{t('shell.version', { version: session.version })}</div>
        )}
      </Menu.Dropdown>
    </Menu>
  );
}
