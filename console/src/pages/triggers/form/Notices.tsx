/** What a form says above itself: restored typing, somebody else's change, refused fields. */
import { Button } from '@mantine/core';
import { type ReactNode, useEffect } from 'react';
import type { FieldProblem } from '@/api/problem';
import { ApiProblem } from '@/api/problem';
import { t } from '@/i18n/t';
import { useNow } from '@/live/clock';
import { formatRelative } from '@/time/format';
import { ProblemView } from '@/ui/state/ProblemView';
import classes from './form.module.css';

interface NoticeProps {
  tone?: 'accent' | 'late' | 'failed';
  children: ReactNode;
  action?: ReactNode;
}

export function Notice({ tone = 'accent', children, action }: NoticeProps) {
  return (
    <div className={classes.notice} data-tone={tone} role="status">
      <div className={classes.noticeText}>{children}</div>
      {action}
    </div>
  );
}

export function Restored({ at, discard }: { at: number | undefined; discard: () => void }) {
  const now = useNow();
  if (at === undefined) return null;
  return (
    <Notice
      action={
        <Button variant="default" onClick={discard}>
          {t('trigger.discard')}
        </Button>
      }
    >
      {t('trigger.restored', { when: formatRelative(at, now) })}
    </Notice>
  );
}

/** Somebody saved another version while this one was edited. */
export function ChangedMeanwhile({
  theirs,
  mine,
  show,
}: {
  theirs: number;
  mine: number;
  show: () => void;
}) {
  if (theirs <= mine) return null;
  return (
    <Notice
      tone="late"
      action={
        <Button variant="default" onClick={show}>
          {t('trigger.compare')}
        </Button>
      }
    >
      {t('trigger.changedMeanwhile', { theirs: `v${theirs}`, mine: `v${mine}` })}
    </Notice>
  );
}

/** The first wrong field gets the focus, once the parts around it are open. */
function toFirstWrong() {
  requestAnimationFrame(() =>
    document.querySelector<HTMLElement>('#page [aria-invalid="true"]')?.focus(),
  );
}

/** What the server refused: fields that the form shows are only counted here, others are named. */
export function Refused({ error, besides }: { error: unknown; besides: readonly FieldProblem[] }) {
  useEffect(() => {
    if (error !== undefined) toFirstWrong();
  }, [error]);
  if (error === undefined) return null;
  if (error instanceof ApiProblem && error.fields.length > 0) {
    const shown = error.fields.length - besides.length;
    return (
      <div role="alert">
        <Notice tone="failed">
          {t('trigger.notSaved', { count: error.fields.length })}{' '}
          {shown > 0 && t('trigger.seeFields')}
          {besides.map((each) => (
            <div key={`${each.field} ${each.message}`}>
              <code>{each.field}</code> {each.message} {each.hint}
            </div>
          ))}
        </Notice>
      </div>
    );
  }
  return <ProblemView error={error} />;
}
