/** The header: where we are, search, the server's state, and what this browser prefers. */
import { ActionIcon, UnstyledButton } from '@mantine/core';
import { t } from '@/i18n/t';
import { useNow } from '@/live/clock';
import { useLostSince } from '@/live/reach';
import { useSettings } from '@/settings/settings';
import { shortOffset, zoneName } from '@/time/zone';
import { IconLayoutSidebarLeftCollapse, IconMenu2, IconSearch } from '@/ui/icons';
import { openPalette } from '../palette/open';
import { Crumbs } from './Crumbs';
import classes from './shell.module.css';
import { UserMenu } from './UserMenu';

const isMac = /mac/i.test(navigator.platform);

export function Header({ narrow, toggleNav }: { narrow: boolean; toggleNav: () => void }) {
  const NavIcon = narrow ? IconMenu2 : IconLayoutSidebarLeftCollapse;
  return (
    <header className={classes.header}>
      <ActionIcon aria-label={t(narrow ? 'shell.menu' : 'shell.toggleNav')} onClick={toggleNav}>
        <NavIcon size={18} stroke={1.5} />
      </ActionIcon>
      <Crumbs />
      <UnstyledButton className={classes.search} onClick={openPalette}>
        <IconSearch size={14} aria-hidden="true" />
        <span className={classes.searchText}>{t('shell.search')}</span>
        <kbd className={classes.kbd}>{isMac ? '⌘K' : 'Ctrl K'}</kbd>
      </UnstyledButton>
      <ServerDot />
      <Zone />
      <UserMenu />
    </header>
  );
}

function ServerDot() {
  const lost = useLostSince() !== undefined;
  return (
    <span className={classes.live} data-lost={lost || undefined}>
      <span className={classes.liveDot} aria-hidden="true" />
      <span className={classes.liveText}>{t(lost ? 'shell.notLive' : 'shell.live')}</span>
    </span>
  );
}

function Zone() {
  const { zone } = useSettings();
  const now = useNow();
  const name = zoneName(zone);
  return (
    <span className={classes.zone} title={name}>
      {shortOffset(now, name)}
    </span>
  );
}
