/** Asks before a page with unsaved changes is left. What was typed is kept unless it is discarded. */
import { Button, Modal } from '@mantine/core';
import { useBlocker } from '@tanstack/react-router';
import { t } from '@/i18n/t';
import classes from './workflow.module.css';

export function Leaving({ dirty, discard }: { dirty: boolean; discard: () => void }) {
  const { status, proceed, reset } = useBlocker({
    shouldBlockFn: ({ current, next }) => dirty && current.pathname !== next.pathname,
    enableBeforeUnload: false,
    withResolver: true,
  });
  if (status !== 'blocked') return null;
  return (
    <Modal
      opened
      onClose={reset}
      title={t('workflow.leaveTitle')}
      closeButtonProps={{ size: 28, 'aria-label': t('common.close') }}
    >
      <div className={classes.stack}>
        <div>{t('workflow.leaveText')}</div>
        <div className={classes.toolbar}>
          <Button
            variant="subtle"
            color="danger"
            onClick={() => {
              discard();
              proceed();
            }}
          >
            {t('workflow.discard')}
          </Button>
          <span className={classes.space} />
          <Button variant="default" onClick={reset}>
            {t('workflow.stay')}
          </Button>
          <Button onClick={proceed} data-autofocus>
            {t('workflow.leaveKeep')}
          </Button>
        </div>
      </div>
    </Modal>
  );
}
