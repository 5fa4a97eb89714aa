/** Saving an existing trigger: looks whether somebody else saved meanwhile, then replaces its settings. */
import { useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { replaceTrigger, type Trigger, triggerQuery } from '@/api/queries/triggers';
import { t } from '@/i18n/t';
import { toastDone } from '@/ui/toast/toast';
import { useTriggerChanged } from '../acting';
import { pauseWords } from '../EnableSwitch';

export interface Saving {
  busy: boolean;
  /** What the server refused at the last try. */
  error: unknown;
  forget: () => void;
  /** The version that somebody else saved meanwhile. */
  theirs: Trigger | undefined;
  setTheirs: (trigger: Trigger | undefined) => void;
  save: (wish: SaveWish) => Promise<Trigger | undefined>;
}

export interface SaveWish {
  id: string;
  /** JSON of all settings. */
  body: string;
  /** The version that was edited; nothing to save over any. */
  over?: number;
  catchUp?: boolean;
  enables: boolean;
}

export function useSaving(): Saving {
  const client = useQueryClient();
  const changed = useTriggerChanged();
  const [busy, setBusy] = useState(false);
  const [error, setError] = useState<unknown>();
  const [theirs, setTheirs] = useState<Trigger>();

  const save = async ({ id, body, over, catchUp, enables }: SaveWish) => {
    setBusy(true);
    setError(undefined);
    try {
      if (over !== undefined) {
        const now = await client.fetchQuery({ ...triggerQuery(id), staleTime: 0 });
        if (now.version !== over) {
          setTheirs(now);
          return undefined;
        }
      }
      const saved = await replaceTrigger(id, body, catchUp);
      setTheirs(undefined);
      toastDone(
        saved.unchanged
          ? t('trigger.unchanged')
          : enables
            ? pauseWords(saved)
            : t('trigger.saved', { version: `v${saved.version}` }),
      );
      changed(saved);
      return saved;
    } catch (refused) {
      setError(refused);
      return undefined;
    } finally {
      setBusy(false);
    }
  };
  return { busy, error, forget: () => setError(undefined), theirs, setTheirs, save };
}
