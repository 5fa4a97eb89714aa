/** Nothing to show: one sentence why, one action, the line for the command line. */
import type { ReactNode } from 'react';
import { CopyText } from '../copy/CopyText';
import classes from './state.module.css';

export interface EmptyProps {
  title: string;
  text?: ReactNode;
  /** A command that does the same. */
  command?: string;
  children?: ReactNode;
}

export function EmptyState({ title, text, command, children }: EmptyProps) {
  return (
    <div className={classes.empty}>
      <strong>{title}</strong>
      {text && <p>{text}</p>}
      {children}
      {command && <CopyText text={command} block />}
    </div>
  );
}
