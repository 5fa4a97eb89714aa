/** How the sender is recognised: the method, the secret, the header. None asks first. */
import { PasswordInput, Radio, Select, TextInput } from '@mantine/core';
import { type ReactNode, useState } from 'react';
import { t, word } from '@/i18n/t';
import { Confirm } from '@/ui/confirm/Confirm';
import type { FieldErrors } from '@/ui/form/fieldErrors';
import { Panel } from '@/ui/page/Page';
import formClasses from '../form/form.module.css';
import { HEADER, namesHeader, senderMakesSecret } from './methods';
import classes from './webhook.module.css';
import { METHODS, type Method, type WebhookDraft } from './webhookDraft';

interface VerifyProps {
  draft: WebhookDraft;
  change: (part: Partial<WebhookDraft>) => void;
  errors: FieldErrors;
  /** A secret that the sender made; never kept. */
  secret: string;
  setSecret: (secret: string) => void;
  /** The method that is saved; its secret exists. */
  saved?: Method;
  /** The hidden secret with its buttons. */
  kept?: ReactNode;
  types?: ReactNode;
}

export function Verify(props: VerifyProps) {
  const { draft, change, errors, saved, kept } = props;
  const [asking, setAsking] = useState(false);
  const { method } = draft;
  const choose = (next: string) => {
    if (next === 'none' && method !== 'none') setAsking(true);
    else change({ method: next as Method });
  };
  const isSaved = saved === method;
  return (
    <Panel title={t('webhook.security')}>
      <div className={formClasses.fields}>
        {props.types}
        <Radio.Group
          label={t('webhook.verify')}
          required
          value={method}
          onChange={choose}
          error={errors.at('authentication')}
        >
          <div className={`${classes.methods} ${formClasses.typeRow}`}>
            {METHODS.map((each) => (
              <Radio
                key={each}
                value={each}
                label={
                  each === 'none' ? (
                    <span className={classes.warn}>{t('webhook.noneNot')}</span>
                  ) : (
                    word('webhook.method', each)
                  )
                }
              />
            ))}
          </div>
        </Radio.Group>
        {method === 'none' && <div className={classes.warn}>{t('webhook.noneText')}</div>}
        {method !== 'none' && (
          <>
            {isSaved ? kept : <NewSecret {...props} />}
            {namesHeader(method) ? (
              <TextInput
                className={`${formClasses.grow} ${classes.mono}`}
                label={method === 'hmac' ? t('webhook.header') : t('webhook.keyHeader')}
                placeholder={HEADER[method]}
                value={draft.header}
                error={errors.at('signature_header')}
                onChange={(event) => change({ header: event.currentTarget.value })}
              />
            ) : (
              <div className={formClasses.hint}>
                {t('webhook.headerFixed')} <code>{HEADER[method]}</code>
              </div>
            )}
            {method === 'hmac' && <OtherSender {...props} />}
          </>
        )}
      </div>
      <Confirm
        opened={asking}
        onClose={() => setAsking(false)}
        danger
        title={t('webhook.noneTitle')}
        action={t('webhook.noneAction')}
        run={async () => change({ method: 'none' })}
      >
        {t('webhook.noneText')}
      </Confirm>
    </Panel>
  );
}

function NewSecret({ draft, secret, setSecret, saved, errors }: VerifyProps) {
  const foreign = senderMakesSecret(draft.method);
  return (
    <PasswordInput
      className={formClasses.grow}
      label={t('webhook.secret')}
      description={
        foreign
          ? t('webhook.secretForeign')
          : saved
            ? t('webhook.secretChanges')
            : t('webhook.secretMade')
      }
      autoComplete="off"
      value={secret}
      error={errors.at('secret')}
      onChange={(event) => setSecret(event.currentTarget.value)}
    />
  );
}

/** Senders that sign in a way of their own. */
function OtherSender({ draft, change, errors }: VerifyProps) {
  const used = draft.prefix || draft.encoding || draft.signedText || draft.timestampHeader;
  const wrong = errors.has('prefix', 'encoding', 'signed_text', 'timestamp_header', 'tolerance');
  return (
    <details open={!!used || wrong}>
      <summary>{t('webhook.otherSender')}</summary>
      <div className={formClasses.row}>
        <TextInput
          className={formClasses.short}
          label={t('webhook.prefix')}
          placeholder="sha256="
          value={draft.prefix}
          error={errors.at('prefix')}
          onChange={(event) => change({ prefix: event.currentTarget.value })}
        />
        <Select
          className={formClasses.short}
          label={t('webhook.encoding')}
          placeholder={t('webhook.encodingBoth')}
          clearable
          data={['hex', 'base64']}
          value={draft.encoding || null}
          error={errors.at('encoding')}
          onChange={(encoding) => change({ encoding: encoding ?? '' })}
        />
        <TextInput
          className={formClasses.grow}
          label={t('webhook.signedText')}
          placeholder="{body}"
          value={draft.signedText}
          error={errors.at('signed_text')}
          onChange={(event) => change({ signedText: event.currentTarget.value })}
        />
        <TextInput
          className={formClasses.short}
          label={t('webhook.timestampHeader')}
          value={draft.timestampHeader}
          error={errors.at('timestamp_header')}
          onChange={(event) => change({ timestampHeader: event.currentTarget.value })}
        />
        <TextInput
          className={formClasses.short}
          label={t('webhook.tolerance')}
          placeholder="5m"
          value={draft.tolerance}
          error={errors.at('tolerance')}
          onChange={(event) => change({ tolerance: event.currentTarget.value })}
        />
      </div>
    </details>
  );
}
