/** Two people changed the same task: theirs and yours side by side, and who is to win. */
import { Button, Modal } from '@mantine/core';
import { stringifyExact } from '@/api/exact';
import { t } from '@/i18n/t';
import { Diff } from '@/ui/editor/Editor';
import classes from './scheduled.module.css';

/** Below this width the difference is shown one under the other. */
const SIDE_BY_SIDE_PX = 720;

interface ConflictProps {
  theirs: unknown;
  yours: unknown;
  versions: [theirs: number, yours: string];
  close: () => void;
  take: () => void;
  overwrite: () => void;
}

export function Conflict({ theirs, yours, versions, close, take, overwrite }: ConflictProps) {
  return (
    <Modal
      opened
      onClose={close}
      title={t('scheduled.conflictTitle')}
      size={960}
      closeButtonProps={{ size: 28, 'aria-label': t('common.close') }}
    >
      <div className={classes.dialog}>
        <span>{t('scheduled.conflictText', { theirs: versions[0], yours: versions[1] })}</span>
        <div className={classes.diffHead} aria-hidden="true">
          <span>{t('scheduled.theirs')}</span>
          <span>{t('scheduled.yours')}</span>
        </div>
        <Diff
          before={stringifyExact(sorted(theirs), 2)}
          after={stringifyExact(sorted(yours), 2)}
          label={t('scheduled.yours')}
          language="json"
          unified={window.innerWidth < SIDE_BY_SIDE_PX}
          maxHeight={460}
        />
        <div className={classes.dialogFoot}>
          <Button variant="default" onClick={close}>
            {t('common.cancel')}
          </Button>
          <Button variant="default" onClick={take}>
            {t('scheduled.takeTheirs')}
          </Button>
          <Button onClick={overwrite} data-autofocus>
            {t('scheduled.saveMine')}
          </Button>
        </div>
      </div>
    </Modal>
  );
}

/** The outer fields in one order, so that only real differences show. */
function sorted(request: unknown): unknown {
  return Object.fromEntries(
    Object.entries(request as Record<string, unknown>).sort(([a], [b]) => a.localeCompare(b)),
  );
}
