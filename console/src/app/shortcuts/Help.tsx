/** All shortcuts that work now, and what runs on the server. */
import { Modal, Switch } from '@mantine/core';
import { t } from '@/i18n/t';
import { changeSettings, useSettings } from '@/settings/settings';
import { allShortcuts } from '@/ui/keys/keys';
import { useSession } from '../session/session';
import classes from './shortcuts.module.css';

export default function Help({ close }: { close: () => void }) {
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
    <Modal opened onClose={close} title={t('shell.help')} size={640}>
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
    </Modal>
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
