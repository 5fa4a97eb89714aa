/** A saved webhook: address, settings, tester, requests, quarantine. */
import { useMemo, useState } from 'react';
import { stringifyExact } from '@/api/exact';
import type { Trigger } from '@/api/queries/triggers';
import { t } from '@/i18n/t';
import { FieldErrors } from '@/ui/form/fieldErrors';
import { Page } from '@/ui/page/Page';
import { Time } from '@/ui/time/Time';
import { FormActions, headOf } from '../FormHead';
import { Conflict } from '../form/Conflict';
import formClasses from '../form/form.module.css';
import { LeaveGuard } from '../form/LeaveGuard';
import { ChangedMeanwhile, Notice, Refused, Restored } from '../form/Notices';
import { useFormDraft } from '../form/useFormDraft';
import { useSaving } from '../form/useSaving';
import { type Choice, TypeChoice } from '../TypeChoice';
import { Address } from './Address';
import { Quarantine } from './Quarantine';
import { Requests } from './Requests';
import { KeptSecret, SecretOnce } from './Secret';
import { Tester } from './Tester';
import { useJudged } from './useJudged';
import { useSample } from './useSample';
import { headerOf, prepared, WEBHOOK_FIELDS, WebhookForm } from './WebhookForm';
import { type Method, type WebhookDraft, webhookDraft, webhookSettings } from './webhookDraft';

const WEBHOOK: readonly Choice[] = ['webhook'];

export function WebhookPage({ trigger }: { trigger: Trigger }) {
  // biome-ignore lint/correctness/useExhaustiveDependencies: settings change with the version only
  const server = useMemo(() => webhookDraft(trigger), [trigger.id, trigger.version]);
  const form = useFormDraft(`trigger.${trigger.id}`, server, trigger.version);
  const { draft } = form;
  const [secret, setSecret] = useState('');
  const [once, setOnce] = useState<string>();
  const [looking, setLooking] = useState<Trigger>();
  const saving = useSaving();
  const change = (part: Partial<WebhookDraft>) => {
    form.change(part);
    saving.forget();
  };
  const sample = useSample(trigger.id);
  const judged = useJudged(draft, sample.text, sample.words);
  const savedMethod = trigger.authentication as Method;
  const dirty = form.dirty || secret !== '';

  const settings = () =>
    secret && draft.method !== savedMethod
      ? { ...webhookSettings(draft), secret }
      : webhookSettings(draft);
  const send = async (over: number | undefined) => {
    const saved = await saving.save({
      id: trigger.id,
      body: stringifyExact(settings()),
      over,
      enables: draft.enabled && !trigger.enabled,
    });
    if (!saved) return;
    form.saved(webhookDraft(saved), saved.version);
    setSecret('');
    if (saved.secret && !secret) setOnce(saved.secret);
  };
  const close = () => {
    saving.setTheirs(undefined);
    setLooking(undefined);
  };
  const discard = () => {
    form.discard();
    setSecret('');
  };
  return (
    <Page
      {...headOf(trigger)}
      actions={
        <FormActions
          trigger={trigger}
          dirty={dirty}
          busy={saving.busy}
          save={() => dirty && send(form.version)}
          cancel={() => {
            discard();
            saving.forget();
          }}
          body={() => stringifyExact(webhookSettings(draft))}
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
      {trigger.workflow_deleted && <Notice tone="failed">{t('trigger.workflowDeleted')}</Notice>}
      {trigger.overdue_since && (
        <Notice tone="late">
          {t('trigger.overdueSince')} <Time at={trigger.overdue_since} />
        </Notice>
      )}
      <Refused
        error={saving.error}
        besides={new FieldErrors(saving.error).besides(WEBHOOK_FIELDS)}
      />
      <Address
        trigger={trigger}
        header={headerOf(draft)}
        sample={judged.sampleWrong ? '{}' : sample.text}
        prepare={(sender) => change(prepared(sender, draft))}
      />
      <div className={formClasses.layout} data-wide>
        <div className={formClasses.column}>
          <WebhookForm
            workflow={trigger.workflow_id}
            draft={draft}
            change={change}
            secret={secret}
            setSecret={setSecret}
            judged={judged}
            refused={saving.error}
            saved={savedMethod}
            kept={<KeptSecret trigger={trigger} show={setOnce} />}
            types={<TypeChoice value="webhook" allowed={WEBHOOK} onChange={() => {}} />}
          />
        </div>
        <div className={`${formClasses.column} ${formClasses.side}`}>
          <Tester trigger={trigger} sample={sample} dirty={form.dirty} judged={judged} />
        </div>
      </div>
      <Quarantine trigger={trigger} />
      <Requests trigger={trigger} />
      <LeaveGuard dirty={dirty} discard={discard} />
      <SecretOnce secret={once} onClose={() => setOnce(undefined)} />
      <Conflict
        theirs={saving.theirs ?? looking}
        read={(saved) => webhookSettings(webhookDraft(saved))}
        mine={webhookSettings(draft)}
        onClose={close}
        takeTheirs={() => {
          discard();
          close();
        }}
        saveMine={
          saving.theirs &&
          (() => {
            const over = saving.theirs?.version;
            close();
            send(over);
          })
        }
      />
    </Page>
  );
}
