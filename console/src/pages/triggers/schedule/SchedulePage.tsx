/** A saved cron trigger or schedule: form, plan, ledger, last executions. */
import { useMemo, useState } from 'react';
import { parseExact } from '@/api/exact';
import type { Trigger, TriggerSettings } from '@/api/queries/triggers';
import { t } from '@/i18n/t';
import { FieldErrors } from '@/ui/form/fieldErrors';
import { Page } from '@/ui/page/Page';
import { Time } from '@/ui/time/Time';
import { CatchUp, useMissedWhilePaused } from '../CatchUp';
import { FormActions, headOf } from '../FormHead';
import { Conflict } from '../form/Conflict';
import { LeaveGuard } from '../form/LeaveGuard';
import { ChangedMeanwhile, Notice, Refused, Restored } from '../form/Notices';
import { jsonProblem } from '../form/settings';
import { useFormDraft } from '../form/useFormDraft';
import { useSaving } from '../form/useSaving';
import { type Choice, TypeChoice } from '../TypeChoice';
import { History } from './History';
import { Ledger } from './Ledger';
import { SCHEDULE_FIELDS, ScheduleForm, usePlan } from './ScheduleForm';
import {
  type ScheduleDraft,
  type ScheduleKind,
  scheduleBody,
  scheduleDraft,
  scheduleSettings,
} from './scheduleDraft';

const CRON: readonly Choice[] = ['cron'];
const SCHEDULE: readonly Choice[] = ['interval', 'calendar', 'once'];

export function SchedulePage({ trigger }: { trigger: Trigger }) {
  // biome-ignore lint/correctness/useExhaustiveDependencies: settings change with the version only
  const server = useMemo(() => scheduleDraft(trigger), [trigger.id, trigger.version]);
  const form = useFormDraft(`trigger.${trigger.id}`, server, trigger.version);
  const { draft, dirty } = form;
  const saving = useSaving();
  const change = (part: Partial<ScheduleDraft>) => {
    form.change(part);
    saving.forget();
  };
  const plan = usePlan(draft);
  const [asking, setAsking] = useState(false);
  const [looking, setLooking] = useState<Trigger>();
  const enables = draft.enabled && !trigger.enabled;
  const missed = useMissedWhilePaused(trigger, enables);

  const send = async (over: number | undefined, catchUp?: boolean) => {
    const body = scheduleBody(draft);
    const saved = await saving.save({ id: trigger.id, body, over, catchUp, enables });
    if (saved) form.saved(scheduleDraft(saved), saved.version);
  };
  const save = () => {
    if (!dirty || jsonProblem(draft.input)) return;
    if (enables) setAsking(true);
    else send(form.version);
  };
  const besides = new FieldErrors(saving.error).besides(SCHEDULE_FIELDS);
  const head = headOf(trigger);
  return (
    <Page
      {...head}
      actions={
        <FormActions
          trigger={trigger}
          dirty={dirty}
          busy={saving.busy}
          save={save}
          cancel={() => {
            form.discard();
            saving.forget();
          }}
          body={() => scheduleBody(draft)}
          deleted={form.discard}
        />
      }
    >
      <Restored at={form.restored} discard={form.discard} />
      {dirty && (
        <ChangedMeanwhile
          theirs={trigger.version}
          mine={form.version}
          show={() => setLooking(trigger)}
        />
      )}
      <About trigger={trigger} />
      <Refused error={saving.error} besides={besides} />
      <ScheduleForm
        trigger={trigger}
        workflow={trigger.workflow_id}
        draft={draft}
        change={change}
        plan={plan}
        refused={saving.error}
        types={
          <TypeChoice
            value={draft.kind}
            allowed={trigger.trigger_type === 'cron' ? CRON : SCHEDULE}
            onChange={(kind) => change({ kind: kind as ScheduleKind })}
          />
        }
      />
      <Ledger trigger={trigger} planned={dirty ? [] : (plan.preview?.next ?? [])} />
      <History trigger={trigger} />
      <LeaveGuard dirty={dirty} discard={form.discard} />
      <CatchUp
        opened={asking}
        onClose={() => setAsking(false)}
        trigger={trigger}
        missed={missed}
        request={(catchUp) => ({
          method: 'PUT',
          path: `/api/triggers/${trigger.id}?catch_up=${catchUp}`,
          body: scheduleBody(draft),
        })}
        run={(catchUp) => send(form.version, catchUp)}
      />
      <Conflict
        theirs={saving.theirs ?? looking}
        read={(saved) => withInput(scheduleDraft(saved))}
        mine={withInput(draft)}
        onClose={() => {
          saving.setTheirs(undefined);
          setLooking(undefined);
        }}
        takeTheirs={() => {
          form.discard();
          saving.setTheirs(undefined);
          setLooking(undefined);
        }}
        saveMine={
          saving.theirs &&
          (() => {
            const over = saving.theirs?.version;
            saving.setTheirs(undefined);
            send(over);
          })
        }
      />
    </Page>
  );
}

function withInput(draft: ScheduleDraft): TriggerSettings {
  const settings = scheduleSettings(draft);
  if (draft.input.trim() === '' || jsonProblem(draft.input)) return settings;
  return { ...settings, input: parseExact(draft.input) };
}

/** What is to know of it now. */
function About({ trigger }: { trigger: Trigger }) {
  if (trigger.workflow_deleted)
    return <Notice tone="failed">{t('trigger.workflowDeleted')}</Notice>;
  if (trigger.overdue_since)
    return (
      <Notice tone="late">
        {t('trigger.overdueSince')} <Time at={trigger.overdue_since} />
      </Notice>
    );
  if (trigger.finished) return <Notice>{t('trigger.finished')}</Notice>;
  return null;
}
