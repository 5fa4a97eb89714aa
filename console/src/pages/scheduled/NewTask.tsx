/** A new scheduled task; what is typed is kept until it is made. */
import { Button, Menu } from '@mantine/core';
import { useQuery, useQueryClient } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { useState } from 'react';
import { stringifyExact } from '@/api/exact';
import { fieldMessage } from '@/api/problem';
import {
  createTask,
  type ScheduledTask,
  scheduledKey,
  scheduledQuery,
} from '@/api/queries/scheduled';
import { t, word } from '@/i18n/t';
import { zoneName } from '@/time/zone';
import { IconChevronDown } from '@/ui/icons';
import { Page } from '@/ui/page/Page';
import { Skeleton } from '@/ui/state/Skeleton';
import { toastDone } from '@/ui/toast/toast';
import { draftOf, EMPTY, requestOf } from './draft';
import { EXAMPLES, type ExampleName } from './examples';
import { useKeptForm } from './kept';
import { scheduledNewRoute } from './route';
import { type FormState, TaskForm } from './TaskForm';

const NAMES: ExampleName[] = ['report', 'notification', 'sync'];

const stateOfRequest = (request: unknown): FormState => ({
  mode: 'form',
  draft: draftOf(request, zoneName()),
  json: stringifyExact(request, 2),
});

export function NewTask() {
  const { copy } = scheduledNewRoute.useSearch();
  const source = useQuery({ ...scheduledQuery(copy ?? ''), enabled: copy !== undefined });
  if (copy && source.isPending)
    return (
      <Page title={t('scheduled.newTitle')}>
        <Skeleton rows={10} />
      </Page>
    );
  return <Form key={copy} copy={source.data?.task} />;
}

function Form({ copy }: { copy?: ScheduledTask }) {
  const navigate = useNavigate();
  const client = useQueryClient();
  const empty = (): FormState => ({ mode: 'form', draft: EMPTY, json: '{}' });
  const initial = () => (copy ? stateOfRequest(requestOf(copy)) : empty());
  const form = useKeptForm<FormState>(copy ? `copy.${copy.taskId}` : 'new', initial);
  const [error, setError] = useState<unknown>();
  const [busy, setBusy] = useState(false);
  /** One key per content: a repeated press makes no second task. */
  const [sent, setSent] = useState<{ body: string; key: string }>();

  const submit = async (request: unknown) => {
    const body = stringifyExact(request);
    const key =
      sent?.body === body ? sent.key : crypto.getRandomValues(new Uint32Array(4)).join('-');
    setSent({ body, key });
    setBusy(true);
    setError(undefined);
    try {
      const made = await createTask(body, key);
      form.reset(empty());
      toastDone([t('scheduled.created'), ...(made.warnings ?? [])].join(' '));
      client.invalidateQueries({ queryKey: scheduledKey });
      await navigate({ to: '/scheduled/$id', params: { id: made.taskId } });
    } catch (refused) {
      setError(refused);
    } finally {
      setBusy(false);
    }
  };

  return (
    <Page title={t('scheduled.newTitle')}>
      <TaskForm
        state={form.value}
        onChange={form.change}
        error={error}
        fieldMessage={(field) => fieldMessage(error, field)}
        busy={busy}
        submit={submit}
        action={t('scheduled.create')}
        dirty={form.dirty}
        discard={() => {
          form.reset(initial());
          setError(undefined);
        }}
        head={
          <Menu position="bottom-start">
            <Menu.Target>
              <Button variant="default" rightSection={<IconChevronDown size={12} />}>
                {t('scheduled.f.example')}
              </Button>
            </Menu.Target>
            <Menu.Dropdown>
              {NAMES.map((name) => (
                <Menu.Item
                  key={name}
                  onClick={() =>
                    form.change({ ...stateOfRequest(EXAMPLES[name]), mode: form.value.mode })
                  }
                >
                  {word('scheduled.f.example', name)}
                </Menu.Item>
              ))}
            </Menu.Dropdown>
          </Menu>
        }
      />
    </Page>
  );
}
