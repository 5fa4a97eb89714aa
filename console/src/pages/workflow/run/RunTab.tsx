/** Starts an execution by hand and shows how it goes. */
import { Button, NumberInput, Select, TextInput } from '@mantine/core';
import { useQuery, useQueryClient } from '@tanstack/react-query';
import { type KeyboardEvent, useMemo, useState } from 'react';
import { stringifyExact } from '@/api/exact';
import { fieldMessage } from '@/api/problem';
import {
  executionOf,
  type Ran,
  type RunOptions,
  recentExecutions,
  runPath,
  runWorkflow,
} from '@/api/queries/workflows';
import { t } from '@/i18n/t';
import { useKept } from '@/settings/kept';
import { formatBytes } from '@/time/format';
import { curlOf } from '@/ui/confirm/curl';
import { CopyButton } from '@/ui/copy/CopyButton';
import { Editor } from '@/ui/editor/Editor';
import { IconPlayerPlay } from '@/ui/icons';
import { useShortcuts } from '@/ui/keys/keys';
import { Panel } from '@/ui/page/Page';
import { ProblemView } from '@/ui/state/ProblemView';
import { toastProblem } from '@/ui/toast/toast';
import type { TabProps } from '../tab';
import classes from '../workflow.module.css';
import { exampleInput, inputProblem } from './input';
import { Result } from './Result';

/** The input is kept in the browser up to this size. */
const KEPT_BYTES = 200_000;
const WAITS = ['', '5s', '30s', '60s'];

interface Options {
  priority: string;
  delay: string;
  key: string;
  wait: string;
}
const NO_OPTIONS: Options = { priority: '', delay: '', key: '', wait: '30s' };

/** The request that the fields make. */
const requestOf = (text: string, { priority, delay, key, wait }: Options): RunOptions => ({
  input: text.trim() === '' ? '{}' : text,
  priority: priority === '' ? undefined : Number(priority),
  delay: delay.trim() || undefined,
  key: key.trim() || undefined,
  wait: delay.trim() ? undefined : wait || undefined,
});

const curlFor = (id: string, request: RunOptions) =>
  curlOf({
    method: 'POST',
    path: runPath(id, request),
    body: request.input,
    headers: request.key ? { 'Idempotency-Key': request.key } : {},
  });

function useRun(id: string) {
  const client = useQueryClient();
  const [busy, setBusy] = useState(false);
  const [error, setError] = useState<unknown>();
  const [ran, setRan] = useState<Ran>();
  const run = async (request: RunOptions) => {
    if (busy) return;
    setBusy(true);
    setError(undefined);
    setRan(undefined);
    try {
      setRan(await runWorkflow(id, request));
      client.invalidateQueries({ queryKey: ['executions'] });
    } catch (refused) {
      setError(refused);
    } finally {
      setBusy(false);
    }
  };
  return { run, busy, error, ran };
}

