/** The frame of a page: title, status, actions; then tabs or filters; then the content. */
import type { ReactNode } from 'react';
import { useEffect } from 'react';
import { t } from '@/i18n/t';
import classes from './page.module.css';

interface PageProps {
  title: ReactNode;
  /** The title of the browser's tab, when `title` is no text. */
  name?: string;
  /** Beside the title: a status, an id. */
  badges?: ReactNode;
  /** On the right: the primary action first. */
  actions?: ReactNode;
  /** Under the title. */
  subtitle?: ReactNode;
  /** The content takes the height that is left and scrolls by itself (lists). */
  fill?: boolean;
  children: ReactNode;
}

export function Page({ title, name, badges, actions, subtitle, fill, children }: PageProps) {
  const tab = name ?? (typeof title === 'string' ? title : '');
  useEffect(() => {
    document.title = tab ? t('shell.tabTitle', { page: tab }) : 'Refire';
  }, [tab]);
  return (
    <div className={classes.page} data-fill={fill || undefined}>
      <div className={classes.head}>
        <div className={classes.titles}>
          <h1 className={classes.title}>{title}</h1>
          {badges}
        </div>
        {actions && <div className={classes.actions}>{actions}</div>}
        {subtitle && <div className={classes.subtitle}>{subtitle}</div>}
      </div>
      {children}
    </div>
  );
}

/** A white area with an optional title. */
export function Panel({
  title,
  actions,
  children,
  flush,
}: {
  title?: ReactNode;
  actions?: ReactNode;
  children: ReactNode;
  /** Without inner space, for tables. */
  flush?: boolean;
}) {
  return (
    <section className={classes.panel}>
      {(title || actions) && (
        <div className={classes.panelHead}>
          {title && <h2>{title}</h2>}
          {actions && <div className={classes.actions}>{actions}</div>}
        </div>
      )}
      <div className={flush ? undefined : classes.panelBody}>{children}</div>
    </section>
  );
}

/** Names and values, one pair a line. */
export function Facts({ facts }: { facts: [name: string, value: ReactNode][] }) {
  return (
    <dl className={classes.facts}>
      {facts.map(([name, value]) => (
        <div key={name}>
          <dt>{name}</dt>
          <dd>{value}</dd>
        </div>
      ))}
    </dl>
  );
}
