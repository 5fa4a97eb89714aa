/** The shortcuts of the whole console; the help that lists all of them comes when it is asked for. */
import { useRouter } from '@tanstack/react-router';
import { lazy, Suspense } from 'react';
import { t } from '@/i18n/t';
import { changeSettings, useSettings } from '@/settings/settings';
import { type Shortcut, useShortcuts } from '@/ui/keys/keys';
import { openPalette } from '../palette/open';
import { NAV } from '../shell/nav';
import { helpSwitch, openHelp } from './open';

const Help = lazy(() => import('./Help'));

export function Shortcuts() {
  const router = useRouter();
  const opened = helpSwitch.use();
  const { navCollapsed } = useSettings();
  const go: Shortcut[] = NAV.flatMap((section) => section.items).map((item) => ({
    keys: `g ${item.go}`,
    label: t(item.label),
    run: () => router.navigate({ to: item.to }),
  }));
  useShortcuts([
    { keys: 'mod+k', label: t('shell.search'), run: openPalette, inFields: true },
    { keys: '?', label: t('shell.help'), run: openHelp },
    {
      keys: '[',
      label: t('shell.toggleNav'),
      run: () => changeSettings({ navCollapsed: !navCollapsed }),
    },
    ...go,
  ]);
  if (!opened) return null;
  return (
    <Suspense>
      <Help close={() => helpSwitch.set(false)} />
    </Suspense>
  );
}
