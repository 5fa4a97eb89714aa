/** Parts of the form: what it is, what the service is given, retries, and the rest. */
import { Checkbox, Select, Switch, Textarea, TextInput } from '@mantine/core';
import { t, word } from '@/i18n/t';
import { Editor } from '@/ui/editor/Editor';
import { Panel } from '@/ui/page/Page';
import { TASK_TYPES } from './draft';
import classes from './scheduled.module.css';
import type { FieldProps } from './TaskForm';

export function WhatFields({ draft, set, wrong }: FieldProps) {
  return (
    <Panel title={t('scheduled.f.what')}>
      <div className={classes.grid}>
        <TextInput
          label={t('scheduled.f.taskName')}
          value={draft.taskName}
          error={wrong('taskName')}
          maxLength={255}
          onChange={(event) => set({ taskName: event.currentTarget.value })}
        />
        <Select
          label={t('scheduled.f.taskType')}
          value={draft.taskType}
          error={wrong('taskConfig.taskType')}
          allowDeselect={false}
          data={TASK_TYPES.map((value) => ({ value, label: word('scheduled.type', value) }))}
          onChange={(value) => value && set({ taskType: value })}
        />
        <Textarea
          className={classes.wide}
          label={t('scheduled.f.taskDescription')}
          value={draft.taskDescription}
          error={wrong('taskDescription')}
          rows={2}
          onChange={(event) => set({ taskDescription: event.currentTarget.value })}
        />
      </div>
    </Panel>
  );
}

export function PayloadField({ draft, set, wrong }: FieldProps) {
  const error = wrong('taskConfig.taskPayload', 'payload');
  return (
    <Panel title={t('scheduled.f.payload')}>
      <Editor
        value={draft.payload}
        language="json"
        label={t('scheduled.f.taskPayload')}
        minHeight={120}
        maxHeight={360}
        onChange={(payload) => set({ payload })}
      />
      {error && (
        <p className={classes.wrong} role="alert">
          {error}
        </p>
      )}
    </Panel>
  );
}

export function RetryFields({ draft, set, wrong }: FieldProps) {
  return (
    <Panel title={t('scheduled.f.retry')}>
      <div className={classes.grid}>
        <Switch
          className={classes.wide}
          label={t('scheduled.f.retryOn')}
          checked={draft.retry}
          onChange={(event) => set({ retry: event.currentTarget.checked })}
        />
        {draft.retry && (
          <>
            <TextInput
              label={t('scheduled.f.maxRetries')}
              inputMode="numeric"
              value={draft.maxRetries}
              error={wrong('taskConfig.retryConfig.maxRetries')}
              onChange={(event) => set({ maxRetries: event.currentTarget.value })}
            />
            <TextInput
              label={t('scheduled.f.retryInterval')}
              inputMode="decimal"
              value={draft.retryInterval}
              error={wrong('taskConfig.retryConfig.retryIntervalMinutes')}
              onChange={(event) => set({ retryInterval: event.currentTarget.value })}
            />
            <Checkbox
              className={classes.wide}
              label={t('scheduled.f.retryOnTimeout')}
              checked={draft.retryOnTimeout}
              onChange={(event) => set({ retryOnTimeout: event.currentTarget.checked })}
            />
          </>
        )}
      </div>
    </Panel>
  );
}

export function MoreFields({ draft, set, wrong }: FieldProps) {
  return (
    <Panel title={t('scheduled.f.more')}>
      <div className={classes.grid}>
        <TextInput
          label={t('scheduled.f.callbackWindow')}
          description={t('scheduled.f.callbackNote')}
          value={draft.callbackWindow}
          error={wrong('taskConfig.callbackWindow')}
          onChange={(event) => set({ callbackWindow: event.currentTarget.value })}
        />
        <Textarea
          className={classes.wide}
          classNames={{ input: classes.mono }}
          label={t('scheduled.f.executorConfig')}
          value={draft.executorConfig}
          error={wrong('taskConfig.executorConfig', 'executorConfig')}
          autosize={false}
          rows={3}
          spellCheck={false}
          onChange={(event) => set({ executorConfig: event.currentTarget.value })}
        />
        <Textarea
          className={classes.wide}
          classNames={{ input: classes.mono }}
          label={t('scheduled.f.metadata')}
          value={draft.metadata}
          error={wrong('taskConfig.metadata', 'metadata')}
          rows={3}
          spellCheck={false}
          onChange={(event) => set({ metadata: event.currentTarget.value })}
        />
      </div>
    </Panel>
  );
}
