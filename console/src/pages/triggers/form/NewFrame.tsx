/** The frame of a trigger that is not made yet: what was kept of it, the refusal, save and cancel. */
import { useNavigate } from '@tanstack/react-router';
import { type ReactNode, useState } from 'react';
import { t } from '@/i18n/t';
import { FieldErrors } from '@/ui/form/fieldErrors';
import { Page } from '@/ui/page/Page';
import { FormActions } from '../FormHead';
import { LeaveGuard } from './LeaveGuard';
import { Refused, Restored } from './Notices';
import type { useFormDraft } from './useFormDraft';

/** Sends a form; a refusal stays until something is changed. */
export function useSubmit(send: () => Promise<void>) {
  const [busy, setBusy] = useState(false);
  const [error, setError] = useState<unknown>();
  const save = async () => {
    setBusy(true);
    setError(undefined);
    try {
      await send();
    } catch (refused) {
      setError(refused);
    } finally {
      setBusy(false);
    }
  };
  return { busy, error, save, forget: () => setError(undefined) };
}

interface NewFrameProps {
  workflow: string;
  form: Pick<ReturnType<typeof useFormDraft>, 'dirty' | 'restored' | 'discard'>;
  submit: ReturnType<typeof useSubmit>;
  /** The body that would be sent, for curl. */
  body: () => string;
  /** The fields that show their own mistakes. */
  fields: readonly string[];
  children: ReactNode;
}

export function NewFrame({ workflow, form, submit, body, fields, children }: NewFrameProps) {
  const navigate = useNavigate();
  const cancel = () => {
    form.discard();
    navigate({
      to: '/workflows/$id',
      params: { id: workflow },
      search: { tab: 'triggers' },
      ignoreBlocker: true,
    });
  };
  return (
    <Page
      title={`${t('trigger.new')}: ${workflow}`}
      actions={
        <FormActions
          dirty={form.dirty}
          busy={submit.busy}
          save={submit.save}
          cancel={cancel}
          body={body}
        />
      }
    >
      <Restored at={form.restored} discard={form.discard} />
      <Refused error={submit.error} besides={new FieldErrors(submit.error).besides(fields)} />
      {children}
      <LeaveGuard dirty={form.dirty} discard={form.discard} />
    </Page>
  );
}
