/** One trigger: its form, what it planned, what came of it. */
import { useQuery } from '@tanstack/react-query';
import { ApiProblem } from '@/api/problem';
import { triggerQuery } from '@/api/queries/triggers';
import { t } from '@/i18n/t';
import { Page } from '@/ui/page/Page';
import { EmptyState } from '@/ui/state/EmptyState';
import { ProblemView } from '@/ui/state/ProblemView';
import { Skeleton } from '@/ui/state/Skeleton';
import { triggerRoute } from './route';
import { SchedulePage } from './schedule/SchedulePage';
import { Unreadable } from './Unreadable';
import { WebhookPage } from './webhook/WebhookPage';

export function TriggerPage() {
  const { id } = triggerRoute.useParams();
  const { data: trigger, error, refetch } = useQuery(triggerQuery(id));
  if (error instanceof ApiProblem && error.status === 404)
    return (
      <Page title={t('trigger.gone')}>
        <EmptyState
          title={t('trigger.gone')}
          text={t('trigger.goneText')}
          command="refire trigger list"
        />
      </Page>
    );
  if (!trigger)
    return (
      <Page title={t('trigger.one')}>
        {error ? <ProblemView error={error} retry={refetch} /> : <Skeleton rows={12} />}
      </Page>
    );
  if (trigger.problem) return <Unreadable key={id} trigger={trigger} />;
  return trigger.trigger_type === 'webhook' ? (
    <WebhookPage key={id} trigger={trigger} />
  ) : (
    <SchedulePage key={id} trigger={trigger} />
  );
}
