/** What fires, the rules by which it does, and when nobody is told. */
import { Tabs } from '@mantine/core';
import { useNavigate } from '@tanstack/react-router';
import { t } from '@/i18n/t';
import { Page } from '@/ui/page/Page';
import { Alerts } from './Alerts';
import classes from './alerts.module.css';
import { Rules } from './Rules';
import { alertsRoute } from './route';
import { Silences } from './Silences';

const TABS = ['alerts', 'rules', 'silences'];

export function AlertsPage() {
  const { tab = 'alerts' } = alertsRoute.useSearch();
  const navigate = useNavigate();
  return (
    <Page title={t('alerts.title')} fill>
      <Tabs
        className={classes.tabs}
        value={TABS.includes(tab) ? tab : 'alerts'}
        onChange={(next) =>
          navigate({
            to: '/alerts',
            search: { tab: next === 'alerts' ? undefined : (next ?? undefined) },
          })
        }
      >
        <Tabs.List>
          <Tabs.Tab value="alerts">{t('alerts.alerts')}</Tabs.Tab>
          <Tabs.Tab value="rules">{t('alerts.rules')}</Tabs.Tab>
          <Tabs.Tab value="silences">{t('alerts.silences')}</Tabs.Tab>
        </Tabs.List>
        <Tabs.Panel value="alerts" className={classes.panel}>
          <Alerts />
        </Tabs.Panel>
        <Tabs.Panel value="rules" className={classes.panel}>
          <Rules />
        </Tabs.Panel>
        <Tabs.Panel value="silences" className={classes.panel}>
          <Silences />
        </Tabs.Panel>
      </Tabs>
    </Page>
  );
}
