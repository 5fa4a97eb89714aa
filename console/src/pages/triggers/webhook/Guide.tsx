/** How to connect a sender, step by step, with this webhook's address. */
import { Button, Modal } from '@mantine/core';
import { type Key, t, word } from '@/i18n/t';
import { CopyButton } from '@/ui/copy/CopyButton';
import { CopyText } from '@/ui/copy/CopyText';
import formClasses from '../form/form.module.css';
import { type Sender, serviceNowRule } from './methods';
import classes from './webhook.module.css';

const STEPS: Record<Sender, readonly Key[]> = {
  servicenow: [
    'webhook.guide.servicenow1',
    'webhook.guide.servicenow2',
    'webhook.guide.servicenow3',
  ],
  teams: ['webhook.guide.teams1', 'webhook.guide.teams2', 'webhook.guide.teams3'],
  github: ['webhook.guide.github1', 'webhook.guide.github2', 'webhook.guide.github3'],
  stripe: ['webhook.guide.stripe1', 'webhook.guide.stripe2', 'webhook.guide.stripe3'],
  slack: ['webhook.guide.slack1', 'webhook.guide.slack2', 'webhook.guide.slack3'],
  shopify: ['webhook.guide.shopify1', 'webhook.guide.shopify2', 'webhook.guide.shopify3'],
  standard_webhooks: [
    'webhook.guide.standard1',
    'webhook.guide.standard2',
    'webhook.guide.standard3',
  ],
};

interface GuideProps {
  /** Closed without. */
  sender: Sender | undefined;
  address: string;
  header: string;
  onClose: () => void;
  prepare: (sender: Sender) => void;
}

export function Guide({ sender, address, header, onClose, prepare }: GuideProps) {
  const rule = serviceNowRule(address, header || 'X-ServiceNow-Signature');
  return (
    <Modal
      opened={sender !== undefined}
      onClose={onClose}
      size="xl"
      title={sender && t('webhook.guideTitle', { sender: word('webhook.sender', sender) })}
    >
      {sender && (
        <div className={formClasses.fields}>
          <ol className={classes.steps}>
            {STEPS[sender].map((key) => (
              <li key={key}>{t(key as 'webhook.guide.github1')}</li>
            ))}
          </ol>
          <CopyText text={address} block />
          {sender === 'servicenow' && (
            <>
              <pre className={classes.code} tabIndex={0}>
                {rule}
              </pre>
              <div>
                <CopyButton withText text={rule} label={t('webhook.copyRule')} />
              </div>
            </>
          )}
          <div className={formClasses.hint}>{t('webhook.guideThen')}</div>
          <div className={formClasses.row}>
            <Button onClick={() => prepare(sender)}>{t('webhook.prepare')}</Button>
            <Button variant="default" onClick={onClose}>
              {t('common.close')}
            </Button>
          </div>
        </div>
      )}
    </Modal>
  );
}
