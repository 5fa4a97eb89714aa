/** The retry by hand: original or edited input, the difference, where to begin. What is typed is kept. */
import { Button, Radio } from '@mantine/core';
import { useQueryClient } from '@tanstack/react-query';
import { useDeferredValue, useMemo } from 'react';
import { stringifyExact } from '@/api/exact';
import {
  type LetterDetail,
  lettersInPlace,
  type RetryFrom,
  retryLetter,
  retryRequest,
} from '@/api/queries/dlq';
import { usePageActions } from '@/app/palette/actions';
import { rich, t } from '@/i18n/t';
import { Confirm } from '@/ui/confirm/Confirm';
import { Diff, Editor } from '@/ui/editor/Editor';
import { useShortcuts } from '@/ui/keys/keys';
import { toastDone } from '@/ui/toast/toast';
import { Changes } from './Changes';
import { changesOf, parseInput, placeOf } from './changes';
import classes from './dlq.module.css';
import type { useDraft } from './draft';
import { FromChoice, PolicySwitch } from './RetryDialog';

interface RetryFormProps {
  letter: LetterDetail;
  close?: () => void;
  /** Whether the question is open: the form then stays, whatever becomes of the letter. */
  asking: boolean;
  setAsking: (asking: boolean) => void;
  /** What was typed. */
  drafting: ReturnType<typeof useDraft>;
}

export function RetryForm({ letter, close, asking, setAsking, drafting }: RetryFormProps) {
  const client = useQueryClient();
  const original = useMemo(() => stringifyExact(letter.input_data, 2), [letter.input_data]);
  const { draft, change, clear, kept } = drafting;
  const text = draft.text ?? original;
  const from: RetryFrom =
    draft.from === 'failed_step' && letter.can_retry_from_failed_step ? 'failed_step' : 'start';
  const checked = useChecked(text, letter.input_data, draft.edited);

  const possible = from === 'start' ? letter.can_retry_from_start !== false : true;
  const ready = possible && (!draft.edited || checked.problem === undefined);
  const wish = { from, retries: draft.retries, input: draft.edited ? text : undefined };
  usePageActions(ready ? [{ label: t('dlq.retry'), run: () => setAsking(true) }] : []);
  useShortcuts([
    { keys: 'r', label: t('dlq.key.retry'), run: () => ready && setAsking(true) },
    {
      keys: 'mod+Enter',
      label: t('dlq.key.retry'),
      inFields: true,
      run: () => ready && setAsking(true),
    },
  ]);

  return (
    <section className={classes.manual} aria-label={t('dlq.manual')}>
      <h3>{t('dlq.manual')}</h3>
      {letter.retry_obstacle && (
        <p className={classes.warning}>
          <strong>{t('dlq.obstacle')}</strong> {letter.retry_obstacle}
        </p>
      )}
      <div className={classes.choices}>
        <Radio.Group
          label={t('dlq.input')}
          value={draft.edited ? 'edited' : 'original'}
          onChange={(next) => change({ ...draft, edited: next === 'edited' })}
        >
          <div className={classes.radios}>
            <Radio value="original" label={t('dlq.original')} />
            <Radio value="edited" label={t('dlq.edited')} />
          </div>
        </Radio.Group>
        <FromChoice
          from={from}
          setFrom={(next) => change({ ...draft, from: next })}
          step={letter.step_id}
          canStep={letter.can_retry_from_failed_step ?? false}
        />
        <PolicySwitch
          on={draft.retries ?? false}
          set={(retries) => change({ ...draft, retries })}
        />
      </div>
      {draft.edited && (
        <div className={classes.edit}>
          <div className={classes.editHead}>
            <span>{t('dlq.editor')}</span>
            <span className={classes.space} />
            <Button
              size="compact-xs"
              variant="subtle"
              color="gray"
              disabled={checked.problem !== undefined}
              onClick={() => change({ ...draft, text: stringifyExact(checked.value, 2) })}
            >
              {t('dlq.format')}
            </Button>
            <Button
              size="compact-xs"
              variant="subtle"
              color="gray"
              disabled={text === original}
              onClick={() => change({ ...draft, text: undefined })}
            >
              {t('dlq.resetInput')}
            </Button>
          </div>
          <Editor
            value={text}
            label={t('dlq.editor')}
            language="json"
            minHeight={120}
            maxHeight={420}
            problems={checked.marks}
            onChange={(next) => change({ ...draft, text: next === original ? undefined : next })}
          />
          {checked.problem !== undefined && (
            <p className={classes.wrong} role="alert">
              {checked.problem}
            </p>
          )}
          {!kept && <p className={classes.warning}>{t('dlq.notKept')}</p>}
          {checked.problem === undefined &&
            (checked.changes.length > 0 ? (
              <div>
                <div className={classes.muted}>
                  {t('dlq.difference', { count: checked.changes.length })}
                </div>
                <Changes changes={checked.changes} />
              </div>
            ) : (
              <p className={classes.muted}>{t('dlq.same')}</p>
            ))}
        </div>
      )}
      <div className={classes.manualFoot}>
        {(close || draft.edited) && (
          <Button
            variant="default"
            onClick={() => {
              clear();
              close?.();
            }}
          >
            {t('common.cancel')}
          </Button>
        )}
        <Button disabled={!ready} onClick={() => setAsking(true)}>
          {draft.edited && checked.changes.length > 0
            ? t('dlq.submitEdited', { count: checked.changes.length })
            : t('dlq.submit')}
        </Button>
      </div>
      <Confirm
        opened={asking}
        onClose={() => {
          setAsking(false);
          // Also after a refusal: somebody else may have been faster.
          client.invalidateQueries(lettersInPlace);
        }}
        title={t('dlq.confirmRetry')}
        action={
          draft.edited && checked.changes.length > 0
            ? t('dlq.submitEdited', { count: checked.changes.length })
            : t('dlq.submit')
        }
        size={draft.edited ? 960 : undefined}
        request={retryRequest(letter.id, wish)}
        run={async () => {
          const { execution_id } = await retryLetter(letter.id, wish);
          clear();
          toastDone(t('dlq.retried', { id: execution_id }));
        }}
      >
        <p className={classes.text}>
          {rich('dlq.confirmRetryText', { workflow: <strong>{letter.workflow_id}</strong> })}{' '}
          {t(draft.retries ? 'dlq.withRetries' : 'dlq.withoutRetries')}{' '}
          {t(from === 'start' ? 'dlq.willStart' : 'dlq.willStep')}{' '}
          {!draft.edited && t('dlq.confirmRetryOriginal')}
        </p>
        {draft.edited && (
          <>
            <div className={classes.diffHead} aria-hidden="true">
              <span>{t('dlq.before')}</span>
              <span>{t('dlq.now')}</span>
            </div>
            <InputDiff before={original} after={text} />
          </>
        )}
      </Confirm>
    </section>
  );
}

