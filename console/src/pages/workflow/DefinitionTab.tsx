/** The definition: written here, checked while typing, saved after a look at what changes. */
import { Button } from '@mantine/core';
import { useQuery, useQueryClient } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { useCallback, useMemo, useState } from 'react';
import { stringifyExact } from '@/api/exact';
import {
  judge,
  type Saved,
  schemaQuery,
  type Verdict,
  versionQuery,
  workflowsKey,
} from '@/api/queries/workflows';
import { rich, t } from '@/i18n/t';
import { DefinitionEditor } from '@/ui/definition/DefinitionEditor';
import { useDraft } from '@/ui/definition/draft';
import { type Check, formatOf, type Judged } from '@/ui/definition/verdict';
import { entryOf, plainValue, readYaml } from '@/ui/definition/yaml';
import { IconAlertTriangle } from '@/ui/icons';
import { DownloadButton } from '@/ui/json/Download';
import { useShortcuts } from '@/ui/keys/keys';
import { ProblemView } from '@/ui/state/ProblemView';
import { Skeleton } from '@/ui/state/Skeleton';
import { toastDone } from '@/ui/toast/toast';
import { Leaving } from './Leaving';
import { SaveDialog } from './SaveDialog';
import { draftName, type TabProps } from './tab';
import classes from './workflow.module.css';

export default function DefinitionTab(props: TabProps) {
  const version = Number(props.search.v);
  if (version > 0 && version !== props.workflow.version)
    return <OldVersion id={props.id} version={version} newest={props.workflow.version} />;
  return <Current {...props} />;
}

/** The text as it was sent, or the definition itself where there is none. */
const sourceOf = (workflow: TabProps['workflow']): string =>
  workflow.source ?? stringifyExact(workflow.definition, 2);

/** The definition may leave its id out, since the address has it; it may not have another one. */
export function checkFor(id: string): Check {
  return async (text, format, signal): Promise<Verdict> => {
    const verdict = await judge(text, format, signal);
    const own = entryOf(readYaml(text), 'id');
    if (!own)
      return {
        ...verdict,
        problems: verdict.problems.filter(
          (each) => each.field !== 'id' || !/required/.test(each.message),
        ),
      };
    if (own.value && plainValue(own.value) !== id) {
      const before = text.slice(0, own.value.from).split('\n');
      verdict.problems.unshift({
        field: 'id',
        message: t('workflow.otherId', { id }),
        hint: t('workflow.otherIdHint'),
        line: before.length,
        column: before.at(-1)!.length + 1,
      });
    }
    return verdict;
  };
}

function Current({ id, workflow }: TabProps) {
  const client = useQueryClient();
  const { data: schema } = useQuery(schemaQuery);
  const { draft, change, kept } = useDraft(draftName(id));
  const [saving, setSaving] = useState(false);
  const [judged, setJudged] = useState<Judged>({ checking: true });
  const check = useMemo(() => checkFor(id), [id]);
  const source = sourceOf(workflow);
  const text = draft?.text ?? source;
  const base = draft?.version ?? workflow.version;
  const dirty = draft !== undefined && draft.text !== source;
  const broken = (judged.problems?.length ?? 0) > 0;

  const type = useCallback(
    (next: string) =>
      change(
        next === source && base === workflow.version ? undefined : { text: next, version: base },
      ),
    [change, source, base, workflow.version],
  );
  const saved = (result: Saved) => {
    change(undefined);
    setSaving(false);
    toastDone(
      t(result.created ? 'workflow.savedAs' : 'workflow.unchanged', { version: result.version }),
    );
    client.invalidateQueries({ queryKey: workflowsKey });
  };
  const save = () => dirty && setSaving(true);
  useShortcuts([{ keys: 'mod+s', label: t('workflow.keySave'), run: save, inFields: true }]);

  return (
    <div className={classes.stack}>
      {dirty && base !== workflow.version && (
        <div className={classes.notice} data-tone="late" role="status">
          <IconAlertTriangle size={16} aria-hidden="true" />
          <span>{t('workflow.movedOn', { base, version: workflow.version })}</span>
          <Button variant="default" size="compact-xs" onClick={save}>
            {t('workflow.compare')}
          </Button>
        </div>
      )}
      <div className={classes.toolbar}>
        <span className={classes.muted} role="status">
          {dirty
            ? t(kept ? 'workflow.draftKept' : 'workflow.draftNotKept', { version: base })
            : t('workflow.editing', { version: workflow.version })}
        </span>
        <span className={classes.space} />
        <DownloadButton name={`${id}.${formatOf(text)}`} text={() => text} />
        <Button variant="default" disabled={!dirty} onClick={() => change(undefined)}>
          {t('workflow.discard')}
        </Button>
        <Button disabled={!dirty || broken} onClick={save}>
          {t('workflow.save')}
        </Button>
      </div>
      <DefinitionEditor
        text={text}
        onChange={type}
        label={t('workflow.definitionOf', { id })}
        check={check}
        schema={schema}
        onVerdict={setJudged}
      />
      <SaveDialog
        id={id}
        text={text}
        base={base}
        opened={saving}
        onClose={() => setSaving(false)}
        onSaved={saved}
        onRebase={(version) => change({ text, version })}
        onTakeTheirs={() => change(undefined)}
      />
      <Leaving dirty={dirty} discard={() => change(undefined)} />
    </div>
  );
}

function OldVersion({ id, version, newest }: { id: string; version: number; newest: number }) {
  const { data, error, refetch } = useQuery(versionQuery(id, version));
  const current = (
    <Link to="/workflows/$id" params={{ id }} search={{ tab: 'definition' }}>
      {t('workflow.v', { version: newest })}
    </Link>
  );
  return (
    <div className={classes.stack}>
      <div className={classes.notice} role="note">
        <span>{rich('workflow.oldVersion', { version, current })}</span>
      </div>
      {error && <ProblemView error={error} retry={refetch} />}
      {data ? (
        <DefinitionEditor text={data.source ?? ''} label={t('workflow.definitionOf', { id })} />
      ) : (
        !error && <Skeleton />
      )}
    </div>
  );
}
