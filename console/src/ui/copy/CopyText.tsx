/** A line of code with a copy button: commands, addresses, secrets. */
import { CopyButton } from './CopyButton';
import classes from './copy.module.css';

export function CopyText({ text, block }: { text: string; block?: boolean }) {
  return (
    <span className={classes.line} data-block={block || undefined}>
      <code>{text}</code>
      <CopyButton text={text} size={24} />
    </span>
  );
}
