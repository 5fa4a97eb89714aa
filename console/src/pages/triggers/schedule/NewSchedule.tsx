/** A new cron trigger or schedule. */
import { useNavigate } from '@tanstack/react-router';
import { type ReactNode, useMemo, useState } from 'react';
import { createTrigger } from '@/api/queries/triggers';
import { t } from '@/i18n/t';
import { browserZone } from '@/time/zone';
import { Page } from '@/ui/page/Page';
import { toastDone } from '@/ui/toast/toast';
import { useTriggerChanged } from '../acting';
import { FormActions } from '../FormHead';
import { FieldErrors } from '../form/fieldErrors';
import { LeaveGuard } from '../form/LeaveGuard';
import { Refused, Restored } from '../form/Notices';
import { jsonProblem } from '../form/settings';
import { useFormDraft } from '../form/useFormDraft';
import { SCHEDULE_FIELDS, ScheduleForm, usePlan } from './ScheduleForm';
import { NEW_SCHEDULE, type ScheduleDraft, type ScheduleKind, scheduleBody } from './scheduleDraft';

interface NewScheduleProps {
  workflow: string;
  kind: ScheduleKind;
  types: ReactNode;
}

export function NewSchedule({ workflow, kind, types }: NewScheduleProps) {
  const navigate = useNavigate();
  const changed = useTriggerChanged();
  const fresh = useMemo<ScheduleDraft>(() => ({ ...NEW_SCHEDULE, timezone: browserZone() }), []);
  const form = useFormDraft(`trigger.new.${workflow}`, fresh, 0);
  // The kind is in the URL; everything else is what was typed.
  const draft = useMemo(() => ({ ...form.draft, kind }), [form.draft, kind]);
  const [busy, setBusy] = useState(false);
  const [error, setError] = useState<unknown>();
  const plan = usePlan(draft);

  const save = async () => {
    if (jsonProblem(draft.input)) return;
    setBusy(true);
    setError(undefined);
    try {
      const made = await createTrigger(workflow, scheduleBody(draft));
      form.discard();
      toastDone(t('trigger.created'));
      changed(made);
      navigate({ to: '/triggers/$id', params: { id: made.id }, ignoreBlocker: true });
    } catch (refused) {
      setError(refused);
    } finally {
      setBusy(false);
    }
  };
  return (
    <Page
      title={`${t('trigger.new')}: ${workflow}`}
      actions={
        <FormActions
          dirty={form.dirty}
          busy={busy}
          save={save}
          cancel={() => {
            form.discard();
            navigate({
              to: '/workflows/$id',
              params: { id: workflow },
              search: { tab: 'triggers' },
              ignoreBlocker: true,
            });
          }}
          body={() => scheduleBody(draft)}
        />
      }
    >
      <Restored at={form.restored} discard={form.discard} />
      <Refused error={error} besides={new FieldErrors(error).besides(SCHEDULE_FIELDS)} />
      <ScheduleForm
        workflow={workflow}
        draft={draft}
        change={(part) => {
          form.change(part);
          setError(undefined);
        }}
        plan={plan}
        refused={error}
        types={types}
      />
      <LeaveGuard dirty={form.dirty} discard={form.discard} />
    </Page>
  );
}
