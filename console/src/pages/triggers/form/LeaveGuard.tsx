/** Asks before a form with unsaved changes is left for another page. */
import { useBlocker } from '@tanstack/react-router';
import { t } from '@/i18n/t';
import { Confirm } from '@/ui/confirm/Confirm';

interface LeaveGuardProps {
  dirty: boolean;
  /** The changes are thrown away. */
  discard: () => void;
}

export function LeaveGuard({ dirty, discard }: LeaveGuardProps) {
  const blocker = useBlocker({
    shouldBlockFn: ({ current, next }) => dirty && current.pathname !== next.pathname,
    // A reload or a closed tab loses nothing: what was typed is kept.
    enableBeforeUnload: false,
    withResolver: true,
  });
  return (
    <Confirm
      opened={blocker.status === 'blocked'}
      onClose={() => blocker.reset?.()}
      danger
      title={t('trigger.leaveTitle')}
      action={t('trigger.leave')}
      cancel={t('trigger.stay')}
      run={async () => {
        discard();
        blocker.proceed?.();
      }}
    >
      {t('trigger.leaveText')}
    </Confirm>
  );
}