export default function RunTab({ id, workflow }: TabProps) {
  const example = useMemo(() => exampleInput(workflow.definition), [workflow.definition]);
  const [kept, keep] = useKept<string | undefined>(`run.${id}`, undefined);
  const [text, setText] = useState(kept ?? example);
  const [options, setOptions] = useState(NO_OPTIONS);
  const { run, busy, error, ran } = useRun(id);
  const problem = useMemo(() => inputProblem(text), [text]);
  const problems = useMemo(() => (problem ? [problem] : []), [problem]);
  const write = (next: string) => {
    setText(next);
    if (next.length <= KEPT_BYTES) keep(next);
  };
  const request = requestOf(text, options);
  const start = () => {
    if (!problem) run(request);
  };
  useShortcuts([{ keys: 'mod+Enter', label: t('workflow.run'), run: start, inFields: true }]);
  // The editor would make an empty line of it.
  const startFromEditor = (event: KeyboardEvent) => {
    if (event.key !== 'Enter' || !(event.ctrlKey || event.metaKey)) return;
    event.preventDefault();
    event.stopPropagation();
    start();
  };

  return (
    <div className={classes.runGrid} onKeyDownCapture={startFromEditor}>
      <Panel title={t('workflow.input')} actions={<Fill id={id} example={example} fill={write} />}>
        <Editor
          value={text}
          onChange={write}
          label={t('workflow.input')}
          language="json"
          problems={problems}
          minHeight={260}
          maxHeight={480}
        />
        <div className={classes.under} data-bad={problem !== undefined || undefined} role="status">
          {problem
            ? t('workflow.notJson', { line: problem.line, column: problem.column })
            : formatBytes(new Blob([text]).size)}
        </div>
      </Panel>
      <div className={classes.stack}>
        <Panel title={t('workflow.options')}>
          <div className={classes.stack}>
            <Fields options={options} change={setOptions} error={error} />
            <div className={classes.toolbar}>
              <Button
                leftSection={<IconPlayerPlay size={14} />}
                onClick={start}
                loading={busy}
                disabled={problem !== undefined}
              >
                {t('workflow.run')}
              </Button>
              <CopyButton withText label={t('common.copyCurl')} text={() => curlFor(id, request)} />
            </div>
          </div>
        </Panel>
        {error !== undefined && <ProblemView error={error} />}
        {ran && <Result ran={ran} />}
      </div>
    </div>
  );
}

function Fill({
  id,
  example,
  fill,
}: {
  id: string;
  example: string;
  fill: (text: string) => void;
}) {
  const client = useQueryClient();
  const { data } = useQuery(recentExecutions(id, 1));
  const last = data?.[0];
  const takeLast = async () => {
    if (!last) return;
    try {
      const { input } = await client.fetchQuery(executionOf(last.execution_id));
      fill(stringifyExact(input, 2));
    } catch (error) {
      toastProblem(error);
    }
  };
  return (
    <>
      <Button variant="subtle" size="compact-xs" disabled={!last} onClick={takeLast}>
        {t('workflow.lastInput')}
      </Button>
      <Button variant="subtle" size="compact-xs" onClick={() => fill(example)}>
        {t('workflow.exampleInput')}
      </Button>
      <Button variant="subtle" size="compact-xs" onClick={() => fill('{}')}>
        {t('workflow.emptyInput')}
      </Button>
    </>
  );
}

interface FieldsProps {
  options: Options;
  change: (options: Options) => void;
  error: unknown;
}

function Fields({ options, change, error }: FieldsProps) {
  const set = (part: Partial<Options>) => change({ ...options, ...part });
  return (
    <div className={classes.fields}>
      <NumberInput
        label={t('workflow.priority')}
        description={t('workflow.priorityText')}
        min={1}
        max={10}
        clampBehavior="strict"
        placeholder="5"
        value={options.priority}
        onChange={(value) => set({ priority: String(value) })}
        error={fieldMessage(error, 'priority')}
      />
      <TextInput
        label={t('workflow.delay')}
        description={t('workflow.delayText')}
        placeholder="10m"
        value={options.delay}
        onChange={(event) => set({ delay: event.currentTarget.value })}
        error={fieldMessage(error, 'delay')}
      />
      <TextInput
        label={t('workflow.key')}
        description={t('workflow.keyText')}
        value={options.key}
        onChange={(event) => set({ key: event.currentTarget.value })}
        error={fieldMessage(error, 'Idempotency-Key')}
      />
      <Select
        label={t('workflow.wait')}
        description={t('workflow.waitText')}
        allowDeselect={false}
        disabled={options.delay.trim() !== ''}
        value={options.delay.trim() ? '' : options.wait}
        onChange={(wait) => set({ wait: wait ?? '' })}
        data={WAITS.map((value) => ({
          value,
          label: value === '' ? t('workflow.waitNot') : value,
        }))}
        error={fieldMessage(error, 'wait')}
      />
    </div>
  );
}
