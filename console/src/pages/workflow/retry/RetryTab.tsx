/** The retry policy as a form: tried out in the simulator, written into the definition after a look at the change. */
import { Button } from '@mantine/core';
import { useQueryClient } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { useMemo, useState } from 'react';
import { stringifyExact } from '@/api/exact';
import { workflowsKey } from '@/api/queries/workflows';
import { rich, t } from '@/i18n/t';
import { useKept } from '@/settings/kept';
import { hasDraft } from '@/ui/definition/draft';
import { IconInfoCircle } from '@/ui/icons';
import { useShortcuts } from '@/ui/keys/keys';
import { Panel } from '@/ui/page/Page';
import { toastDone } from '@/ui/toast/toast';
import { Leaving } from '../Leaving';
import { SaveDialog } from '../SaveDialog';
import { draftName, type TabProps } from '../tab';
import classes from '../workflow.module.css';
import { changedSettings, type RetryForm, readPolicy } from './policy';
import { RecentRetries } from './RecentRetries';
import { RetryFields } from './RetryFields';
import { Simulator } from './Simulator';
import { useSimulation } from './simulation';

type Definition = { retry?: unknown; steps?: { id?: string; retry?: unknown }[] };

export default function RetryTab({ id, workflow }: TabProps) {
  const client = useQueryClient();
  const definition = (workflow.definition ?? {}) as Definition;
  const source = workflow.source ?? stringifyExact(workflow.definition, 2);
  const before = useMemo(() => readPolicy(definition.retry), [definition.retry]);
  const [kept, keep] = useKept<{ version: number; form: RetryForm } | null>(`retry.${id}`, null);
  const form = kept?.form ?? before;
  const base = kept?.version ?? workflow.version;
  const dirty = changedSettings(before, form).length > 0;
  const [saving, setSaving] = useState<string>();
  const [stuck, setStuck] = useState(false);
  const simulated = useSimulation(form);
  const change = (part: Partial<RetryForm>) => {
    const next = { ...form, ...part };
    setStuck(false);
    keep(changedSettings(before, next).length > 0 ? { version: base, form: next } : null);
  };
  const save = async () => {
    if (!dirty || simulated.error) return;
    // Comes with the parser of definitions, which nothing else here needs.
    const { writePolicy } = await import('./write');
    const text = writePolicy(source, form);
    setStuck(text === undefined);
    setSaving(text);
  };
  useShortcuts([{ keys: 'mod+s', label: t('workflow.keySave'), run: save, inFields: true }]);
  const own = (definition.steps ?? [])
    .filter((step) => step.retry !== undefined)
    .map((step) => step.id);

  return (
    <div className={classes.stack}>
      <Panel
        title={t('retry.title')}
        actions={
          <>
            <Button variant="default" disabled={!dirty} onClick={() => keep(null)}>
              {t('workflow.discard')}
            </Button>
            <Button disabled={!dirty || simulated.error !== undefined} onClick={save}>
              {t('workflow.save')}
            </Button>
          </>
        }
      >
        <div className={classes.stack}>
          {own.length > 0 && (
            <Hint>{t('retry.ownPolicies', { count: own.length, steps: own.join(', ') })}</Hint>
          )}
          {hasDraft(draftName(id)) && (
            <Hint>{rich('retry.otherDraft', { link: <DraftLink id={id} /> })}</Hint>
          )}
          {stuck && <Hint tone="late">{rich('retry.stuck', { link: <DraftLink id={id} /> })}</Hint>}
          <RetryFields form={form} change={change} error={simulated.error} />
        </div>
      </Panel>
      <Simulator id={id} form={form} simulated={simulated} />
      <RecentRetries id={id} />
      <SaveDialog
        id={id}
        text={saving ?? ''}
        base={base}
        opened={saving !== undefined}
        onClose={() => setSaving(undefined)}
        onSaved={(saved) => {
          keep(null);
          setSaving(undefined);
          toastDone(t('workflow.savedAs', { version: saved.version }));
          client.invalidateQueries({ queryKey: workflowsKey });
        }}
        onRebase={(version) => {
          keep({ version, form });
          client.invalidateQueries({ queryKey: workflowsKey });
        }}
        onTakeTheirs={() => {
          keep(null);
          client.invalidateQueries({ queryKey: workflowsKey });
        }}
      />
      <Leaving dirty={dirty} discard={() => keep(null)} />
    </div>
  );
}

function Hint({ tone, children }: { tone?: string; children: React.ReactNode }) {
  return (
    <div className={classes.notice} data-tone={tone} role="note">
      <IconInfoCircle size={16} aria-hidden="true" />
      <span>{children}</span>
    </div>
  );
}

function DraftLink({ id }: { id: string }) {
  return (
    <Link to="/workflows/$id" params={{ id }} search={{ tab: 'definition' }}>
      {t('workflow.tabDefinition')}
    </Link>
  );
}
