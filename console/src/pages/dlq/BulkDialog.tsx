/** Retry or delete several letters: what it is about, then the progress, then the result of each. */
import { Button, Modal, Progress, Radio, TextInput } from '@mantine/core';
import { useQueryClient } from '@tanstack/react-query';
import { useEffect, useMemo, useRef, useState } from 'react';
import { type Letter, lettersKey, type RetryFrom } from '@/api/queries/dlq';
import { formatNumber, t } from '@/i18n/t';
import { BulkResults } from './BulkResults';
import { type BulkAction, type BulkItem, bulkItems, countStates, groupsOf, runBulk } from './bulk';
import classes from './dlq.module.css';
import { forgetDraft } from './draft';

/** Above this many, deleting asks for the count. */
const TYPED_ABOVE = 100;

interface BulkDialogProps {
  action: BulkAction;
  letters: Letter[];
  /** `done`: something was done, so the selection is over. */
  close: (done: boolean) => void;
}

export function BulkDialog({ action, letters, close }: BulkDialogProps) {
  const client = useQueryClient();
  const [items, setItems] = useState<BulkItem[]>(() => bulkItems(letters));
  const [from, setFrom] = useState<RetryFrom>('start');
  const [phase, setPhase] = useState<'ask' | 'run' | 'done'>('ask');
  const abort = useRef<AbortController>(undefined);
  useEffect(() => () => abort.current?.abort(), []);

  const run = async (todo: BulkItem[]) => {
    abort.current = new AbortController();
    setPhase('run');
    await runBulk({ items: todo, action, from, change: setItems, signal: abort.current.signal });
    setPhase('done');
    client.invalidateQueries({ queryKey: lettersKey });
  };
  const again = () =>
    run(items.map((item) => (item.state === 'refused' ? { ...item, state: 'waiting' } : item)));
  const counts = countStates(items);
  useEffect(() => {
    if (action !== 'delete') return;
    for (const item of items) if (item.state === 'done') forgetDraft(item.letter.id);
  }, [items, action]);

  return (
    <Modal
      opened
      size="lg"
      onClose={() => phase !== 'run' && close(phase === 'done')}
      withCloseButton={phase !== 'run'}
      closeButtonProps={{ size: 28, 'aria-label': t('common.close') }}
      closeOnClickOutside={phase === 'ask'}
      title={t(action === 'retry' ? 'dlq.bulk.retryTitle' : 'dlq.bulk.deleteTitle', {
        count: items.length,
      })}
    >
      {phase === 'ask' ? (
        <Ask
          action={action}
          items={items}
          skipped={letters.length - items.length}
          from={from}
          setFrom={setFrom}
          start={() => run(items)}
          cancel={() => close(false)}
        />
      ) : (
        <div className={classes.dialog}>
          <Progress
            value={((counts.done + counts.refused) / Math.max(1, items.length)) * 100}
            aria-label={t('dlq.bulk.done', {
              done: counts.done + counts.refused,
              total: items.length,
            })}
          />
          <BulkResults items={items} action={action} />
          <div className={classes.dialogFoot}>
            {phase === 'run' ? (
              <Button variant="default" onClick={() => abort.current?.abort()}>
                {t('dlq.bulk.stop')}
              </Button>
            ) : (
              <>
                {counts.waiting > 0 && (
                  <Button variant="default" onClick={() => run(items)}>
                    {t('dlq.bulk.goOn')}
                  </Button>
                )}
                {counts.refused > 0 && (
                  <Button variant="default" onClick={again}>
                    {t('dlq.bulk.again', { count: counts.refused })}
                  </Button>
                )}
                <Button onClick={() => close(true)} data-autofocus>
                  {t('common.close')}
                </Button>
              </>
            )}
          </div>
        </div>
      )}
    </Modal>
  );
}

interface AskProps {
  action: BulkAction;
  items: BulkItem[];
  skipped: number;
  from: RetryFrom;
  setFrom: (from: RetryFrom) => void;
  start: () => void;
  cancel: () => void;
}

function Ask({ action, items, skipped, from, setFrom, start, cancel }: AskProps) {
  const [typed, setTyped] = useState('');
  const groups = useMemo(() => groupsOf(items.map((item) => item.letter)), [items]);
  const count = items.length;
  const mustType = action === 'delete' && count > TYPED_ABOVE;
  const ready = count > 0 && (!mustType || typed.replace(/\D/g, '') === String(count));
  return (
    <form
      className={classes.dialog}
      onSubmit={(event) => {
        event.preventDefault();
        if (ready) start();
      }}
    >
      <p className={classes.text}>
        {t(action === 'retry' ? 'dlq.bulk.original' : 'dlq.bulk.deleteText')}
      </p>
      {skipped > 0 && <p className={classes.muted}>{t('dlq.bulk.skipped', { count: skipped })}</p>}
      <table className={classes.small}>
        <caption>{t('dlq.bulk.byError')}</caption>
        <tbody>
          {groups.map((group) => (
            <tr key={`${group.workflow} ${group.error}`}>
              <td className={classes.number}>{formatNumber(group.count)}</td>
              <td>{group.workflow}</td>
              <td>
                <code>{group.error}</code>
              </td>
            </tr>
          ))}
        </tbody>
      </table>
      {action === 'retry' && (
        <Radio.Group
          label={t('dlq.from')}
          value={from}
          onChange={(next) => setFrom(next as RetryFrom)}
        >
          <div className={classes.radios}>
            <Radio value="start" label={t('dlq.fromStart')} description={t('dlq.fromStartNote')} />
            <Radio
              value="failed_step"
              label={t('dlq.fromStep')}
              description={t('dlq.fromStepNote')}
            />
          </div>
        </Radio.Group>
      )}
      {mustType && (
        <TextInput
          label={t('common.typeCount', { count: formatNumber(count) })}
          value={typed}
          onChange={(event) => setTyped(event.currentTarget.value)}
          autoComplete="off"
          data-autofocus
        />
      )}
      <div className={classes.dialogFoot}>
        <Button variant="default" onClick={cancel}>
          {t('common.cancel')}
        </Button>
        <Button
          type="submit"
          color={action === 'delete' ? 'danger' : undefined}
          disabled={!ready}
          data-autofocus={mustType ? undefined : true}
        >
          {t('dlq.bulk.start')}
        </Button>
      </div>
    </form>
  );
}
