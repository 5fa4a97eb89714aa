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

export function NewWorkflow({ template: name }: { template: string }) {
  const client = useQueryClient();
  const router = useRouter();
  const { data: schema } = useQuery(schemaQuery);
  const { draft, change } = useDraft(DRAFT);
  const template = TEMPLATES.find((each) => each.name === name) ?? TEMPLATES[0]!;
  const text = draft?.text ?? template.definition;
  const [judged, setJudged] = useState<Judged>({ checking: true });
  const [busy, setBusy] = useState(false);
  const [error, setError] = useState<unknown>();
  const [taken, setTaken] = useState<string>();
  const id = useMemo(() => idOf(text), [text]);
  const type = useCallback(
    (next: string) => {
      setTaken(undefined);
      change(TEMPLATES.some((each) => each.definition === next) ? undefined : { text: next });
    },
    [change],
  );
  const ready =
    id !== '' && !judged.checking && (judged.problems?.length ?? 0) === 0 && !judged.error;
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
  useShortcuts([{ keys: 'mod+s', label: t('workflow.keySave'), run: create, inFields: true }]);

  return (
    <Page
      title={t('workflows.new')}
      actions={
        <>
          <Button
            variant="default"
            onClick={() => {
              change(undefined);
              router.navigate({ to: '/workflows' });
            }}
          >
            {t('common.cancel')}
          </Button>
          <Button onClick={create} loading={busy} disabled={!ready}>
            {t('workflows.create')}
          </Button>
        </>
      }
    >
      <div className={classes.new}>
        <div className={classes.templates} role="group" aria-label={t('workflows.templates')}>
          {TEMPLATES.map((each) => {
            const Icon = ICONS[each.name as keyof typeof ICONS];
            return (
              <button
                key={each.name}
                type="button"
                className={classes.template}
                aria-pressed={draft === undefined && each === template}
                onClick={() => {
                  change(undefined);
                  router.navigate({ to: '/workflows', search: { new: each.name }, replace: true });
                }}
              >
                <Icon size={18} stroke={1.75} aria-hidden="true" />
                <strong>{t(each.title)}</strong>
                <span>{t(each.text)}</span>
              </button>
            );
          })}
        </div>
        <div className={classes.work}>
          <TextInput
            label={t('workflows.id')}
            description={t('workflows.idText')}
            maw={420}
            value={id}
            onChange={(event) => type(setAt(text, ['id'], event.currentTarget.value.trim()))}
            error={
              taken === id &&
              taken !== undefined &&
              rich('workflows.taken', {
                link: (
                  <Link to="/workflows/$id" params={{ id }}>
                    {id}
                  </Link>
                ),
              })
            }
          />
          {error !== undefined && <ProblemView error={error} />}
          <DefinitionEditor
            text={text}
            onChange={type}
            label={t('workflows.new')}
            check={judge}
            schema={schema}
            onVerdict={setJudged}
          />
        </div>
      </div>
    </Page>
  );
}
