/** One dead letter by its address, as notifications link to it. */
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { letterQuery } from '@/api/queries/dlq';
import { usePageActions } from '@/app/palette/actions';
import { t } from '@/i18n/t';
import { copyToClipboard } from '@/ui/copy/clipboard';
import { useShortcuts } from '@/ui/keys/keys';
import { Page, Panel } from '@/ui/page/Page';
import { Status } from '@/ui/status/Status';
import { DeleteDialog } from './DeleteDialog';
import { LetterBody } from './LetterBody';
import { letterRoute } from './route';

export function LetterPage() {
  const { id } = letterRoute.useParams();
  const { data: letter } = useQuery(letterQuery(id));
  const [removing, setRemoving] = useState(false);
  const pending = letter?.status === 'pending';
  const remove = () => pending && setRemoving(true);
  usePageActions(pending ? [{ label: t('dlq.delete'), run: remove }] : []);
  useShortcuts([
    { keys: 'c', label: t('common.copyId'), run: () => copyToClipboard(id) },
    { keys: 'Delete', label: t('dlq.delete'), run: remove },
  ]);
  return (
    <Page
      title={letter ? letter.workflow_id : t('dlq.fact.letter')}
      name={letter ? `${letter.workflow_id} · ${t('dlq.title')}` : t('dlq.title')}
      badges={letter && <Status value={letter.status} size="md" />}
      subtitle={letter?.error_message}
    >
      <Panel>
        <LetterBody key={id} id={id} remove={() => setRemoving(true)} />
      </Panel>
      {removing && letter && <DeleteDialog letter={letter} close={() => setRemoving(false)} />}
    </Page>
  );
}
