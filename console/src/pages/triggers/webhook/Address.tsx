/** The address of a webhook: to copy, as a signed curl, with a guide for its sender. */
import { Button, Menu, Modal, TextInput } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import type { Trigger } from '@/api/queries/triggers';
import { testWebhook } from '@/api/queries/webhooks';
import { t, word } from '@/i18n/t';
import { formatInstant } from '@/time/format';
import { CopyButton } from '@/ui/copy/CopyButton';
import { IconBook, IconChevronDown, IconTerminal2 } from '@/ui/icons';
import { Panel } from '@/ui/page/Page';
import { ProblemView } from '@/ui/state/ProblemView';
import { Skeleton } from '@/ui/state/Skeleton';
import formClasses from '../form/form.module.css';
import { Guide } from './Guide';
import { SENDERS, type Sender } from './methods';
import { signedCurl } from './signedCurl';
import classes from './webhook.module.css';

interface AddressProps {
  trigger: Trigger;
  header: string;
  sample: string;
  /** Sets the form to what a sender needs. */
  prepare: (sender: Sender) => void;
}

export function Address({ trigger, header, sample, prepare }: AddressProps) {
  const [curl, setCurl] = useState(false);
  const [guide, setGuide] = useState<Sender>();
  const address = trigger.webhook_url ?? '';
  return (
    <Panel title={t('webhook.address')}>
      <div className={classes.url}>
        <TextInput
          className={`${classes.address} ${classes.mono}`}
          aria-label={t('webhook.url')}
          readOnly
          value={address}
          onFocus={(event) => event.currentTarget.select()}
        />
        <CopyButton withText text={address} label={t('webhook.copyUrl')} />
        <Button
          variant="default"
          leftSection={<IconTerminal2 size={14} />}
          onClick={() => setCurl(true)}
        >
          {t('webhook.curl')}
        </Button>
        <Menu>
          <Menu.Target>
            <Button
              variant="default"
              leftSection={<IconBook size={14} />}
              rightSection={<IconChevronDown size={12} />}
            >
              {t('webhook.guide')}
            </Button>
          </Menu.Target>
          <Menu.Dropdown>
            {SENDERS.map((sender) => (
              <Menu.Item key={sender} onClick={() => setGuide(sender)}>
                {word('webhook.sender', sender)}
              </Menu.Item>
            ))}
          </Menu.Dropdown>
        </Menu>
      </div>
      <Modal opened={curl} onClose={() => setCurl(false)} size="xl" title={t('webhook.curlTitle')}>
        {curl && <Curl trigger={trigger} sample={sample} />}
      </Modal>
      <Guide
        sender={guide}
        address={address}
        header={header}
        onClose={() => setGuide(undefined)}
        prepare={(sender) => {
          prepare(sender);
          setGuide(undefined);
        }}
      />
    </Panel>
  );
}

function Curl({ trigger, sample }: { trigger: Trigger; sample: string }) {
  const { data, error, refetch } = useQuery({
    queryKey: ['webhook-curl', trigger.id, trigger.version, sample],
    queryFn: () => testWebhook(trigger.id, { body: sample, dry_run: true }),
    retry: false,
    staleTime: 0,
  });
  if (error) return <ProblemView error={error} retry={refetch} />;
  if (!data) return <Skeleton rows={4} />;
  const text = signedCurl(data.sent);
  return (
    <div className={formClasses.fields}>
      <div className={formClasses.hint}>
        {data.sent.key_header
          ? t('webhook.curlKey')
          : data.sent.valid_until
            ? t('webhook.curlUntil', { time: formatInstant(Date.parse(data.sent.valid_until)) })
            : t('webhook.curlText')}
      </div>
      <pre className={classes.code}>{text}</pre>
      <div>
        <CopyButton withText text={text} />
      </div>
    </div>
  );
}
