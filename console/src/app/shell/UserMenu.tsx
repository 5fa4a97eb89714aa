/** The menu of the header: theme, language, zone, density, help, log out. */
import { Menu, SegmentedControl, Select, UnstyledButton } from '@mantine/core';
import { logOut } from '@/api/queries/session';
import { t } from '@/i18n/t';
import { changeSettings, useSettings } from '@/settings/settings';
import { browserZone } from '@/time/zone';
import { IconChevronDown, IconKeyboard, IconLogout, IconUser } from '@/ui/icons';
import { sessionEnds, useSession } from '../session/session';
import { openHelp } from '../shortcuts/open';
import classes from './shell.module.css';

async function leave() {
  await logOut();
  sessionEnds();
}

export function UserMenu() {
  const session = useSession();
  return (
    <Menu width={288} closeOnItemClick={false}>
      <Menu.Target>
        <UnstyledButton className={classes.user} aria-label={t('shell.account')}>
          <IconUser size={16} stroke={1.5} aria-hidden="true" />
          <span className={classes.userName}>{session?.actor}</span>
          <IconChevronDown size={12} aria-hidden="true" />
        </UnstyledButton>
      </Menu.Target>
      <Menu.Dropdown>
        <Preferences />
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

function zones(): { value: string; label: string }[] {
  return [
    { value: 'browser', label: t('shell.zoneBrowser', { zone: browserZone() }) },
    { value: 'utc', label: 'UTC' },
    ...Intl.supportedValuesOf('timeZone').map((name) => ({ value: name, label: name })),
  ];
}

function Preferences() {
  const chosen = useSettings();
  return (
    <div className={classes.preferences}>
      <span id="pref-theme">{t('shell.theme')}</span>
      <SegmentedControl
        aria-labelledby="pref-theme"
        fullWidth
        value={chosen.theme}
        onChange={(theme) => changeSettings({ theme: theme as typeof chosen.theme })}
        data={[
          { value: 'auto', label: t('shell.themeAuto') },
          { value: 'light', label: t('shell.themeLight') },
          { value: 'dark', label: t('shell.themeDark') },
        ]}
      />
      <span id="pref-language">{t('shell.language')}</span>
      <SegmentedControl
        aria-labelledby="pref-language"
        fullWidth
        value={chosen.language}
        onChange={(language) => changeSettings({ language: language as typeof chosen.language })}
        data={[
          { value: 'en', label: 'English' },
          { value: 'zh-TW', label: '繁體中文' },
        ]}
      />
      <span id="pref-density">{t('shell.density')}</span>
      <SegmentedControl
        aria-labelledby="pref-density"
        fullWidth
        value={chosen.density}
        onChange={(density) => changeSettings({ density: density as typeof chosen.density })}
        data={[
          { value: 'normal', label: t('shell.densityNormal') },
          { value: 'compact', label: t('shell.densityCompact') },
        ]}
      />
      <span>{t('shell.zone')}</span>
      <Select
        aria-label={t('shell.zone')}
        searchable
        limit={50}
        allowDeselect={false}
        value={chosen.zone}
        onChange={(zone) => zone && changeSettings({ zone })}
        data={zones()}
        comboboxProps={{ withinPortal: false }}
      />
    </div>
  );
}
