/** A new webhook: its address and its secret come with the answer that made it. */
import { useNavigate } from '@tanstack/react-router';
import { type ReactNode, useState } from 'react';
import { stringifyExact } from '@/api/exact';
import { createTrigger, type Trigger } from '@/api/queries/triggers';
import { t } from '@/i18n/t';
import { Panel } from '@/ui/page/Page';
import { toastDone } from '@/ui/toast/toast';
import { useTriggerChanged } from '../acting';
import formClasses from '../form/form.module.css';
import { NewFrame, useSubmit } from '../form/NewFrame';
import { useFormDraft } from '../form/useFormDraft';
import { SampleOnly } from './SampleOnly';
import { SecretOnce } from './Secret';
import { useJudged } from './useJudged';
import { useSample } from './useSample';
import { WEBHOOK_FIELDS, WebhookForm } from './WebhookForm';
import { NEW_WEBHOOK, webhookSettings } from './webhookDraft';

export function NewWebhook({ workflow, types }: { workflow: string; types: ReactNode }) {
  const navigate = useNavigate();
  const changed = useTriggerChanged();
  const form = useFormDraft(`webhook.new.${workflow}`, NEW_WEBHOOK, 0);
  const { draft, change } = form;
  const [secret, setSecret] = useState('');
  const [made, setMade] = useState<Trigger>();
  const sample = useSample(undefined);
  const judged = useJudged(draft, sample.text, sample.words);

  const open = (trigger: Trigger) =>
    navigate({ to: '/triggers/$id', params: { id: trigger.id }, ignoreBlocker: true });
  const settings = () =>
    secret && draft.method !== 'none'
      ? { ...webhookSettings(draft), secret }
      : webhookSettings(draft);
  const submit = useSubmit(async () => {
    const trigger = await createTrigger(workflow, stringifyExact(settings()));
    form.discard();
    setSecret('');
    toastDone(t('trigger.created'));
    const { secret: _, ...known } = trigger;
    changed(known as Trigger);
    if (trigger.secret && !secret) setMade(trigger);
    else open(trigger);
  });
  return (
    <NewFrame
      workflow={workflow}
      form={form}
      submit={submit}
      body={() => stringifyExact(webhookSettings(draft))}
      fields={WEBHOOK_FIELDS}
    >
      <div className={formClasses.layout} data-wide>
        <div className={formClasses.column}>
          <WebhookForm
            workflow={workflow}
            draft={draft}
            change={(part) => {
              change(part);
              submit.forget();
            }}
            secret={secret}
            setSecret={setSecret}
            judged={judged}
            refused={submit.error}
            types={types}
          />
        </div>
        <div className={formClasses.column}>
          <Panel title={t('webhook.sample')}>
            <SampleOnly sample={sample} />
          </Panel>
        </div>
      </div>
      <SecretOnce secret={made?.secret ?? undefined} onClose={() => made && open(made)} />
    </NewFrame>
  );
}
