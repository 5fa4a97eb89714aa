/** A new cron trigger or schedule. */
import { useNavigate } from '@tanstack/react-router';
import { type ReactNode, useMemo } from 'react';
import { createTrigger } from '@/api/queries/triggers';
import { t } from '@/i18n/t';
import { browserZone } from '@/time/zone';
import { toastDone } from '@/ui/toast/toast';
import { useTriggerChanged } from '../acting';
import { NewFrame, useSubmit } from '../form/NewFrame';
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
  const plan = usePlan(draft);
  const submit = useSubmit(async () => {
    if (jsonProblem(draft.input)) return;
    const made = await createTrigger(workflow, scheduleBody(draft));
    form.discard();
    toastDone(t('trigger.created'));
    changed(made);
    navigate({ to: '/triggers/$id', params: { id: made.id }, ignoreBlocker: true });
  });
  return (
    <NewFrame
      workflow={workflow}
      form={form}
      submit={submit}
      body={() => scheduleBody(draft)}
      fields={SCHEDULE_FIELDS}
    >
      <ScheduleForm
        workflow={workflow}
        draft={draft}
        change={(part) => {
          form.change(part);
          submit.forget();
        }}
        plan={plan}
        refused={submit.error}
        types={types}
      />
    </NewFrame>
  );
}
