/** All versions: who saved them and when; any two compared; an old one brought back. */
import { Button, Radio } from '@mantine/core';
import { useQuery, useQueryClient } from '@tanstack/react-query';
import { Link, useRouter } from '@tanstack/react-router';
import { useState } from 'react';
import {
  type Version,
  versionDiff,
  versionQuery,
  versionsQuery,
  workflowsKey,
} from '@/api/queries/workflows';
import { t } from '@/i18n/t';
import { Changes } from '@/ui/definition/Changes';
import { formatOf } from '@/ui/definition/verdict';
import { Panel } from '@/ui/page/Page';
import { ProblemView } from '@/ui/state/ProblemView';
import { Skeleton } from '@/ui/state/Skeleton';
import { Time } from '@/ui/time/Time';
import { toastDone } from '@/ui/toast/toast';
import { SaveDialog } from './SaveDialog';
import { TextDiff } from './TextDiff';
import type { TabProps } from './tab';
import classes from './workflow.module.css';

export default function VersionsTab({ id, workflow, search }: TabProps) {
  const router = useRouter();
  const versions = useQuery(versionsQuery(id));
  const [restoring, setRestoring] = useState<number>();
  const newest = workflow.version;
  const to = Number(search.with) || newest;
  const from = Number(search.v) || (to > 1 ? to - 1 : 0);
  const compare = (a: number, b: number) =>
    router.navigate({
      to: '/workflows/$id',
      params: { id },
      search: { tab: 'versions', v: String(a), with: String(b) },
      replace: true,
    });

  return (
    <div className={classes.stack}>
      <Panel flush title={t('workflow.versionCount', { count: versions.data?.length ?? newest })}>
        {versions.isPending && <Skeleton rows={4} />}
        {versions.isError && (
          <div className={classes.pad}>
            <ProblemView error={versions.error} retry={versions.refetch} />
          </div>
        )}
        {versions.data && (
          <VersionTable
            id={id}
            rows={versions.data}
            newest={newest}
            chosen={[from, to]}
            choose={compare}
            restore={setRestoring}
          />
        )}
      </Panel>
      {from > 0 && to > 0 && from !== to && <Comparison id={id} from={from} to={to} />}
      {restoring !== undefined && (
        <Restore
          id={id}
          version={restoring}
          newest={newest}
          onClose={() => setRestoring(undefined)}
        />
      )}
    </div>
  );
}

interface VersionTableProps {
  id: string;
  rows: Version[];
  newest: number;
  chosen: [number, number];
  choose: (from: number, to: number) => void;
  restore: (version: number) => void;
}

function VersionTable({ id, rows, newest, chosen, choose, restore }: VersionTableProps) {
  const [from, to] = chosen;
  return (
    <div className={classes.scroll}>
      <table className={classes.table}>
        <thead>
          <tr>
            <th scope="col">{t('workflow.from')}</th>
            <th scope="col">{t('workflow.to')}</th>
            <th scope="col">{t('workflow.version')}</th>
            <th scope="col">{t('workflow.savedAt')}</th>
            <th scope="col">{t('workflow.savedBy')}</th>
            <th scope="col">{t('workflow.content')}</th>
            <th scope="col">
              <span className="hidden-text">{t('workflow.restore')}</span>
            </th>
          </tr>
        </thead>
        <tbody>
          {rows.map((row) => (
            <tr key={row.version} data-chosen={chosen.includes(row.version) || undefined}>
              <td>
                <Radio
                  name="from"
                  aria-label={t('workflow.compareFrom', { version: row.version })}
                  checked={row.version === from}
                  disabled={row.version === to}
                  onChange={() => choose(row.version, to)}
                />
              </td>
              <td>
                <Radio
                  name="to"
                  aria-label={t('workflow.compareTo', { version: row.version })}
                  checked={row.version === to}
                  disabled={row.version === from}
                  onChange={() => choose(from, row.version)}
                />
              </td>
              <td>
                <Link
                  to="/workflows/$id"
                  params={{ id }}
                  search={{
                    tab: 'definition',
                    v: row.version === newest ? undefined : String(row.version),
                  }}
                >
                  {t('workflow.v', { version: row.version })}
                </Link>
                {row.version === newest && (
                  <span className={classes.current}>{t('workflow.current')}</span>
                )}
              </td>
              <td>
                <Time at={row.created_at} as="full" />{' '}
                <small className={classes.muted}>
                  <Time at={row.created_at} />
                </small>
              </td>
              <td>{row.created_by}</td>
              <td>
                <code className={classes.muted} title={row.content_hash}>
                  {row.content_hash.slice(0, 12)}
                </code>
              </td>
              <td className={classes.end}>
                {row.version !== newest && (
                  <Button variant="subtle" size="compact-xs" onClick={() => restore(row.version)}>
                    {t('workflow.restore')}
                  </Button>
                )}
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

function Comparison({ id, from, to }: { id: string; from: number; to: number }) {
  const diff = useQuery(versionDiff(id, from, to));
  const before = useQuery(versionQuery(id, from));
  const after = useQuery(versionQuery(id, to));
  const error = diff.error ?? before.error ?? after.error;
  return (
    <Panel title={t('workflow.between', { from, to })}>
      <div className={classes.stack}>
        {error && <ProblemView error={error} retry={diff.refetch} />}
        {diff.data && <Changes changes={diff.data.changes} />}
        {before.data && after.data && (
          <TextDiff
            before={before.data.source ?? ''}
            after={after.data.source ?? ''}
            labels={[t('workflow.v', { version: from }), t('workflow.v', { version: to })]}
            format={formatOf(after.data.source ?? '')}
          />
        )}
        {!diff.data && !error && <Skeleton rows={3} />}
      </div>
    </Panel>
  );
}

interface RestoreProps {
  id: string;
  version: number;
  newest: number;
  onClose: () => void;
}

/** An old version becomes the newest: its text is saved again. */
function Restore({ id, version, newest, onClose }: RestoreProps) {
  const client = useQueryClient();
  const { data } = useQuery(versionQuery(id, version));
  if (data?.source == null) return null;
  return (
    <SaveDialog
      id={id}
      text={data.source}
      base={newest}
      title={t('workflow.restoreTitle', { version })}
      opened
      onClose={onClose}
      onSaved={(saved) => {
        onClose();
        toastDone(t('workflow.restored', { version, next: saved.version }));
        client.invalidateQueries({ queryKey: workflowsKey });
      }}
      onRebase={() => client.invalidateQueries({ queryKey: workflowsKey })}
      onTakeTheirs={() => client.invalidateQueries({ queryKey: workflowsKey })}
    />
  );
}
