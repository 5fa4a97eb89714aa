/** The form of a scheduled task, or its request as JSON. Both say the same; what is wrong stands at its field. */
import { Button, SegmentedControl } from '@mantine/core';
import { type ReactNode, useMemo } from 'react';
import { parseExact, stringifyExact } from '@/api/exact';
import { t } from '@/i18n/t';
import { zoneName } from '@/time/zone';
import { Editor } from '@/ui/editor/Editor';
import { useShortcuts } from '@/ui/keys/keys';
import { Panel } from '@/ui/page/Page';
import { ProblemView } from '@/ui/state/ProblemView';
import { type DraftProblems, draftOf, type TaskDraft, toRequest } from './draft';
import { MoreFields, PayloadField, RetryFields, WhatFields } from './fields';
import classes from './scheduled.module.css';
import { TargetFields } from './TargetFields';
import { WhenFields } from './WhenFields';

/** A form in the making. */
export interface FormState {
  mode: 'form' | 'json';
  draft: TaskDraft;
  json: string;
}

export interface FieldProps {
  draft: TaskDraft;
  set: (change: Partial<TaskDraft>) => void;
  /** What is wrong with a field, by the server or before it was asked. */
  wrong: (field: string, own?: keyof TaskDraft) => string | undefined;
}

/** What the form says, as a request; or what keeps it from being one. */
export function readForm(state: FormState): {
  request?: unknown;
  problems: DraftProblems;
  json?: string;
} {
  if (state.mode === 'json') {
    try {
      return { request: parseExact(state.json), problems: {} };
    } catch (error) {
      return { problems: {}, json: error instanceof Error ? error.message : String(error) };
    }
  }
  const read = toRequest(state.draft, zoneName());
  return read.problems ? { problems: read.problems } : { request: read.request, problems: {} };
}

interface TaskFormProps {
  state: FormState;
  onChange: (state: FormState) => void;
  error: unknown;
  busy: boolean;
  submit: (request: unknown) => void;
  action: string;
  dirty: boolean;
  discard: () => void;
  fieldMessage: (field: string) => string | undefined;
  head?: ReactNode;
}

export function TaskForm(props: TaskFormProps) {
  const { state, onChange } = props;
  const read = useMemo(() => readForm(state), [state]);
  const ready = read.request !== undefined && !props.busy;
  const submit = () => ready && props.submit(read.request);
  useShortcuts([
    { keys: 'mod+s', label: props.action, inFields: true, run: submit },
    { keys: 'mod+Enter', label: props.action, inFields: true, run: submit },
  ]);

  const choose = (mode: FormState['mode']) => {
    if (mode === state.mode) return;
    if (mode === 'json') {
      const json = read.request === undefined ? state.json : stringifyExact(read.request, 2);
      onChange({ ...state, mode, json });
    } else
      onChange({
        ...state,
        mode,
        draft: read.request === undefined ? state.draft : draftOf(read.request, zoneName()),
      });
  };
  const fields: FieldProps = {
    draft: state.draft,
    set: (change) => onChange({ ...state, draft: { ...state.draft, ...change } }),
    wrong: (field, own) => {
      const problem = own ? read.problems[own] : undefined;
      return problem === undefined
        ? props.fieldMessage(field)
        : t('scheduled.f.notObject', { error: problem });
    },
  };

  return (
    <form
      className={classes.form}
      noValidate
      onSubmit={(event) => {
        event.preventDefault();
        submit();
      }}
    >
      <div className={classes.formHead}>
        <SegmentedControl
          aria-label={t('scheduled.form')}
          value={state.mode}
          onChange={(mode) => choose(mode as FormState['mode'])}
          data={[
            { value: 'form', label: t('scheduled.form') },
            { value: 'json', label: t('scheduled.json') },
          ]}
        />
        {props.head}
        <span className={classes.space} />
        {props.dirty && (
          <>
            <span className={classes.muted}>{t('scheduled.f.draft')}</span>
            <Button variant="subtle" color="gray" onClick={props.discard}>
              {t('scheduled.f.discard')}
            </Button>
          </>
        )}
        <Button type="submit" loading={props.busy} disabled={!ready}>
          {props.action}
        </Button>
      </div>
      {props.error !== undefined && props.error !== null && <ProblemView error={props.error} />}
      {state.mode === 'json' ? (
        <Panel>
          <Editor
            value={state.json}
            language="json"
            label={t('scheduled.json')}
            minHeight={360}
            onChange={(json) => onChange({ ...state, json })}
          />
          {read.json !== undefined && (
            <p className={classes.wrong} role="alert">
              {t('scheduled.f.notJson', { error: read.json })}
            </p>
          )}
        </Panel>
      ) : (
        <div className={classes.fieldsets}>
          <div className={classes.fieldColumn}>
            <WhatFields {...fields} />
            <WhenFields {...fields} />
            <RetryFields {...fields} />
          </div>
          <div className={classes.fieldColumn}>
            <TargetFields {...fields} />
            <PayloadField {...fields} />
            <MoreFields {...fields} />
          </div>
        </div>
      )}
    </form>
  );
}
