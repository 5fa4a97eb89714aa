/** A new trigger of a workflow: first what starts it, then its settings. */
import { Link, useNavigate } from '@tanstack/react-router';
import { t } from '@/i18n/t';
import { Page, Panel } from '@/ui/page/Page';
import { EmptyState } from '@/ui/state/EmptyState';
import classes from './form/form.module.css';
import { newTriggerRoute } from './route';
import { NewSchedule } from './schedule/NewSchedule';
import { CHOICES, type Choice, TypeChoice } from './TypeChoice';
import { NewWebhook } from './webhook/NewWebhook';

/** The choice of a URL; a schedule begins as times of days. */
function choiceOf(type: string | undefined): Choice {
  if (type === 'schedule') return 'calendar';
  return CHOICES.find((choice) => choice === type) ?? 'cron';
}

export function NewTriggerPage() {
  const { id: workflow } = newTriggerRoute.useParams();
  const { type } = newTriggerRoute.useSearch();
  const navigate = useNavigate();
  const choice = choiceOf(type);
  const types = (
    <TypeChoice
      value={choice}
      onChange={(next) =>
        navigate({
          to: '/workflows/$id/triggers/new',
          params: { id: workflow },
          search: { type: next },
          replace: true,
        })
      }
    />
  );
  if (choice === 'webhook') return <NewWebhook workflow={workflow} types={types} />;
  if (choice === 'manual')
    return (
      <Page title={`${t('trigger.new')}: ${workflow}`}>
        <Panel title={t('trigger.when')}>
          <div className={classes.fields}>
            {types}
            <EmptyState
              title={t('trigger.manualTitle')}
              text={t('trigger.manualText')}
              command={`refire execute ${workflow} --input '{}'`}
            >
              <Link to="/workflows/$id" params={{ id: workflow }} search={{ tab: 'run' }}>
                {t('trigger.manualRun')}
              </Link>
            </EmptyState>
          </div>
        </Panel>
      </Page>
    );
  return <NewSchedule workflow={workflow} kind={choice} types={types} />;
}
