/** The menu of the header: theme, language, zone, density, help, log out. */
import { Popover, UnstyledButton } from '@mantine/core';
import { lazy, Suspense, useState } from 'react';
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
  const [opened, setOpened] = useState(false);
  return (
    <Popover opened={opened} onChange={setOpened} width={288} position="bottom-end" trapFocus>
      <Popover.Target>
        <UnstyledButton
          className={classes.user}
          title={t('shell.account')}
          onClick={() => setOpened(!opened)}
        >
          <IconUser size={16} stroke={1.5} aria-hidden="true" />
          <span className={classes.userName}>{session?.actor}</span>
          <span className="hidden-text">{t('shell.account')}</span>
          <IconChevronDown size={12} aria-hidden="true" />
        </UnstyledButton>
      </Popover.Target>
      <Popover.Dropdown className={classes.menu} aria-label={t('shell.account')}>
        <Suspense fallback={<div className={classes.preferencesPlace} />}>
          <Preferences />
        </Suspense>
        <div className={classes.rule} />
        <UnstyledButton
          className={classes.menuItem}
          onClick={() => {
            setOpened(false);
            openHelp();
          }}
        >
          <IconKeyboard size={16} stroke={1.5} aria-hidden="true" />
          <span className={classes.itemLabel}>{t('shell.help')}</span>
          <kbd className={classes.kbd}>?</kbd>
        </UnstyledButton>
        <UnstyledButton className={classes.menuItem} onClick={leave}>
          <IconLogout size={16} stroke={1.5} aria-hidden="true" />
          <span className={classes.itemLabel}>{t('shell.logout')}</span>
        </UnstyledButton>
        {session && (
          <div className={classes.about}>{t('shell.version', { version: session.version })}</div>
        )}
      </Popover.Dropdown>
    </Popover>
  );
}
