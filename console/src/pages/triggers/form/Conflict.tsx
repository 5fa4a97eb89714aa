/** Two people changed the same trigger: theirs and yours side by side, then a choice. */
import { Button, Modal } from '@mantine/core';
import { stringifyExact } from '@/api/exact';
import type { Trigger, TriggerSettings } from '@/api/queries/triggers';
import { t } from '@/i18n/t';
import { Diff } from '@/ui/editor/Editor';
import classes from './form.module.css';

interface ConflictProps {
  theirs: Trigger | undefined;
  /** Settings of a saved trigger as this form would write them, so that only real differences show. */
  read: (trigger: Trigger) => TriggerSettings;
  mine: TriggerSettings;
  onClose: () => void;
  takeTheirs: () => void;
  /** Nothing when it is only looked at. */
  saveMine?: () => void;
}

/** Keys in one order, so that only values differ. */
export function sorted(settings: TriggerSettings): string {
  const names = Object.keys(settings).sort();
  return stringifyExact(Object.fromEntries(names.map((name) => [name, settings[name]])), 2);
}

export function Conflict({ theirs, read, mine, onClose, takeTheirs, saveMine }: ConflictProps) {
  return (
    <Modal
      opened={theirs !== undefined}
      onClose={onClose}
      size="80%"
      title={t('trigger.conflictTitle')}
    >
      {theirs && (
        <div className={classes.fields}>
          <div>{t('trigger.conflictText', { version: `v${theirs.version}` })}</div>
          <div className={classes.row}>
            <strong className={classes.grow}>{t('trigger.theirs')}</strong>
            <strong className={classes.grow}>{t('trigger.yours')}</strong>
          </div>
          <Diff
            before={sorted(read(theirs))}
            after={sorted(mine)}
            label={t('trigger.conflictTitle')}
            language="json"
            maxHeight={420}
          />
          <div className={classes.row}>
            <Button variant="default" onClick={takeTheirs}>
              {t('trigger.takeTheirs')}
            </Button>
            {saveMine && (
              <Button color="danger" onClick={saveMine}>
                {t('trigger.saveMine')}
              </Button>
            )}
            <Button variant="subtle" onClick={onClose}>
              {t('trigger.keepEditing')}
            </Button>
          </div>
        </div>
      )}
    </Modal>
  );
}
