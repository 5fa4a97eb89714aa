/** Asks before a letter is given up. */
import { useQueryClient } from '@tanstack/react-query';
import { deleteLetter, deleteRequest, type Letter, lettersKey } from '@/api/queries/dlq';
import { t } from '@/i18n/t';
import { Confirm } from '@/ui/confirm/Confirm';
import { shortId } from '@/ui/copy/CopyId';
import { toastDone } from '@/ui/toast/toast';
import classes from './dlq.module.css';
import { forgetDraft } from './draft';

interface DeleteDialogProps {
  letter: Letter;
  close: () => void;
  done?: () => void;
}

export function DeleteDialog({ letter, close, done }: DeleteDialogProps) {
  const client = useQueryClient();
  return (
    <Confirm
      opened
      danger
      onClose={close}
      title={t('dlq.confirmDelete', { count: 1 })}
      action={t('dlq.delete')}
      request={deleteRequest(letter.id)}
      run={async () => {
        await deleteLetter(letter.id);
        forgetDraft(letter.id);
        toastDone(t('dlq.deleted'));
        client.invalidateQueries({ queryKey: lettersKey });
        done?.();
      }}
    >
      <p className={classes.text}>
        <strong>{letter.workflow_id}</strong> <code>{shortId(letter.execution_id)}</code>
        <br />
        {letter.error_message}
      </p>
      <p className={classes.text}>{t('dlq.confirmDeleteText')}</p>
    </Confirm>
  );
}
