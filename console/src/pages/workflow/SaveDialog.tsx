/**
 * Before a definition is saved: what changes, what it means for what is open, and whether somebody else
 * was faster. A conflict shows theirs and yours; nothing that was typed is lost.
 */
import { Button, Modal, SegmentedControl } from '@mantine/core';
import { useMediaQuery } from '@mantine/hooks';
import { useQuery, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { ApiProblem } from '@/api/problem';
import {
  draftDiff,
  judge,
  openExecutions,
  type Saved,
  saveWorkflow,
  versionDiff,
  versionQuery,
  workflowQuery,
} from '@/api/queries/workflows';
import { t } from '@/i18n/t';
import { curlOf } from '@/ui/confirm/curl';
import { CopyButton } from '@/ui/copy/CopyButton';
import { Changes } from '@/ui/definition/Changes';
import { formatOf } from '@/ui/definition/verdict';
import { Diff } from '@/ui/editor/Editor';
import { IconAlertTriangle, IconInfoCircle } from '@/ui/icons';
import { ProblemView } from '@/ui/state/ProblemView';
import { Skeleton } from '@/ui/state/Skeleton';
import { Time } from '@/ui/time/Time';
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

const SIDE_BY_SIDE = '(min-width: 900px)';

function Body(props: SaveDialogProps) {
  const { id, text, base } = props;
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
  const theirs = useQuery({ ...versionQuery(id, current), enabled: diff.isSuccess });
  const conflict = diff.isSuccess && current !== base;

  const save = async () => {
    setBusy(true);
    setError(undefined);
    try {
      props.onSaved(await saveWorkflow(id, text, format, current));
    } catch (refused) {
      setError(refused);
      if (refused instanceof ApiProblem && refused.status === 412) {
        await client.invalidateQueries({ queryKey: workflowQuery(id).queryKey });
        diff.refetch();
      }
    } finally {
      setBusy(false);
    }
  };

  if (diff.isPending) return <Skeleton rows={6} />;
  if (diff.isError)
    return (
      <div className={classes.stack}>
        <ProblemView error={diff.error} retry={diff.refetch} />
        <Buttons onClose={props.onClose} />
      </div>
    );
  const changes = diff.data.changes;
  const same = changes.length === 0;
  return (
    <div className={classes.stack}>
      {conflict && theirs.data && (
        <div className={classes.notice} data-tone="late" role="alert">
          <IconAlertTriangle size={16} aria-hidden="true" />
          <span>
            {t('workflow.conflict', { version: current, who: theirs.data.created_by, base })}{' '}
            <Time at={theirs.data.created_at} />
          </span>
        </div>
      )}
      {conflict && <TheirChanges id={id} base={base} current={current} />}
      <Effects id={id} text={text} next={current + 1} same={same} conflict={conflict} />
      <h3 className={classes.small}>
        {conflict
          ? t('workflow.changesOver', { version: current, count: changes.length })
          : t('workflow.changeCount', { count: changes.length })}
      </h3>
      {!same && <Changes changes={changes} />}
      {theirs.data && (
        <TextDiff
          before={theirs.data.source ?? ''}
          after={text}
          labels={
            conflict
              ? [t('workflow.theirs', { version: current }), t('workflow.yours')]
              : [t('workflow.v', { version: current }), t('workflow.yours')]
          }
          format={format}
        />
      )}
      {error !== undefined &&
        !(conflict && error instanceof ApiProblem && error.status === 412) && (
          <ProblemView error={error} />
        )}
      <Buttons onClose={props.onClose} curl={() => curlFor(id, text, format, current)}>
        {conflict && (
          <>
            <Button
              variant="subtle"
              color="danger"
              onClick={() => {
                props.onTakeTheirs();
                props.onClose();
              }}
            >
              {t('workflow.takeTheirs')}
            </Button>
            <Button
              variant="default"
              onClick={() => {
                props.onRebase(current);
                props.onClose();
              }}
            >
              {t('workflow.goOn', { version: current })}
            </Button>
          </>
        )}
        <Button onClick={save} loading={busy} disabled={same} data-autofocus>
          {conflict
            ? t('workflow.saveOver', { version: current + 1 })
            : t('workflow.saveAs', { version: current + 1 })}
        </Button>
      </Buttons>
    </div>
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
  conflict: boolean;
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

interface TextDiffProps {
  before: string;
  after: string;
  labels: [string, string];
  format: 'json' | 'yaml';
}

export function TextDiff({ before, after, labels, format }: TextDiffProps) {
  const wide = useMediaQuery(SIDE_BY_SIDE, true, { getInitialValueInEffect: false });
  const [chosen, setChosen] = useState<string>();
  const shape = chosen ?? (wide ? 'split' : 'unified');
  if (before === after) return null;
  return (
    <div className={classes.diff}>
      <div className={classes.diffHead}>
        <span>{labels[0]}</span>
        <span>{labels[1]}</span>
        <SegmentedControl
          aria-label={t('workflow.diffShape')}
          value={shape}
          onChange={setChosen}
          data={[
            { value: 'split', label: t('workflow.diffSplit') },
            { value: 'unified', label: t('workflow.diffUnified') },
          ]}
        />
      </div>
      <Diff
        key={shape}
        before={before}
        after={after}
        label={t('workflow.textDiff')}
        language={format}
        unified={shape === 'unified'}
        maxHeight={360}
      />
    </div>
  );
}
