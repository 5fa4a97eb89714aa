/** The list of pages on the left. */
import { Tooltip } from '@mantine/core';
import { Link } from '@tanstack/react-router';
import { t } from '@/i18n/t';
import { Badges } from './Badges';
import { NAV } from './nav';
import classes from './shell.module.css';

export function Nav({ collapsed }: { collapsed: boolean }) {
  return (
    <nav className={classes.nav} aria-label={t('shell.navigation')}>
      <Link to="/" className={classes.brand} aria-label={t('shell.home')}>
        <svg viewBox="0 0 32 32" width="22" height="22" aria-hidden="true">
          <rect width="32" height="32" rx="7" className={classes.mark} />
          <path d="M9.2 19.6a7.4 7.4 0 1 0 1.1-8M8.6 7.2v5.2h5.2" className={classes.arrow} />
          <circle cx="16" cy="16.4" r="2.3" className={classes.dot} />
        </svg>
        {!collapsed && <span>{'refire'}</span>}
      </Link>
      {NAV.map((section, index) => (
        <div key={index} className={classes.section}>
          {section.label && !collapsed && (
            <div className={classes.sectionLabel}>{t(section.label)}</div>
          )}
          {section.items.map((item) => (
            <Tooltip key={item.to} label={t(item.label)} position="right" disabled={!collapsed}>
              <Link
                to={item.to}
                activeOptions={{ exact: item.to === '/', includeSearch: false }}
                className={classes.item}
                activeProps={{ 'data-active': true }}
                aria-label={collapsed ? t(item.label) : undefined}
              >
                <item.icon size={16} stroke={1.75} aria-hidden="true" />
                {!collapsed && <span className={classes.itemLabel}>{t(item.label)}</span>}
                {!collapsed && <Badges page={item.to} />}
              </Link>
            </Tooltip>
          ))}
        </div>
      ))}
    </nav>
  );
}
