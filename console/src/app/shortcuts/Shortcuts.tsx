/** The shortcuts of the whole console, and the help that lists all of them. */
import { Modal, Switch } from '@mantine/core';
import { useRouter } from '@tanstack/react-router';
import { t } from '@/i18n/t';
import { changeSettings, useSettings } from '@/settings/settings';
import { allShortcuts, type Shortcut, useShortcuts } from '@/ui/keys/keys';
import { openPalette } from '../palette/open';
import { useSession } from '../session/session';
import { NAV } from '../shell/nav';
import { helpSwitch, openHelp } from './open';
import classes from './shortcuts.module.css';

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
  return (
    <Modal opened={opened} onClose={() => helpSwitch.set(false)} title={t('shell.help')} size={640}>
      {opened && <Help />}
    </Modal>
  );
}

function Help() {
  const { shortcuts } = useSettings();
  const session = useSession();
  const table: [string, string][] = [
    ['j  k', t('shell.keyRows')],
    ['Enter', t('shell.keyOpen')],
    ['Space', t('shell.keyPreview')],
    ['x', t('shell.keySelect')],
    ['Shift+x', t('shell.keyRange')],
    ['a', t('shell.keyAll')],
    ['c', t('shell.keyCopy')],
    ['Esc', t('shell.keyEscape')],
  ];
  return (
    <div className={classes.help}>
      <Switch
        label={t('shell.shortcutsOn')}
        checked={shortcuts}
        onChange={(event) => changeSettings({ shortcuts: event.currentTarget.checked })}
      />
      <div className={classes.columns}>
        <Keys
          title={t('shell.keysGeneral')}
          keys={allShortcuts().map(({ keys, label }) => [keys, label])}
        />
        <Keys title={t('shell.keysTable')} keys={table} />
      </div>
      {session && (
        <p className={classes.about}>
          {t('shell.aboutServer', { version: session.version, node: session.node_id })}
        </p>
      )}
    </div>
  );
}

function Keys({ title, keys }: { title: string; keys: [string, string][] }) {
  return (
    <section>
      <h3>{title}</h3>
      <dl>
        {keys.map(([name, label]) => (
          <div key={name}>
            <dt>
              {name.split(/\s+/).map((key) => (
                <kbd key={key}>{key.replace('mod+', 'Ctrl/⌘ ')}</kbd>
              ))}
            </dt>
            <dd>{label}</dd>
          </div>
        ))}
      </dl>
    </section>
  );
}
