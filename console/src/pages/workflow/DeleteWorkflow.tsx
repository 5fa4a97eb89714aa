/** Deletes a workflow. Refused while executions are open: they are listed. */
import { useQueryClient } from '@tanstack/react-query';
import { Link, useRouter } from '@tanstack/react-router';
import { useState } from 'react';
import { ApiProblem } from '@/api/problem';
import {
  deleteWorkflow,
  OPEN_STATUSES,
  openExecutions,
  workflowsKey,
} from '@/api/queries/workflows';
import type { Execution } from '@/api/types';
import { t } from '@/i18n/t';
import { Confirm } from '@/ui/confirm/Confirm';
import { CopyId } from '@/ui/copy/CopyId';
import { Status } from '@/ui/status/Status';
import { Time } from '@/ui/time/Time';
import { toastDone } from '@/ui/toast/toast';
import classes from './workflow.module.css';

/** So many open executions are listed; the link shows all. */
const LISTED = 8;

interface DeleteProps {
  id: string;
  opened: boolean;
  onClose: () => void;
}

export function DeleteWorkflow({ id, opened, onClose }: DeleteProps) {
  const router = useRouter();
  const client = useQueryClient();
  const [open, setOpen] = useState<Execution[]>();
  const run = async () => {
    try {
      const { triggers_disabled } = await deleteWorkflow(id);
      toastDone(
        triggers_disabled > 0
          ? t('workflow.deletedWith', { id, count: triggers_disabled })
          : t('workflow.deleted', { id }),
      );
      await router.navigate({ to: '/workflows' });
      client.removeQueries({ queryKey: [...workflowsKey, 'one', id] });
      client.invalidateQueries({ queryKey: workflowsKey });
    } catch (error) {
      if (error instanceof ApiProblem && error.status === 409)
        setOpen((await client.fetchQuery({ ...openExecutions(id), staleTime: 0 })).items);
      throw error;
    }
  };
  return (
    <Confirm
      opened={opened}
      onClose={() => {
        setOpen(undefined);
        onClose();
      }}
      title={t('workflow.deleteTitle', { id })}
      action={t('workflow.delete')}
      danger
      request={{ method: 'DELETE', path: `/api/workflows/${encodeURIComponent(id)}` }}
      run={run}
    >
      {t('workflow.deleteText')}
      {open && <OpenExecutions id={id} rows={open} />}
    </Confirm>
  );
}

function OpenExecutions({ id, rows }: { id: string; rows: Execution[] }) {
  return (
    <div className={classes.openList}>
      <strong>{t('workflow.openExecutions', { count: rows.length })}</strong>
      <ul>
        {rows.slice(0, LISTED).map((row) => (
          <li key={row.execution_id}>
            <Status value={row.status} />
            <CopyId id={row.execution_id} to={`/executions/${row.execution_id}`} />
            <Time at={row.created_at} />
          </li>
        ))}
      </ul>
      <Link to="/executions" search={{ workflow: id, status: OPEN_STATUSES }}>
        {t('workflow.showOpen')}
      </Link>
    </div>
  );
}
