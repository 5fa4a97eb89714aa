/** One execution. */
import { useSuspenseQuery } from '@tanstack/react-query';
import { executionQuery } from '@/api/queries/executions';
import { t } from '@/i18n/t';
import { Json } from '@/ui/json/Json';
import { Page } from '@/ui/page/Page';
import { Status } from '@/ui/status/Status';
import { executionRoute } from './route';

export function ExecutionPage() {
  const { id } = executionRoute.useParams();
  const { data } = useSuspenseQuery(executionQuery(id));
  return (
    <Page title={data.workflow_id} badges={<Status value={data.status} size="md" />}>
      <Json value={data} label={t('executions.id')} file={id} />
    </Page>
  );
}
