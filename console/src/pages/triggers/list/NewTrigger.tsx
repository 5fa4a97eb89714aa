/** A new trigger begins with the question for which workflow. */
import { Autocomplete, Button, Modal } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { useState } from 'react';
import { call } from '@/api/client';
import type { Page } from '@/api/types';
import { t } from '@/i18n/t';
import classes from '../triggers.module.css';

const MOST = 500;

interface NewTriggerProps {
  /** Which type; closed without. */
  type: string | undefined;
  workflow: string | undefined;
  onClose: () => void;
}

export function NewTrigger({ type, workflow, onClose }: NewTriggerProps) {
  return (
    <Modal opened={type !== undefined} onClose={onClose} title={t('triggers.new')}>
      {type && <Choose type={type} workflow={workflow ?? ''} />}
    </Modal>
  );
}

function Choose({ type, workflow }: { type: string; workflow: string }) {
  const navigate = useNavigate();
  const [chosen, setChosen] = useState(workflow);
  const { data } = useQuery({
    queryKey: ['workflows', 'names'],
    queryFn: async ({ signal }) =>
      (
        await call<Page<{ workflow_id: string }>>('GET', '/api/workflows', {
          query: { limit: MOST },
          signal,
        })
      ).items.map((row) => row.workflow_id),
  });
  const unknown = data !== undefined && chosen !== '' && !data.includes(chosen.trim());
  return (
    <form
      className={classes.stack}
      onSubmit={(event) => {
        event.preventDefault();
        if (chosen.trim() && !unknown)
          navigate({
            to: '/workflows/$id/triggers/new',
            params: { id: chosen.trim() },
            search: { type },
          });
      }}
    >
      <Autocomplete
        label={t('triggers.newFor')}
        data={data ?? []}
        limit={50}
        value={chosen}
        onChange={setChosen}
        error={unknown && data.length < MOST ? t('triggers.noWorkflow') : undefined}
        data-autofocus
      />
      <Button type="submit" disabled={!chosen.trim() || (unknown && data.length < MOST)}>
        {t('triggers.newNext')}
      </Button>
    </form>
  );
}
