/** The form of a task that exists. Saves only over the version that was seen; else shows theirs and yours. */
import { useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { stringifyExact } from '@/api/exact';
import { ApiProblem, fieldMessage } from '@/api/problem';
import {
  changeTask,
  type ScheduledTask,
  scheduledKey,
  scheduledQuery,
} from '@/api/queries/scheduled';
import { t } from '@/i18n/t';
import { zoneName } from '@/time/zone';
import { toastDone } from '@/ui/toast/toast';
import { Conflict } from './Conflict';
import { draftOf, mergePatch, requestOf } from './draft';
import { useKeptForm } from './kept';
import { type FormState, TaskForm } from './TaskForm';

interface EditState extends FormState {
  /** What the edit began with. */
  base: unknown;
  tag: string;
}

interface EditTaskProps {
  task: ScheduledTask;
  tag: string;
  done: () => void;
}

export function EditTask({ task, tag, done }: EditTaskProps) {
  const client = useQueryClient();
  const initial = (from = task, version = tag): EditState => {
    const base = requestOf(from);
    return {
      mode: 'form',
      draft: draftOf(base, zoneName()),
      json: stringifyExact(base, 2),
      base: stringifyExact(base),
      tag: version,
    };
  };
  const form = useKeptForm<EditState>(task.taskId, initial);
  const [error, setError] = useState<unknown>();
  const [busy, setBusy] = useState(false);
  const [conflict, setConflict] = useState<{
    theirs: ScheduledTask;
    tag: string;
    yours: unknown;
  }>();

  const save = async (request: unknown, base: unknown, version: string) => {
    const patch = mergePatch(base, request);
    if (Object.keys(patch).length === 0) {
      toastDone(t('scheduled.nothing'));
      return;
    }
    setBusy(true);
    setError(undefined);
    try {
      const saved = await changeTask(task.taskId, stringifyExact(patch), version);
      setConflict(undefined);
      form.reset(initial(saved, `"${saved.version}"`));
      toastDone(t('scheduled.saved', { version: saved.version }));
      client.invalidateQueries({ queryKey: scheduledKey });
      done();
    } catch (refused) {
      if (refused instanceof ApiProblem && refused.status === 412) {
        const now = await client.fetchQuery({ ...scheduledQuery(task.taskId), staleTime: 0 });
        setConflict({ theirs: now.task, tag: now.tag, yours: request });
      } else setError(refused);
    } finally {
      setBusy(false);
    }
  };

  return (
    <>
      <TaskForm
        state={form.value}
        onChange={(next) => form.change({ ...form.value, ...next })}
        error={error}
        fieldMessage={(field) => fieldMessage(error, field)}
        busy={busy}
        submit={(request) => save(request, JSON.parse(String(form.value.base)), form.value.tag)}
        action={t('scheduled.save')}
        dirty={form.dirty}
        discard={() => {
          form.reset(initial());
          setError(undefined);
        }}
      />
      {conflict && (
        <Conflict
          theirs={requestOf(conflict.theirs)}
          yours={conflict.yours}
          versions={[conflict.theirs.version, form.value.tag.replace(/\D/g, '')]}
          close={() => setConflict(undefined)}
          take={() => {
            form.reset(initial(conflict.theirs, conflict.tag));
            setConflict(undefined);
          }}
          overwrite={() => save(conflict.yours, requestOf(conflict.theirs), conflict.tag)}
        />
      )}
    </>
  );
}
