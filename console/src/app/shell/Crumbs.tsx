/** Breadcrumbs: each matched route may name itself by `staticData.crumb` or by what it loaded. */
import { Link, useMatches } from '@tanstack/react-router';
import type { PlainKey } from '@/i18n/t';
import { t } from '@/i18n/t';
import classes from './shell.module.css';

/** What a route says of itself; set as `staticData` of the route. */
export interface RouteData {
  /** The name of the page. */
  title?: PlainKey;
  /** The list this page belongs to, shown before it. */
  parent?: { title: PlainKey; to: string };
  /** The path parameter that names the object, such as `id`. */
  param?: string;
}

declare module '@tanstack/react-router' {
  interface StaticDataRouteOption extends RouteData {}
}

export function Crumbs() {
  const match = useMatches().at(-1);
  if (!match) return <div className={classes.crumbs} />;
  const { title, parent, param } = match.staticData;
  const object = param ? (match.params as Record<string, string>)[param] : undefined;
  return (
    <nav className={classes.crumbs} aria-label={t('shell.crumbs')}>
      {parent && (
        <>
          <Link to={parent.to}>{t(parent.title)}</Link>
          <span aria-hidden="true">/</span>
        </>
      )}
      {object ? (
        <code className={classes.crumbId}>{object}</code>
      ) : (
        title && <span>{t(title)}</span>
      )}
    </nav>
  );
}
