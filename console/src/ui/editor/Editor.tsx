/** A code editor or viewer. CodeMirror comes when it is first needed; until then the plain text shows. */
import { lazy, Suspense } from 'react';
import type { CodeDiffProps } from './CodeDiff';
import type { CodeProps } from './CodeEditor';
import classes from './editor.module.css';

const CodeEditor = lazy(() => import('./CodeEditor'));
const CodeDiff = lazy(() => import('./CodeDiff'));

export function Editor(props: CodeProps) {
  return (
    <Suspense
      fallback={
        <pre className={classes.plain} style={{ maxHeight: props.maxHeight }}>
          {props.value}
        </pre>
      }
    >
      <CodeEditor {...props} />
    </Suspense>
  );
}

/** Two texts side by side, or one under the other, with their differences marked. */
export function Diff(props: CodeDiffProps) {
  return (
    <Suspense fallback={<pre className={classes.plain}>{props.after}</pre>}>
      <CodeDiff {...props} />
    </Suspense>
  );
}
