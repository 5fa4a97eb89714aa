/** Two texts and their differences: side by side where there is room, else one under the other. */
import { MergeView, unifiedMergeView } from '@codemirror/merge';
import { EditorView } from '@codemirror/view';
import { useEffect, useRef } from 'react';
import classes from './editor.module.css';
import { type CodeLanguage, codeSetup } from './setup';

export interface CodeDiffProps {
  before: string;
  after: string;
  label: string;
  language: CodeLanguage;
  /** One under the other. */
  unified?: boolean;
  maxHeight?: number;
}

const COLLAPSE = { margin: 3, minSize: 6 };

export default function CodeDiff(props: CodeDiffProps) {
  const { before, after, label, language, unified } = props;
  const host = useRef<HTMLDivElement>(null);
  useEffect(() => {
    const parent = host.current!;
    const extensions = codeSetup({ language, readOnly: true, label, wrap: true });
    if (unified) {
      const view = new EditorView({
        parent,
        doc: after,
        extensions: [
          ...extensions,
          unifiedMergeView({ original: before, mergeControls: false, collapseUnchanged: COLLAPSE }),
        ],
      });
      return () => view.destroy();
    }
    const view = new MergeView({
      parent,
      a: { doc: before, extensions },
      b: { doc: after, extensions },
      collapseUnchanged: COLLAPSE,
      gutter: true,
    });
    return () => view.destroy();
  }, [before, after, label, language, unified]);
  return (
    <div ref={host} className={classes.host} data-readonly style={{ maxHeight: props.maxHeight }} />
  );
}
