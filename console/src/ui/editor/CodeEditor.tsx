/** CodeMirror as a React part. The text belongs to the page; outside changes keep the cursor where possible. */
import { autocompletion, type CompletionSource, completionKeymap } from '@codemirror/autocomplete';
import { type Diagnostic, lintGutter, setDiagnostics } from '@codemirror/lint';
import { Compartment, EditorState } from '@codemirror/state';
import { EditorView, keymap } from '@codemirror/view';
import { useEffect, useRef } from 'react';
import classes from './editor.module.css';
import { type CodeLanguage, codeSetup } from './setup';

/** A wrong place in the text: line and column from 1. */
export interface CodeProblem {
  line: number;
  column: number;
  message: string;
}

export interface CodeProps {
  value: string;
  label: string;
  language: CodeLanguage;
  readOnly?: boolean;
  onChange?: (text: string) => void;
  problems?: readonly CodeProblem[];
  complete?: CompletionSource;
  minHeight?: number;
  maxHeight?: number;
  wrap?: boolean;
  /** Puts the cursor there, from 1; a new object puts it there again. */
  at?: { line: number; column: number };
}

/** The position of a line and column, or the nearest there is, and the end of its line. */
function placeIn(state: EditorState, line: number, column: number): { from: number; to: number } {
  const at = state.doc.line(Math.min(Math.max(1, line), state.doc.lines));
  const from = Math.min(at.from + Math.max(0, column - 1), at.to);
  return { from, to: Math.max(from, at.to) };
}

function diagnostics(state: EditorState, problems: readonly CodeProblem[]): Diagnostic[] {
  return problems.map(({ line, column, message }) => ({
    ...placeIn(state, line, column),
    severity: 'error',
    message,
  }));
}

export default function CodeEditor(props: CodeProps) {
  const { value, label, language, readOnly, problems, wrap } = props;
  const host = useRef<HTMLDivElement>(null);
  const view = useRef<EditorView>(undefined);
  const change = useRef(props.onChange);
  change.current = props.onChange;
  const complete = useRef(props.complete);
  complete.current = props.complete;
  const setup = useRef(new Compartment());

  // biome-ignore lint/correctness/useExhaustiveDependencies: later values are set by the effects below
  useEffect(() => {
    const editor = new EditorView({
      parent: host.current!,
      state: EditorState.create({
        doc: value,
        extensions: [
          setup.current.of(codeSetup({ language, readOnly, label, wrap })),
          readOnly ? [] : lintGutter(),
          autocompletion({
            override: [(context) => complete.current?.(context) ?? null],
            icons: false,
          }),
          keymap.of(completionKeymap),
          EditorView.updateListener.of((update) => {
            if (update.docChanged) change.current?.(update.state.doc.toString());
          }),
        ],
      }),
    });
    view.current = editor;
    return () => editor.destroy();
  }, []);

  useEffect(() => {
    view.current?.dispatch({
      effects: setup.current.reconfigure(codeSetup({ language, readOnly, label, wrap })),
    });
  }, [language, readOnly, label, wrap]);

  useEffect(() => {
    const editor = view.current;
    if (!editor || editor.state.doc.toString() === value) return;
    const at = Math.min(editor.state.selection.main.head, value.length);
    editor.dispatch({
      changes: { from: 0, to: editor.state.doc.length, insert: value },
      selection: { anchor: at },
    });
  }, [value]);

  useEffect(() => {
    const editor = view.current;
    if (editor && problems)
      editor.dispatch(setDiagnostics(editor.state, diagnostics(editor.state, problems)));
  }, [problems]);

  const { at } = props;
  useEffect(() => {
    const editor = view.current;
    if (!editor || !at) return;
    const { from } = placeIn(editor.state, at.line, at.column);
    editor.dispatch({ selection: { anchor: from }, scrollIntoView: true });
    editor.focus();
  }, [at]);

  return (
    <div
      ref={host}
      className={classes.host}
      data-readonly={readOnly || undefined}
      style={{ minHeight: props.minHeight, maxHeight: props.maxHeight }}
    />
  );
}
