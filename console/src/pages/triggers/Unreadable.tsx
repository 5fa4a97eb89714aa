/** A trigger whose stored settings no longer work: why, its settings as text, and the repair. */
import { Button } from '@mantine/core';
import { useMemo, useState } from 'react';
import { parseExact } from '@/api/exact';
import { ApiProblem } from '@/api/problem';
import { replaceTrigger, type Trigger } from '@/api/queries/triggers';
import { t } from '@/i18n/t';
import type { CodeProblem } from '@/ui/editor/CodeEditor';
import { Editor } from '@/ui/editor/Editor';
import { Page, Panel } from '@/ui/page/Page';
import { ProblemView } from '@/ui/state/ProblemView';
import { toastDone } from '@/ui/toast/toast';
import { useTriggerChanged } from './acting';
import { FormActions, headOf } from './FormHead';
import { sorted } from './form/Conflict';
import classes from './form/form.module.css';
import { LeaveGuard } from './form/LeaveGuard';
import { Notice } from './form/Notices';
import { jsonProblem, settingsOnly } from './form/settings';
import { useFormDraft } from './form/useFormDraft';
import { Ledger } from './schedule/Ledger';

function textOf(trigger: Trigger): string {
  return sorted({ trigger_type: trigger.trigger_type, ...settingsOnly(trigger) });
}

export function Unreadable({ trigger }: { trigger: Trigger }) {
  const changed = useTriggerChanged();
  const form = useFormDraft(
    `trigger.repair.${trigger.id}`,
    { text: textOf(trigger) },
    trigger.version,
  );
  const [busy, setBusy] = useState(false);
  const [error, setError] = useState<unknown>();
  const wrong = jsonProblem(form.draft.text);
  const problems = useMemo(() => placed(error), [error]);
  const save = async () => {
    if (wrong) return;
    setBusy(true);
    setError(undefined);
    try {
      const repaired = await replaceTrigger(trigger.id, form.draft.text);
      form.discard();
      toastDone(t('trigger.repaired'));
      changed(repaired);
    } catch (refused) {
      setError(refused);
    } finally {
      setBusy(false);
    }
  };
  return (
    <Page
      {...headOf(trigger)}
      actions={
        <FormActions
          trigger={trigger}
          dirty={form.dirty}
          busy={busy}
          save={save}
          cancel={form.discard}
          body={() => form.draft.text}
          deleted={form.discard}
        />
      }
    >
      <Notice tone="failed">
        <strong>{t('trigger.broken')}</strong> {trigger.problem}
        <div>{t('trigger.brokenText')}</div>
      </Notice>
      {error !== undefined && <ProblemView error={error} />}
      <Panel title={t('trigger.settings')}>
        <div className={classes.fields}>
          <Editor
            value={form.draft.text}
            onChange={(text) => form.change({ text })}
            label={t('trigger.settings')}
            language="json"
            problems={problems}
            minHeight={200}
            maxHeight={520}
          />
          {wrong && <div className={classes.wrong}>{wrong}</div>}
          <div>
            <Button
              variant="default"
              disabled={wrong !== undefined}
              onClick={() => form.change({ text: formatted(form.draft.text) })}
            >
              {t('trigger.format')}
            </Button>
          </div>
        </div>
      </Panel>
      {trigger.trigger_type !== 'webhook' && <Ledger trigger={trigger} planned={[]} />}
      <LeaveGuard dirty={form.dirty} discard={form.discard} />
    </Page>
  );
}

/** Where the server found something wrong. */
function placed(error: unknown): CodeProblem[] {
  if (!(error instanceof ApiProblem)) return [];
  return error.fields.flatMap(({ line, column, field, message }) =>
    line && column ? [{ line, column, message: `${field}: ${message}` }] : [],
  );
}

function formatted(text: string): string {
  return sorted(parseExact(text) as Record<string, unknown>);
}
