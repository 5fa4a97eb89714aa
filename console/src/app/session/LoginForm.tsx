/** One field: the API key. */
import { Button, PasswordInput } from '@mantine/core';
import { useState } from 'react';
import { ApiProblem } from '@/api/problem';
import { logIn, type Session } from '@/api/queries/session';
import { t } from '@/i18n/t';
import { ProblemView } from '@/ui/state/ProblemView';
import classes from './login.module.css';

export function LoginForm({ done }: { done: (session: Session) => void }) {
  const [key, setKey] = useState('');
  const [busy, setBusy] = useState(false);
  const [error, setError] = useState<unknown>();
  const wrongKey = error instanceof ApiProblem && error.status === 401;

  const submit = async () => {
    if (!key.trim() || busy) return;
    setBusy(true);
    setError(undefined);
    try {
      done(await logIn({ key: key.trim() }));
    } catch (refused) {
      setError(refused);
    } finally {
      setBusy(false);
    }
  };

  return (
    <form
      className={classes.form}
      onSubmit={(event) => {
        event.preventDefault();
        submit();
      }}
    >
      <PasswordInput
        label={t('login.key')}
        description={t('login.keyHint')}
        size="sm"
        autoComplete="current-password"
        data-autofocus
        value={key}
        onChange={(event) => setKey(event.currentTarget.value)}
        error={wrongKey ? t('login.wrongKey') : undefined}
        visibilityToggleButtonProps={{ 'aria-label': t('login.showKey') }}
      />
      {error !== undefined && !wrongKey && <ProblemView error={error} />}
      <Button type="submit" size="sm" loading={busy}>
        {t('login.submit')}
      </Button>
    </form>
  );
}
