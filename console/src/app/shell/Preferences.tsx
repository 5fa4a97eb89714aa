/** What this browser prefers, in the header's menu. */
import { SegmentedControl, Select } from '@mantine/core';
import { t } from '@/i18n/t';
import { changeSettings, useSettings } from '@/settings/settings';
import { browserZone } from '@/time/zone';
import classes from './shell.module.css';

function zones(): { value: string; label: string }[] {
  return [
    { value: 'browser', label: t('shell.zoneBrowser', { zone: browserZone() }) },
    { value: 'utc', label: 'UTC' },
    ...Intl.supportedValuesOf('timeZone').map((name) => ({ value: name, label: name })),
  ];
}

export default function Preferences() {
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
