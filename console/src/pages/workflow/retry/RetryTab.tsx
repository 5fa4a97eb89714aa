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

/** The form: what the definition says, until something is changed; kept in the browser until it is saved. */
function useRetryForm({ id, workflow }: TabProps) {
  const { retry } = (workflow.definition ?? {}) as Definition;
  const source = workflow.source ?? stringifyExact(workflow.definition, 2);
  const before = useMemo(() => readPolicy(retry), [retry]);
  const [kept, keep] = useKept<{ version: number; form: RetryForm } | null>(`retry.${id}`, null);
  const form = kept?.form ?? before;
  const base = kept?.version ?? workflow.version;
  /** The text to be saved; null when it could not be written. */
  const [written, setWritten] = useState<string | null>();
  const change = (part: Partial<RetryForm>) => {
    const next = { ...form, ...part };
    setWritten(undefined);
    keep(changedSettings(before, next).length > 0 ? { version: base, form: next } : null);
  };
  const write = async () => {
    // Comes with the parser of definitions, which nothing else here needs.
    const { writePolicy } = await import('./write');
    setWritten(writePolicy(source, form) ?? null);
  };
  return {
    form,
    base,
    dirty: changedSettings(before, form).length > 0,
    change,
    discard: () => keep(null),
    rebase: (version: number) => keep({ version, form }),
    written,
    write,
    close: () => setWritten(undefined),
  };
}

export default function RetryTab(props: TabProps) {
  const { id, workflow } = props;
  const client = useQueryClient();
  const { form, base, dirty, change, discard, rebase, written, write, close } = useRetryForm(props);
  const simulated = useSimulation(form);
  const save = () => {
    if (dirty && !simulated.error) write();
  };
  useShortcuts([{ keys: 'mod+s', label: t('workflow.keySave'), run: save, inFields: true }]);
  const refresh = () => client.invalidateQueries({ queryKey: workflowsKey });
  const { steps = [] } = (workflow.definition ?? {}) as Definition;
  const own = steps.filter((step) => step.retry !== undefined).map((step) => step.id);

  return (
    <div className={classes.stack}>
      <Panel
        title={t('retry.title')}
        actions={
          <>
            <Button variant="default" disabled={!dirty} onClick={discard}>
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
          {written === null && (
            <Hint tone="late">{rich('retry.stuck', { link: <DraftLink id={id} /> })}</Hint>
          )}
          <RetryFields form={form} change={change} error={simulated.error} />
        </div>
      </Panel>
      <Simulator id={id} form={form} simulated={simulated} />
      <RecentRetries id={id} />
      <SaveDialog
        id={id}
        text={written ?? ''}
        base={base}
        opened={typeof written === 'string'}
        onClose={close}
        onSaved={(saved) => {
          discard();
          close();
          toastDone(t('workflow.savedAs', { version: saved.version }));
          refresh();
        }}
        onRebase={(version) => {
          rebase(version);
          refresh();
        }}
        onTakeTheirs={() => {
          discard();
          refresh();
        }}
      />
      <Leaving dirty={dirty} discard={discard} />
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
