/** Everything about a letter, in a row of the list or as a page: input, attempts, error, what to try, retry. */
import { Button } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { type ReactNode, useState } from 'react';
import { stringifyExact } from '@/api/exact';
import { type Letter, type LetterDetail, letterQuery } from '@/api/queries/dlq';
import { t, word } from '@/i18n/t';
import { CopyId } from '@/ui/copy/CopyId';
import { IconExternalLink, IconTrash } from '@/ui/icons';
import { Json } from '@/ui/json/Json';
import { Facts } from '@/ui/page/Page';
import { ProblemView } from '@/ui/state/ProblemView';
import { Skeleton } from '@/ui/state/Skeleton';
import { Time } from '@/ui/time/Time';
import { Attempts } from './Attempts';
import { workflowPath } from './columns';
import classes from './dlq.module.css';
import { useDraft } from './draft';
import { EarlierTries } from './EarlierTries';
import { ErrorPart } from './ErrorPart';
import { Outcome } from './Outcome';
import { RetryForm } from './RetryForm';
import { inThisLanguage } from './suggestions';

interface LetterBodyProps {
  id: string;
  /** What the list has of it, shown until the rest is there. */
  listed?: Letter;
  close?: () => void;
  remove: () => void;
}

export function LetterBody({ id, listed, close, remove }: LetterBodyProps) {
  const query = useQuery(letterQuery(id));
  const [asking, setAsking] = useState(false);
  const drafting = useDraft(id);
  const letter = query.data;
  if (!letter) {
    if (query.isError) return <ProblemView error={query.error} retry={() => query.refetch()} />;
    return <Skeleton rows={listed ? 6 : 10} />;
  }
  return (
    <div className={classes.body} data-stale={query.isError || undefined}>
      {query.isError && <ProblemView error={query.error} retry={() => query.refetch()} />}
      <LetterFacts letter={letter} />
      <div className={classes.columns}>
        <div className={classes.column}>
          <Section title={t('dlq.input')}>
            <Json
              value={letter.input_data}
              label={t('dlq.input')}
              file={letter.id}
              maxHeight={320}
            />
          </Section>
          <Section title={t('dlq.error')}>
            <ErrorPart letter={letter} />
          </Section>
        </div>
        <div className={classes.column}>
          <Section title={t('dlq.history')} note={<RetriesNote letter={letter} />}>
            <Attempts letter={letter} />
          </Section>
          <Section title={t('dlq.suggestions')}>
            <ul className={classes.fixes}>
              {letter.suggestions.map(inThisLanguage).map((fix) => (
                <li key={fix.title} className={classes.fix}>
                  <strong>{fix.title}</strong>
                  <span>{fix.detail}</span>
                </li>
              ))}
            </ul>
          </Section>
        </div>
      </div>
      <Outcome letter={letter} />
      <EarlierTries
        letter={letter}
        use={
          letter.status === 'pending'
            ? (input) =>
                drafting.change({ ...drafting.draft, edited: true, text: stringifyExact(input, 2) })
            : undefined
        }
      />
      {(letter.status === 'pending' || asking) && (
        <RetryForm
          key={letter.id}
          letter={letter}
          close={close}
          asking={asking}
          drafting={drafting}
          setAsking={setAsking}
        />
      )}
      <div className={classes.foot}>
        {letter.same_cause > 0 && (
          <Link to="/dlq" search={{ fingerprint: letter.fingerprint, from: 'all' }}>
            {t('dlq.sameCause', { count: letter.same_cause })}
          </Link>
        )}
        <span className={classes.space} />
        {close && (
          <Button
            component={Link}
            to={`/dlq/${letter.id}`}
            variant="subtle"
            color="gray"
            leftSection={<IconExternalLink size={14} />}
          >
            {t('dlq.openPage')}
          </Button>
        )}
        {letter.status === 'pending' && (
          <Button
            variant="subtle"
            color="danger"
            leftSection={<IconTrash size={14} />}
            onClick={remove}
          >
            {t('dlq.deleteMore')}
          </Button>
        )}
      </div>
    </div>
  );
}

function Section({
  title,
  note,
  children,
}: {
  title: string;
  note?: ReactNode;
  children: ReactNode;
}) {
  return (
    <section className={classes.section}>
      <h3>
        {title} {note && <small>{note}</small>}
      </h3>
      {children}
    </section>
  );
}

/** `5/5, all failed`. */
function RetriesNote({ letter }: { letter: LetterDetail }) {
  const failed = letter.retry_count > 0 && letter.retry_count >= letter.max_retries;
  return (
    <>
      {letter.retry_count}/{letter.max_retries}
      {failed && ` · ${t('dlq.allFailed')}`}
    </>
  );
}

function LetterFacts({ letter }: { letter: LetterDetail }) {
  const started = letter.trigger_type && word('dlq.started', letter.trigger_type);
  return (
    <Facts
      facts={[
        [
          t('dlq.fact.execution'),
          <CopyId key="e" id={letter.execution_id} to={`/executions/${letter.execution_id}`} />,
        ],
        [t('dlq.fact.letter'), <CopyId key="l" id={letter.id} to={`/dlq/${letter.id}`} />],
        [
          t('dlq.fact.workflow'),
          <span key="w">
            <Link to={workflowPath(letter.workflow_id)}>{letter.workflow_id}</Link>{' '}
            {letter.workflow_name !== letter.workflow_id && (
              <span className={classes.muted}>{letter.workflow_name}</span>
            )}
            {letter.workflow_deleted && (
              <span className={classes.warnText}> {t('dlq.workflowDeleted')}</span>
            )}
          </span>,
        ],
        [t('dlq.fact.step'), <code key="s">{letter.step_id ?? '–'}</code>],
        [t('dlq.fact.reason'), word('dlq.reason', letter.reason)],
        [t('dlq.fact.failed'), <Time key="f" at={letter.failed_at} as="full" />],
        [
          t('dlq.fact.started'),
          started
            ? letter.triggered_by
              ? t('dlq.by', { type: started, who: letter.triggered_by })
              : started
            : '–',
        ],
        ...(letter.trigger_id
          ? ([
              [
                t('dlq.fact.trigger'),
                <CopyId key="t" id={letter.trigger_id} to={`/triggers/${letter.trigger_id}`} />,
              ],
            ] as [string, ReactNode][])
          : []),
        ...(letter.scheduled_at
          ? ([[t('dlq.fact.planned'), <Time key="p" at={letter.scheduled_at} as="full" />]] as [
              string,
              ReactNode,
            ][])
          : []),
      ]}
    />
  );
}
