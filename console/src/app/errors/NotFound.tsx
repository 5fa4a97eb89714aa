/** No page has this address. */
import { Link } from '@tanstack/react-router';
import { t } from '@/i18n/t';
import { EmptyState } from '@/ui/state/EmptyState';
import classes from './errors.module.css';

export function NotFound() {
  return (
    <div className={classes.frame}>
      <EmptyState title={t('shell.notFound')} text={t('shell.notFoundText')}>
        <Link to="/executions">{t('shell.executions')}</Link>
      </EmptyState>
    </div>
  );
}
