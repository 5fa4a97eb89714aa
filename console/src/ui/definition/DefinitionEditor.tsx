/**
 * A definition being written: the text with the server's verdict on it, and the graph that it draws.
 * The page owns the text and says how it is checked.
 */
import { useDeferredValue, useEffect, useMemo, useRef, useState } from 'react';
import { asProblem } from '@/api/problem';
import { t } from '@/i18n/t';
import { Editor } from '../editor/Editor';
import { LazyGraph } from '../graph/LazyGraph';
import { type GraphStep, stepsOf } from '../graph/steps';
import { IconAlertTriangle, IconCheck, IconInfoCircle, IconLoader2 } from '../icons';
import { problemText } from '../state/problemText';
import { completeDefinition } from './complete';
import classes from './definition.module.css';
import type { Schema } from './schema';
import { type Check, formatOf, type Judged, useVerdict } from './verdict';
import { plainValue, readYaml } from './yaml';

interface DefinitionEditorProps {
  text: string;
  onChange?: (text: string) => void;
  label: string;
  check?: Check;
  schema?: Schema;
  /** Told whenever the verdict changes. */
  onVerdict?: (judged: Judged) => void;
}

const EDITOR_PX = { least: 420, most: 640 };

export function DefinitionEditor(props: DefinitionEditorProps) {
  const { text, onVerdict } = props;
  const judged = useVerdict(text, props.check);
  const complete = useMemo(() => completeDefinition(props.schema), [props.schema]);
  const problems = useMemo(
    () =>
      (judged.problems ?? []).map((each) => ({
        line: each.line ?? 1,
        column: each.column ?? 1,
        message: [each.message, each.hint].filter(Boolean).join('\n'),
      })),
    [judged.problems],
  );
  const [at, setAt] = useState<{ line: number; column: number }>();
  const told = useRef(onVerdict);
  told.current = onVerdict;
  // biome-ignore lint/correctness/useExhaustiveDependencies: its parts, not the object
  useEffect(() => told.current?.(judged), [judged.problems, judged.checking, judged.error]);

  return (
    <div className={classes.two}>
      <div className={classes.side}>
        <div className={classes.editor}>
          <Editor
            value={text}
            label={props.label}
            language={formatOf(text)}
            readOnly={!props.onChange}
            onChange={props.onChange}
            problems={problems}
            complete={complete}
            at={at}
            minHeight={EDITOR_PX.least}
            maxHeight={EDITOR_PX.most}
          />
        </div>
        {props.check && <VerdictLine judged={judged} />}
      </div>
      <div className={classes.side}>
        <div className={classes.graph}>
          <DraftGraph text={text} />
        </div>
        <Problems judged={judged} goTo={setAt} />
      </div>
    </div>
  );
}

/** The graph of the text, or of the last one that had steps. */
function DraftGraph({ text }: { text: string }) {
  const later = useDeferredValue(text);
  const [selected, setSelected] = useState<string>();
  const last = useRef<{ steps: GraphStep[]; shape: string }>({ steps: [], shape: '' });
  const steps = useMemo(() => {
    const next = stepsOf(plainValue(readYaml(later)));
    const shape = JSON.stringify(next);
    if (next.length > 0 && shape !== last.current.shape) last.current = { steps: next, shape };
    return last.current.steps;
  }, [later]);
  if (steps.length === 0) return <p className={classes.none}>{t('workflow.noSteps')}</p>;
  return <LazyGraph steps={steps} selected={selected} onSelect={setSelected} height={300} />;
}

function VerdictLine({ judged }: { judged: Judged }) {
  const count = judged.problems?.length ?? 0;
  const { error } = judged;
  const state = error ? 'late' : judged.checking ? 'busy' : count > 0 ? 'bad' : 'good';
  const Icon = {
    late: IconAlertTriangle,
    busy: IconLoader2,
    bad: IconAlertTriangle,
    good: IconCheck,
  }[state];
  return (
    <div className={classes.verdict} data-state={state} role="status">
      <Icon size={14} aria-hidden="true" />
      {state === 'late' && problemText(asProblem(error)).title}
      {state === 'busy' && t('workflow.checking')}
      {state === 'bad' && t('workflow.problems', { count })}
      {state === 'good' && t('workflow.valid')}
      <span className={classes.keys} aria-hidden="true">
        {state === 'bad' && (
          <>
            <kbd className={classes.key}>{'F8'}</kbd> {t('workflow.keyNext')}
          </>
        )}{' '}
        <kbd className={classes.key}>{'Ctrl+Space'}</kbd> {t('workflow.keyComplete')}
      </span>
    </div>
  );
}

interface ProblemsProps {
  judged: Judged;
  goTo: (place: { line: number; column: number }) => void;
}

function Problems({ judged, goTo }: ProblemsProps) {
  const { problems = [], notes = [] } = judged;
  if (problems.length === 0 && notes.length === 0) return null;
  return (
    <ul className={classes.list} aria-label={t('workflow.problemList')}>
      {problems.map((each, index) => (
        <li key={index} data-kind="problem">
          <IconAlertTriangle size={14} aria-hidden="true" />
          <span>
            {each.line && (
              <button
                type="button"
                className={classes.place}
                aria-label={t('workflow.goTo', { place: `${each.line}:${each.column ?? 1}` })}
                onClick={() => goTo({ line: each.line ?? 1, column: each.column ?? 1 })}
              >
                {`${each.line}:${each.column ?? 1}`}
              </button>
            )}{' '}
            {each.field && <code>{each.field}</code>} {each.message}
            {each.hint && <span className={classes.hint}>{each.hint}</span>}
          </span>
        </li>
      ))}
      {notes.map((note) => (
        <li key={note} data-kind="note">
          <IconInfoCircle size={14} aria-hidden="true" />
          <span>{note}</span>
        </li>
      ))}
    </ul>
  );
}
