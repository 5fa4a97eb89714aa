/** An id: shortened in the middle, full on hover and in the clipboard. With `to` it is a link. */
import { Link } from '@tanstack/react-router';
import { t } from '@/i18n/t';
import { CopyButton } from './CopyButton';
import classes from './copy.module.css';

const HEAD = 9;
const TAIL = 6;

/** `exec_01m7…vqfbj`; short ids stay whole. */
export function shortId(id: string): string {
  return id.length <= HEAD + TAIL + 3 ? id : `${id.slice(0, HEAD)}…${id.slice(-TAIL)}`;
}

interface CopyIdProps {
  id: string;
  to?: string;
  full?: boolean;
  /** Without the copy button, as in rows of tables, where `c` copies. */
  plain?: boolean;
}

export function CopyId({ id, to, full, plain }: CopyIdProps) {
  const text = full ? id : shortId(id);
  return (
    <span className={classes.id}>
      {to ? (
        <Link to={to} title={id} className={classes.idText} tabIndex={plain ? -1 : undefined}>
          {text}
        </Link>
      ) : (
        <code title={id} className={classes.idText}>
          {text}
        </code>
      )}
      {!plain && <CopyButton text={id} label={t('common.copyId')} size={24} />}
    </span>
  );
}
