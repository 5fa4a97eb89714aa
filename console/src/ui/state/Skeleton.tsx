/** Grey bars in the shape of what loads; they appear only when loading takes a moment. */
import { t } from '@/i18n/t';
import classes from './state.module.css';

export function Skeleton({ rows = 8 }: { rows?: number }) {
  return (
    <div className={classes.skeleton} role="status" aria-label={t('common.loading')}>
      {Array.from({ length: rows }, (_, row) => (
        <span key={row} data-width={row % 3} />
      ))}
    </div>
  );
}
