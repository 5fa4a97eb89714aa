/** The frame of every page: navigation, header, bar, and the page that scrolls alone. */
import { useMediaQuery } from '@mantine/hooks';
import { Outlet, useRouterState } from '@tanstack/react-router';
import { lazy, Suspense, useEffect, useState } from 'react';
import { t } from '@/i18n/t';
import { changeSettings, useSettings } from '@/settings/settings';
import { Palette } from '../palette/Palette';
import { LoginOverlay } from '../session/LoginOverlay';
import { Shortcuts } from '../shortcuts/Shortcuts';
import { Bar } from './Bar';
import { Header } from './Header';
import { Nav } from './Nav';
import classes from './shell.module.css';

const NavDrawer = lazy(() => import('./NavDrawer'));

const NARROW = '(max-width: 899px)';

export function Shell() {
  const narrow = useMediaQuery(NARROW, false, { getInitialValueInEffect: false });
  const { navCollapsed } = useSettings();
  const [drawer, setDrawer] = useState(false);
  const path = useRouterState({ select: (state) => state.location.pathname });
  // biome-ignore lint/correctness/useExhaustiveDependencies: another page closes the drawer
  useEffect(() => setDrawer(false), [path]);

  return (
    <div className={classes.frame} data-collapsed={navCollapsed || undefined}>
      {/* No link to `#page`: with a `<base>` that would lead to another page. */}
      <button
        type="button"
        className={classes.skip}
        onClick={() => document.getElementById('page')?.focus()}
      >
        {t('shell.skip')}
      </button>
      {narrow ? (
        drawer && (
          <Suspense>
            <NavDrawer close={() => setDrawer(false)} />
          </Suspense>
        )
      ) : (
        <aside className={classes.side}>
          <Nav collapsed={navCollapsed} />
        </aside>
      )}
      <Header
        narrow={narrow}
        toggleNav={() =>
          narrow ? setDrawer(true) : changeSettings({ navCollapsed: !navCollapsed })
        }
      />
      <div className={classes.body}>
        <Bar />
        <main id="page" className={classes.page} tabIndex={-1}>
          <Outlet />
        </main>
      </div>
      <Palette />
      <Shortcuts />
      <LoginOverlay />
    </div>
  );
}