/** Below this width the difference is shown one under the other. */
const SIDE_BY_SIDE_PX = 720;

function InputDiff({ before, after }: { before: string; after: string }) {
  return (
    <Diff
      before={before}
      after={after}
      label={t('dlq.now')}
      language="json"
      unified={window.innerWidth < SIDE_BY_SIDE_PX}
      maxHeight={420}
    />
  );
}

/** The typed text judged: what is wrong and where, or what it changes. Large texts are judged a moment later. */
function useChecked(text: string, original: unknown, edited: boolean) {
  const settled = useDeferredValue(text);
  return useMemo(() => {
    const nothing = { marks: [], changes: [], problem: undefined, value: undefined as unknown };
    if (!edited) return nothing;
    const parsed = parseInput(settled);
    if ('value' in parsed) {
      if (parsed.value === null) return { ...nothing, problem: t('dlq.nullInput') };
      return { ...nothing, value: parsed.value, changes: changesOf(original, parsed.value) };
    }
    if (parsed.error === '') return { ...nothing, problem: t('dlq.noInput') };
    const error = parsed.error.replace(/ in JSON at position.*$| at position.*$/, '');
    if (parsed.at === undefined) return { ...nothing, problem: t('dlq.notJson', { error }) };
    const { line, column } = placeOf(settled, parsed.at);
    return {
      ...nothing,
      problem: t('dlq.notJsonAt', { line, column, error }),
      marks: [{ line, column, message: error }],
    };
  }, [settled, original, edited]);
}
