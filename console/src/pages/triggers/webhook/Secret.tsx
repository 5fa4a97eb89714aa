/** The secret of a webhook: hidden, replaced while the old one still works, shown once. */
import { Button, Modal, PasswordInput, Radio, Select, Switch } from '@mantine/core';
import { useState } from 'react';
import type { Trigger } from '@/api/queries/triggers';
import { rotateSecret } from '@/api/queries/webhooks';
import { t, word } from '@/i18n/t';
import { Confirm } from '@/ui/confirm/Confirm';
import { CopyText } from '@/ui/copy/CopyText';
import { IconRotate } from '@/ui/icons';
import { Time } from '@/ui/time/Time';
import { toastDone } from '@/ui/toast/toast';
import { useTriggerChanged } from '../acting';
import formClasses from '../form/form.module.css';
import { senderMakesSecret } from './methods';
import classes from './webhook.module.css';
import type { Method } from './webhookDraft';

const KEEP = ['0s', '1h', '24h', '7d'] as const;

export function KeptSecret({
  trigger,
  show,
}: {
  trigger: Trigger;
  show: (secret: string) => void;
}) {
  const [opened, setOpened] = useState(false);
  const until = trigger.previous_secret_until;
  return (
    <div>
      <div className={formClasses.label}>{t('webhook.secret')}</div>
      <div className={classes.secret}>
        <span className={classes.dots} role="img" aria-label={t('webhook.secretHidden')}>
          {'•'.repeat(24)}
        </span>
        <Button
          variant="default"
          leftSection={<IconRotate size={14} />}
          onClick={() => setOpened(true)}
        >
          {t('webhook.regenerate')}
        </Button>
        {until && (
          <span className={formClasses.hint}>
            {t('webhook.previousUntil')} <Time at={until} />
          </span>
        )}
      </div>
      {opened && <Rotate trigger={trigger} onClose={() => setOpened(false)} show={show} />}
    </div>
  );
}

interface RotateProps {
  trigger: Trigger;
  onClose: () => void;
  show: (secret: string) => void;
}

function Rotate({ trigger, onClose, show }: RotateProps) {
  const changed = useTriggerChanged();
  const foreign = senderMakesSecret(trigger.authentication as Method);
  const [source, setSource] = useState(foreign ? 'sender' : 'new');
  const [secret, setSecret] = useState('');
  const [keep, setKeep] = useState<string>('24h');
  const [endPrevious, setEndPrevious] = useState(false);
  const until = trigger.previous_secret_until;
  const wish = {
    secret: source === 'sender' ? secret : undefined,
    keep_previous_for: keep,
    end_previous: endPrevious || undefined,
  };
  return (
    <Confirm
      opened
      onClose={onClose}
      title={t('webhook.rotateTitle')}
      action={t('webhook.regenerate')}
      disabled={source === 'sender' && secret === ''}
      request={{
        method: 'POST',
        path: `/api/triggers/${trigger.id}/rotate-secret`,
        body: { ...wish, secret: source === 'sender' ? '…' : undefined },
      }}
      run={async () => {
        const after = await rotateSecret(trigger.id, wish);
        if (after.secret && source === 'new') show(after.secret);
        else toastDone(t('webhook.secretReplaced'));
        const { secret: _, ...known } = after;
        changed(known as Trigger);
      }}
    >
      <div className={formClasses.fields}>
        <Radio.Group aria-label={t('webhook.rotateTitle')} value={source} onChange={setSource}>
          <div className={formClasses.choices}>
            <Radio value="new" label={t('webhook.rotateNew')} />
            <Radio value="sender" label={t('webhook.rotateSender')} />
          </div>
        </Radio.Group>
        {source === 'sender' && (
          <PasswordInput
            label={t('webhook.secret')}
            autoComplete="off"
            value={secret}
            onChange={(event) => setSecret(event.currentTarget.value)}
          />
        )}
        <Select
          label={t('webhook.oldValid')}
          data={KEEP.map((value) => ({ value, label: word('webhook.keep', value) }))}
          allowDeselect={false}
          value={keep}
          onChange={(value) => value && setKeep(value)}
        />
        {until && (
          <Switch
            label={t('webhook.endPrevious')}
            description={t('webhook.endPreviousText')}
            checked={endPrevious}
            onChange={(event) => setEndPrevious(event.currentTarget.checked)}
          />
        )}
      </div>
    </Confirm>
  );
}

/** A new secret: shown once, closed only by saying so. */
export function SecretOnce({
  secret,
  onClose,
}: {
  secret: string | undefined;
  onClose: () => void;
}) {
  return (
    <Modal
      opened={secret !== undefined}
      onClose={() => {}}
      closeOnClickOutside={false}
      closeOnEscape={false}
      withCloseButton={false}
      size="lg"
      title={t('webhook.onceTitle')}
    >
      {secret !== undefined && (
        <div className={formClasses.fields}>
          <div className={classes.once}>{t('webhook.onceText')}</div>
          <CopyText text={secret} block />
          <div className={formClasses.row}>
            <span className={formClasses.grow} />
            <Button onClick={onClose}>{t('webhook.stored')}</Button>
          </div>
        </div>
      )}
    </Modal>
  );
}
