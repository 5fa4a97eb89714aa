/** A part of a form that is closed until needed; closed, it says in short what it is set to. */
import { UnstyledButton } from '@mantine/core';
import { type ReactNode, useEffect, useId, useState } from 'react';
import { IconChevronRight } from '@/ui/icons';
import classes from './form.module.css';

interface SectionProps {
  title: string;
  /** What it is set to, in short. */
  summary?: ReactNode;
  /** Something inside is wrong: it opens. */
  wrong?: boolean;
  startOpen?: boolean;
  children: ReactNode;
}

export function Section({
  title,
  summary,
  wrong = false,
  startOpen = false,
  children,
}: SectionProps) {
  const [opened, setOpened] = useState(startOpen || wrong);
  const id = useId();
  useEffect(() => {
    if (wrong) setOpened(true);
  }, [wrong]);
  return (
    <div className={classes.section} data-wrong={wrong || undefined}>
      <UnstyledButton
        className={classes.sectionHead}
        aria-expanded={opened}
        aria-controls={id}
        onClick={() => setOpened(!opened)}
      >
        <IconChevronRight size={14} className={classes.chevron} data-open={opened || undefined} />
        <span className={classes.sectionTitle}>{title}</span>
        {!opened && <span className={classes.sectionSummary}>{summary}</span>}
      </UnstyledButton>
      {opened && (
        <div id={id} className={classes.sectionBody}>
          {children}
        </div>
      )}
    </div>
  );
}
