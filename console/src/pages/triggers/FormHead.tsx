/** The head of a trigger's page: run, save, cancel, and what else can be done. */
import { ActionIcon, Button, Menu } from '@mantine/core';
import { Link, useNavigate } from '@tanstack/react-router';
import { type ReactNode, useState } from 'react';
import type { Trigger } from '@/api/queries/triggers';
import { t } from '@/i18n/t';
import { curlOf } from '@/ui/confirm/curl';
import { CopyId } from '@/ui/copy/CopyId';
import { copyToClipboard } from '@/ui/copy/clipboard';
import { IconCopy, IconDots, IconListDetails, IconTrash } from '@/ui/icons';
import { useShortcuts } from '@/ui/keys/keys';
import { toastDone } from '@/ui/toast/toast';
import { DeleteTrigger } from './DeleteTrigger';
import { RunNowButton } from './RunNow';
import { StateBadge } from './StateBadge';
import classes from './triggers.module.css';

export interface Head {
  title: ReactNode;
  name: string;
  badges: ReactNode;
  subtitle: ReactNode;
}

/** Longer names and descriptions are in the form. */
const SUBTITLE_CHARS = 160;

/** `Trigger of <workflow>`, its state and its id. */
export function headOf(trigger: Trigger): Head {
  return {
    title: (
      <>
        {t('trigger.of')}{' '}
        <Link
          to="/workflows/$id"
          params={{ id: trigger.workflow_id }}
          className={classes.titleLink}
        >
          {trigger.workflow_id}
        </Link>
      </>
    ),
    name: `${t('trigger.of')} ${trigger.workflow_id}`,
    badges: (
      <>
        <StateBadge trigger={trigger} />
        <CopyId id={trigger.id} />
      </>
    ),
    subtitle: [trigger.name, trigger.description]
      .filter((text) => typeof text === 'string' && text)
      .map((text) => String(text).slice(0, SUBTITLE_CHARS))
      .join(' – '),
  };
}

interface FormActionsProps {
  /** Nothing while it is new. */
  trigger?: Trigger;
  dirty: boolean;
  busy: boolean;
  save: () => void;
  cancel: () => void;
  /** The settings as they would be sent. */
  body: () => string;
  /** It was deleted: nothing is left to ask about. */
  deleted?: () => void;
}

export function FormActions(props: FormActionsProps) {
  const { trigger, dirty, busy, save, cancel } = props;
  useShortcuts([
    { keys: 'mod+s', label: t('trigger.save'), run: () => !busy && save(), inFields: true },
  ]);
  return (
    <>
      {trigger && trigger.trigger_type !== 'webhook' && <RunNowButton trigger={trigger} />}
      <Button loading={busy} disabled={trigger !== undefined && !dirty} onClick={save}>
        {trigger ? t('trigger.save') : t('trigger.create')}
      </Button>
      <Button variant="default" onClick={cancel} disabled={trigger !== undefined && !dirty}>
        {t('common.cancel')}
      </Button>
      {trigger && <More {...props} trigger={trigger} />}
    </>
  );
}

function More({ trigger, body, deleted }: FormActionsProps & { trigger: Trigger }) {
  const [deleting, setDeleting] = useState(false);
  const navigate = useNavigate();
  return (
    <>
      <Menu>
        <Menu.Target>
          <ActionIcon aria-label={t('trigger.more')} variant="default">
            <IconDots size={16} />
          </ActionIcon>
        </Menu.Target>
        <Menu.Dropdown>
          <Menu.Item
            leftSection={<IconListDetails size={14} />}
            onClick={() => navigate({ to: '/executions', search: { trigger: trigger.id } })}
          >
            {t('trigger.itsExecutions')}
          </Menu.Item>
          <Menu.Item
            leftSection={<IconCopy size={14} />}
            onClick={async () => {
              const request = { method: 'PUT', path: `/api/triggers/${trigger.id}`, body: body() };
              if (await copyToClipboard(curlOf(request))) toastDone(t('common.copied'));
            }}
          >
            {t('trigger.copySave')}
          </Menu.Item>
          <Menu.Divider />
          <Menu.Item
            color="danger"
            leftSection={<IconTrash size={14} />}
            onClick={() => setDeleting(true)}
          >
            {t('trigger.delete')}
          </Menu.Item>
        </Menu.Dropdown>
      </Menu>
      <DeleteTrigger
        trigger={trigger}
        opened={deleting}
        onClose={() => setDeleting(false)}
        done={() => {
          deleted?.();
          return navigate({ to: '/triggers', ignoreBlocker: true });
        }}
      />
    </>
  );
}
