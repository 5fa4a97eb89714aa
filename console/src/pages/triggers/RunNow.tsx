/** Starts an execution at once, with the trigger's input or another one. */
import { Button, Switch } from '@mantine/core';
import { useNavigate } from '@tanstack/react-router';
import { useState } from 'react';
import { stringifyExact } from '@/api/exact';
import { runTrigger, type Trigger } from '@/api/queries/triggers';
import { t } from '@/i18n/t';
import { Confirm } from '@/ui/confirm/Confirm';
import { Editor } from '@/ui/editor/Editor';
import { IconPlayerPlay } from '@/ui/icons';
import { toastDone } from '@/ui/toast/toast';
import { useTriggerChanged } from './acting';
import { jsonProblem } from './form/settings';
import classes from './triggers.module.css';
import { titleOf } from './words';

export function RunNowButton({ trigger }: { trigger: Trigger }) {
  const [opened, setOpened] = useState(false);
  return (
    <>
      <Button
        variant="default"
        leftSection={<IconPlayerPlay size={14} />}
        disabled={trigger.workflow_deleted === true || !!trigger.problem}
        onClick={() => setOpened(true)}
      >
        {t('triggers.runNow')}
      </Button>
      <RunNow trigger={trigger} opened={opened} onClose={() => setOpened(false)} />
    </>
  );
}

interface RunNowProps {
  trigger: Trigger;
  opened: boolean;
  onClose: () => void;
}

export function RunNow({ trigger, opened, onClose }: RunNowProps) {
  const changed = useTriggerChanged();
  const navigate = useNavigate();
  const own = trigger.input === undefined ? '{}' : stringifyExact(trigger.input, 2);
  const [other, setOther] = useState(false);
  const [input, setInput] = useState(own);
  const wrong = other ? jsonProblem(input) : undefined;
  const body = other && input.trim() ? input : undefined;
  return (
    <Confirm
      opened={opened}
      onClose={onClose}
      size="lg"
      title={t('triggers.runTitle', { workflow: trigger.workflow_id })}
      action={t('triggers.runNow')}
      disabled={wrong !== undefined}
      request={{ method: 'POST', path: `/api/triggers/${trigger.id}/run`, body }}
      run={async () => {
        const { execution_id } = await runTrigger(trigger.id, body);
        toastDone(t('triggers.ran', { name: titleOf(trigger) }));
        changed();
        navigate({ to: '/executions/$id', params: { id: execution_id } });
      }}
    >
      <div className={classes.stack}>
        <div>{t('triggers.runText')}</div>
        <Switch
          label={t('triggers.runOtherInput')}
          checked={other}
          onChange={(event) => setOther(event.currentTarget.checked)}
        />
        {other && (
          <>
            <Editor
              value={input}
              onChange={setInput}
              label={t('triggers.input')}
              language="json"
              minHeight={120}
              maxHeight={320}
            />
            {wrong && <div className={classes.wrong}>{wrong}</div>}
          </>
        )}
      </div>
    </Confirm>
  );
}
