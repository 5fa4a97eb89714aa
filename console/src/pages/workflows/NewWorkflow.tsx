/** A new workflow: a template, its id, its text, and the graph that it draws. */
import { Button, TextInput } from '@mantine/core';
import { useQuery, useQueryClient } from '@tanstack/react-query';
import { Link, useRouter } from '@tanstack/react-router';
import { useCallback, useMemo, useState } from 'react';
import { ApiProblem } from '@/api/problem';
import { judge, saveWorkflow, schemaQuery, workflowsKey } from '@/api/queries/workflows';
import { rich, t } from '@/i18n/t';
import { DefinitionEditor } from '@/ui/definition/DefinitionEditor';
import { useDraft } from '@/ui/definition/draft';
import { setAt } from '@/ui/definition/edit';
import { formatOf, type Judged } from '@/ui/definition/verdict';
import { entryOf, plainValue, readYaml } from '@/ui/definition/yaml';
import { IconArrowBackUp, IconPuzzle, IconWebhook, IconWorld } from '@/ui/icons';
import { useShortcuts } from '@/ui/keys/keys';
import { Page } from '@/ui/page/Page';
import { ProblemView } from '@/ui/state/ProblemView';
import { toastDone } from '@/ui/toast/toast';
import { TEMPLATES } from './templates';
import classes from './workflows.module.css';

const ICONS = {
  http: IconWorld,
  webhook: IconWebhook,
  saga: IconArrowBackUp,
  external: IconPuzzle,
};
const DRAFT = 'workflow-new';

const idOf = (text: string): string => {
  const id = plainValue(entryOf(readYaml(text), 'id')?.value ?? null);
  return id === null ? '' : String(id);
};

/** The text of the new workflow, and making it. */
function useNewWorkflow(name: string) {
  const client = useQueryClient();
  const router = useRouter();
  const { draft, change } = useDraft(DRAFT);
  const template = TEMPLATES.find((each) => each.name === name) ?? TEMPLATES[0]!;
  const text = draft?.text ?? template.definition;
  const id = useMemo(() => idOf(text), [text]);
  const [judged, setJudged] = useState<Judged>({ checking: true });
  const [busy, setBusy] = useState(false);
  const [error, setError] = useState<unknown>();
  const [taken, setTaken] = useState<string>();
  const type = useCallback(
    (next: string) =>
      change(TEMPLATES.some((each) => each.definition === next) ? undefined : { text: next }),
    [change],
  );
  const sound = (judged.problems?.length ?? 0) === 0 && !judged.checking && !judged.error;
  const ready = id !== '' && sound;
  const create = async () => {
    if (!ready || busy) return;
    setBusy(true);
    setError(undefined);
    try {
      const saved = await saveWorkflow(id, text, formatOf(text), 'new');
      change(undefined);
      toastDone(t('workflow.savedAs', { version: saved.version }));
      client.invalidateQueries({ queryKey: workflowsKey });
      const tab = template.name === 'webhook' ? 'triggers' : undefined;
      await router.navigate({ to: '/workflows/$id', params: { id }, search: { tab } });
    } catch (refused) {
      if (refused instanceof ApiProblem && refused.status === 412) setTaken(id);
      else setError(refused);
    } finally {
      setBusy(false);
    }
  };
  const start = (next: string | undefined) => {
    change(undefined);
    router.navigate({ to: '/workflows', search: { new: next }, replace: next !== undefined });
  };
  const chosen = draft === undefined ? template.name : undefined;
  return {
    text,
    id,
    type,
    chosen,
    start,
    create,
    ready,
    busy,
    error,
    taken: taken === id,
    setJudged,
  };
}

export function NewWorkflow({ template }: { template: string }) {
  const { data: schema } = useQuery(schemaQuery);
  const made = useNewWorkflow(template);
  const { text, id, type, create } = made;
  useShortcuts([{ keys: 'mod+s', label: t('workflow.keySave'), run: create, inFields: true }]);
  const link = (
    <Link to="/workflows/$id" params={{ id }}>
      {id}
    </Link>
  );
  return (
    <Page
      title={t('workflows.new')}
      actions={
        <>
          <Button variant="default" onClick={() => made.start(undefined)}>
            {t('common.cancel')}
          </Button>
          <Button onClick={create} loading={made.busy} disabled={!made.ready}>
            {t('workflows.create')}
          </Button>
        </>
      }
    >
      <div className={classes.new}>
        <Templates chosen={made.chosen} choose={made.start} />
        <div className={classes.work}>
          <TextInput
            label={t('workflows.id')}
            description={t('workflows.idText')}
            maw={420}
            value={id}
            onChange={(event) => type(setAt(text, ['id'], event.currentTarget.value.trim()))}
            error={made.taken && rich('workflows.taken', { link })}
          />
          {made.error !== undefined && <ProblemView error={made.error} />}
          <DefinitionEditor
            text={text}
            onChange={type}
            label={t('workflows.new')}
            check={judge}
            schema={schema}
            onVerdict={made.setJudged}
          />
        </div>
      </div>
    </Page>
  );
}

interface TemplatesProps {
  chosen: string | undefined;
  choose: (name: string) => void;
}

function Templates({ chosen, choose }: TemplatesProps) {
  return (
    <div className={classes.templates} role="group" aria-label={t('workflows.templates')}>
      {TEMPLATES.map(({ name, title, text }) => {
        const Icon = ICONS[name as keyof typeof ICONS];
        return (
          <button
            key={name}
            type="button"
            className={classes.template}
            aria-pressed={name === chosen}
            onClick={() => choose(name)}
          >
            <Icon size={18} stroke={1.75} aria-hidden="true" />
            <strong>{t(title)}</strong>
            <span>{t(text)}</span>
          </button>
        );
      })}
    </div>
  );
}
