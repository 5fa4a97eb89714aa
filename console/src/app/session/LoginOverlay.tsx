/** The session ended while somebody worked: the login comes over the page, and nothing is lost. */
import { lazy, Suspense } from 'react';
import { useSessionEnded } from './session';

const LoginDialog = lazy(() => import('./LoginDialog'));

export function LoginOverlay() {
  return useSessionEnded() ? (
    <Suspense>
      <LoginDialog />
    </Suspense>
  ) : null;
}
