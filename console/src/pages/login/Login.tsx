/** The login: by key, or at once by a one-time link. */
import { Loader } from '@mantine/core';
import { useRouter } from '@tanstack/react-router';
import { useEffect, useRef, useState } from 'react';
import { basePath } from '@/api/base';
import { logIn, type Session } from '@/api/queries/session';
import { LoginForm } from '@/app/session/LoginForm';
import { sessionBegins } from '@/app/session/session';
import { t } from '@/i18n/t';
import { CopyText } from '@/ui/copy/CopyText';
import { ProblemView } from '@/ui/state/ProblemView';
import classes from './login.module.css';
import { safeNext } from './next';
import { loginRoute } from './route';

function takeToken(): string | undefined {
  const token = /^#t=(.+)$/.exec(location.hash)?.[1];
  // The link works once; it must not stay in the address or the history.
  if (token) history.replaceState(history.state, '', location.pathname + location.search);
  return token;
}

export function Login() {
  const { next } = loginRoute.useSearch();
  const router = useRouter();
  const [token] = useState(takeToken);
  const [error, setError] = useState<unknown>();
  const done = (session: Session) => {
    sessionBegins(session);
    router.history.replace(basePath.slice(0, -1) + safeNext(next, basePath));
  };
  const enter = useRef(done);
  enter.current = done;
  const used = useRef(false);
  useEffect(() => {
    if (!token || used.current) return;
    used.current = true;
    logIn({ token }).then((session) => enter.current(session), setError);
  }, [token]);
  useEffect(() => {
    document.title = t('shell.tabTitle', { page: t('login.title') });
  }, []);

  return (
    <main className={classes.frame}>
      <div className={classes.card}>
        <div className={classes.brand}>
          <img src="./favicon.svg" width="28" height="28" alt="" />
          <h1>{t('login.title')}</h1>
        </div>
        {token && error === undefined ? (
          <div className={classes.busy} role="status">
            <Loader size={16} /> {t('login.byLink')}
          </div>
        ) : (
          <>
            {error !== undefined && <ProblemView error={error} />}
            <LoginForm done={done} />
            <div className={classes.hint}>
              <span>{t('login.linkHint')}</span>
              <CopyText text="refire console --open" block />
            </div>
          </>
        )}
      </div>
    </main>
  );
}
