/**
 * Before a definition is saved: what changes, what it means for what is open, and whether somebody else
 * was faster. A conflict shows theirs and yours; nothing that was typed is lost.
 */
import { Button, Modal } from '@mantine/core';
import { useQuery, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { ApiProblem } from '@/api/problem';
import {
  draftDiff,
  judge,
  openExecutions,
  type Saved,
  saveWorkflow,
  type Version,
  versionDiff,
  versionQuery,
  workflowQuery,
} from '@/api/queries/workflows';
import { t } from '@/i18n/t';
import { curlOf } from '@/ui/confirm/curl';
import { CopyButton } from '@/ui/copy/CopyButton';
import { Changes } from '@/ui/definition/Changes';
import { formatOf } from '@/ui/definition/verdict';
import { IconAlertTriangle, IconInfoCircle } from '@/ui/icons';
import { ProblemView } from '@/ui/state/ProblemView';
import { Skeleton } from '@/ui/state/Skeleton';
import { Time } from '@/ui/time/Time';
import { TextDiff } from './TextDiff';
import classes from './workflow.module.css';

export interface SaveDialogProps {
  id: string;
  text: string;
  /** The version that the text began with. */
  base: number;
  opened: boolean;
  onClose: () => void;
  onSaved: (saved: Saved) => void;
  /** Goes on with the text on top of a newer version. */
  onRebase: (version: number) => void;
  onTakeTheirs: () => void;
  title?: string;
}

export function SaveDialog(props: SaveDialogProps) {
  return (
    <Modal
      opened={props.opened}
      onClose={props.onClose}
      title={props.title ?? t('workflow.saveTitle', { id: props.id })}
      size="min(1100px, 96vw)"
      closeButtonProps={{ size: 28, 'aria-label': t('common.close') }}
    >
      {props.opened && <Body {...props} />}
    </Modal>
  );
}

/** What saving would change, against the version that is current now, and the saving itself. */
function useSaving({ id, text, base, onSaved }: SaveDialogProps) {
  const client = useQueryClient();
  const format = formatOf(text);
  const [busy, setBusy] = useState(false);
  const [error, setError] = useState<unknown>();
  const diff = useQuery({
    queryKey: ['workflows', 'draft-diff', id, text],
    queryFn: () => draftDiff(id, text, format),
    staleTime: 0,
    gcTime: 0,
    retry: false,
  });
  const current = diff.data?.from_version ?? base;
  const theirs = useQuery({ ...versionQuery(id, current), enabled: diff.isSuccess }).data;
  const conflict = diff.isSuccess && current !== base;
  const save = async () => {
    setBusy(true);
    setError(undefined);
    try {
      onSaved(await saveWorkflow(id, text, format, current));
    } catch (refused) {
      const late = refused instanceof ApiProblem && refused.status === 412;
      if (!late) setError(refused);
      else {
        await client.invalidateQueries({ queryKey: workflowQuery(id).queryKey });
        await diff.refetch();
      }
    } finally {
      setBusy(false);
    }
  };
  return { diff, theirs, current, conflict, format, save, busy, error };
}

function Body(props: SaveDialogProps) {
  const { id, text, base } = props;
  const saving = useSaving(props);
  const { diff, theirs, current, conflict, format } = saving;
  if (diff.isPending) return <Skeleton rows={6} />;
  if (diff.isError)
    return (
      <div className={classes.stack}>
        <ProblemView error={diff.error} retry={diff.refetch} />
        <Buttons onClose={props.onClose} />
      </div>
    );
  const { changes } = diff.data;
  const same = changes.length === 0;
  const before = t(conflict ? 'workflow.theirs' : 'workflow.v', { version: current });
  return (
    <div className={classes.stack}>
      {conflict && theirs && <Conflict theirs={theirs} base={base} />}
      {conflict && <TheirChanges id={id} base={base} current={current} />}
      <Effects id={id} text={text} next={current + 1} same={same} />
      <h3 className={classes.small}>
        {conflict
          ? t('workflow.changesOver', { version: current, count: changes.length })
          : t('workflow.changeCount', { count: changes.length })}
      </h3>
      {!same && <Changes changes={changes} />}
      {theirs && (
        <TextDiff
          before={theirs.source ?? ''}
          after={text}
          labels={[before, t('workflow.yours')]}
          format={format}
        />
      )}
      {saving.error !== undefined && <ProblemView error={saving.error} />}
      <Buttons onClose={props.onClose} curl={() => curlFor(id, text, format, current)}>
        {conflict && <ConflictButtons {...props} current={current} />}
        <Button onClick={saving.save} loading={saving.busy} disabled={same} data-autofocus>
          {t(conflict ? 'workflow.saveOver' : 'workflow.saveAs', { version: current + 1 })}
        </Button>
      </Buttons>
    </div>
  );
}

function Conflict({ theirs, base }: { theirs: Version; base: number }) {
  return (
    <div className={classes.notice} data-tone="late" role="alert">
      <IconAlertTriangle size={16} aria-hidden="true" />
      <span>
        {t('workflow.conflict', { version: theirs.version, who: theirs.created_by, base })}{' '}
        <Time at={theirs.created_at} />
      </span>
    </div>
  );
}

function ConflictButtons(props: SaveDialogProps & { current: number }) {
  const { current, onClose, onRebase, onTakeTheirs } = props;
  return (
    <>
      <Button
        variant="subtle"
        color="danger"
        onClick={() => {
          onTakeTheirs();
          onClose();
        }}
      >
        {t('workflow.takeTheirs')}
      </Button>
      <Button
        variant="default"
        onClick={() => {
          onRebase(current);
          onClose();
        }}
      >
        {t('workflow.goOn', { version: current })}
      </Button>
    </>
  );
}

/** What the others changed since the text was begun. */
function TheirChanges({ id, base, current }: { id: string; base: number; current: number }) {
  const { data } = useQuery(versionDiff(id, base, current));
  if (!data || data.changes.length === 0) return null;
  return (
    <>
      <h3 className={classes.small}>{t('workflow.theyChanged', { from: base, to: current })}</h3>
      <Changes changes={data.changes} />
    </>
  );
}

function curlFor(id: string, text: string, format: string, version: number): string {
  return curlOf({
    method: 'PUT',
    path: `/api/workflows/${encodeURIComponent(id)}`,
    headers: { 'Content-Type': `application/${format}`, 'If-Match': `"${version}"` },
    body: text,
  });
}

interface ButtonsProps {
  onClose: () => void;
  curl?: () => string;
  children?: React.ReactNode;
}

function Buttons({ onClose, curl, children }: ButtonsProps) {
  return (
    <div className={classes.toolbar}>
      {curl && <CopyButton withText label={t('common.copyCurl')} text={curl} />}
      <span className={classes.space} />
      <Button variant="default" onClick={onClose}>
        {t('common.cancel')}
      </Button>
      {children}
    </div>
  );
}

interface EffectsProps {
  id: string;
  text: string;
  next: number;
  same: boolean;
}

/** What saving means: the new version, what stays on the old one, and the server's notes. */
function Effects({ id, text, next, same }: EffectsProps) {
  const open = useQuery({ ...openExecutions(id), staleTime: 0 });
  const verdict = useQuery({
    queryKey: ['workflows', 'notes', text],
    queryFn: () => judge(text, formatOf(text)),
    gcTime: 0,
  });
  const count = open.data?.items.length ?? 0;
  const lines = same
    ? [t('workflow.effectNone')]
    : [
        t('workflow.effectNew', { version: next }),
        ...(count > 0
          ? [
              open.data?.next_cursor
                ? t('workflow.effectMany', { count })
                : t('workflow.effectOpen', { count }),
            ]
          : []),
        ...(verdict.data?.notes ?? []),
      ];
  return (
    <ul className={classes.effects}>
      {lines.map((line) => (
        <li key={line}>
          <IconInfoCircle size={14} aria-hidden="true" />
          {line}
        </li>
      ))}
    </ul>
  );
}
