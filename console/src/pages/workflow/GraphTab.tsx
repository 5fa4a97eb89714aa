/** The graph of a version, plain or with how one execution went, and the details of a step. */
import { Select } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { Link, useRouter } from '@tanstack/react-router';
import { useMemo } from 'react';
import { executionOf, recentExecutions, versionQuery } from '@/api/queries/workflows';
import type { Execution } from '@/api/types';
import { rich, t, word } from '@/i18n/t';
import { useNow } from '@/live/clock';
import { formatRelative } from '@/time/format';
import { CopyId } from '@/ui/copy/CopyId';
import { LazyGraph } from '@/ui/graph/LazyGraph';
import { type GraphStep, stepsOf } from '@/ui/graph/steps';
import { useTextSteps } from '@/ui/graph/textSteps';
import type { StepState } from '@/ui/graph/WorkflowGraph';
import { Json } from '@/ui/json/Json';
import { Panel } from '@/ui/page/Page';
import { ProblemView } from '@/ui/state/ProblemView';
import { Status } from '@/ui/status/Status';
import { isFinal } from '@/ui/status/status';
import type { TabProps } from './tab';
import classes from './workflow.module.css';

const OFFERED = 10;
const FOLLOW_MS = 2_000;

export default function GraphTab({ id, workflow, search }: TabProps) {
  const router = useRouter();
  const execution = useQuery({
    ...executionOf(search.execution ?? ''),
    enabled: search.execution !== undefined,
    refetchInterval: (query) =>
      query.state.data && isFinal(query.state.data.status) ? false : FOLLOW_MS,
  });
  const shown = search.execution ? execution.data : undefined;
  const version = shown?.workflow_version ?? (Number(search.v) || workflow.version);
  const steps = useSteps(id, version, workflow.version, workflow.definition);
  const step = steps.data?.find((each) => each.id === search.step);
  const go = (change: Partial<TabProps['search']>) =>
    router.navigate({
      to: '/workflows/$id',
      params: { id },
      search: { ...search, ...change },
      replace: true,
    });

  return (
    <div className={classes.stack}>
      <Panel
        flush
        title={t('workflow.graphOf', { version })}
        actions={
          <Overlay id={id} value={search.execution} onChange={(execution) => go({ execution })} />
        }
      >
        {!shown && version !== workflow.version && (
          <div className={classes.overlayLine}>
            <span>
              {rich('workflow.oldVersion', { version, current: <Current {...{ id, workflow }} /> })}
            </span>
          </div>
        )}
        {shown && (
          <div className={classes.overlayLine}>
            <Status value={shown.status} />
            <CopyId id={shown.execution_id} to={`/executions/${shown.execution_id}`} />
          </div>
        )}
        {(steps.error ?? execution.error) != null && (
          <div className={classes.pad}>
            <ProblemView error={steps.error ?? execution.error} />
          </div>
        )}
        {steps.data && (
          <LazyGraph
            steps={steps.data}
            states={shown && statesOf(shown)}
            selected={step?.id}
            onSelect={(next) => go({ step: next })}
            height={560}
          />
        )}
      </Panel>
      {step && <StepDetail id={id} step={step} />}
    </div>
  );
}

/** How the steps of an execution stand, for the graph. */
function statesOf(execution: Execution): Record<string, StepState> {
  return Object.fromEntries(
    (execution.steps ?? []).map((step) => [
      step.step_id,
      {
        status: step.status,
        retries: step.retry_count,
        durationMs:
          step.started_at && step.completed_at
            ? Date.parse(step.completed_at) - Date.parse(step.started_at)
            : null,
        error: step.error?.message,
      },
    ]),
  );
}

/** The steps of a version: the newest comes with the workflow, older ones are read from their text. */
function useSteps(id: string, version: number, newest: number, definition: unknown) {
  const old = version !== newest;
  const source = useQuery({ ...versionQuery(id, version), enabled: old });
  const read = useTextSteps(old ? source.data?.source : undefined);
  const current = useMemo(() => stepsOf(definition), [definition]);
  if (!old) return { data: current, error: undefined };
  return { data: read, error: source.error };
}

interface OverlayProps {
  id: string;
  value: string | undefined;
  onChange: (execution: string | undefined) => void;
}

function Overlay({ id, value, onChange }: OverlayProps) {
  const { data = [] } = useQuery(recentExecutions(id, OFFERED));
  const now = useNow();
  const options = data.map((row) => ({
    value: row.execution_id,
    label: `${word('status', row.status)} · ${formatRelative(Date.parse(row.created_at), now)} · …${row.execution_id.slice(-6)}`,
  }));
  if (value && !options.some((option) => option.value === value))
    options.push({ value, label: `…${value.slice(-10)}` });
  return (
    <Select
      aria-label={t('workflow.overlay')}
      w={280}
      value={value ?? ''}
      onChange={(next) => onChange(next || undefined)}
      allowDeselect={false}
      data={[{ value: '', label: t('workflow.overlayNone') }, ...options]}
    />
  );
}

function Current({ id, workflow }: Pick<TabProps, 'id' | 'workflow'>) {
  return (
    <Link to="/workflows/$id" params={{ id }}>
      {t('workflow.v', { version: workflow.version })}
    </Link>
  );
}

function StepDetail({ id, step }: { id: string; step: GraphStep }) {
  return (
    <Panel
      title={<code>{step.id}</code>}
      actions={
        <Link to="/workflows/$id" params={{ id }} search={{ tab: 'definition' }}>
          {t('workflow.editIt')}
        </Link>
      }
    >
      <Json value={step.definition} label={step.id} file={step.id} maxHeight={320} />
    </Panel>
  );
}
