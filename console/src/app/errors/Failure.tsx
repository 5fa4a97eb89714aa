/** A page that could not be drawn. A chunk that is gone after an upgrade reloads once. */
import { useQueryErrorResetBoundary } from '@tanstack/react-query';
import { type ErrorComponentProps, useRouter } from '@tanstack/react-router';
import { useEffect } from 'react';
import { ProblemView } from '@/ui/state/ProblemView';
import classes from './errors.module.css';

const RELOADED = 'refire.reloaded';

function isMissingChunk(error: unknown): boolean {
  return error instanceof Error && /dynamically imported module|module script/i.test(error.message);
}

export function Failure({ error, reset }: ErrorComponentProps) {
  const router = useRouter();
  const boundary = useQueryErrorResetBoundary();
  useEffect(() => {
    boundary.reset();
    if (!isMissingChunk(error) || sessionStorage.getItem(RELOADED)) return;
    sessionStorage.setItem(RELOADED, '1');
    location.reload();
  }, [boundary, error]);

  return (
    <div className={classes.frame}>
      <ProblemView
        error={error}
        retry={() => {
          reset();
          router.invalidate();
        }}
      />
    </div>
  );
}
