/** The input, the output, and the outputs of the steps. */
import type { Execution } from '@/api/types';
import { t } from '@/i18n/t';
import { Json } from '@/ui/json/Json';
import { Panel } from '@/ui/page/Page';
import { Status } from '@/ui/status/Status';
import classes from './execution.module.css';

export function ValuesTab({ execution }: { execution: Execution }) {
  const id = execution.execution_id;
  const steps = (execution.steps ?? []).filter(
    (step) => step.output !== null && step.output !== undefined,
  );
  return (
    <div className={classes.values}>
      <Panel title={t('execution.input')}>
        <Json value={execution.input} label={t('execution.input')} file={`${id}-input`} />
      </Panel>
      <Panel title={t('execution.output')}>
        {execution.output === null || execution.output === undefined ? (
          <p className={classes.none}>{t('execution.noOutput')}</p>
        ) : (
          <Json value={execution.output} label={t('execution.output')} file={`${id}-output`} />
        )}
      </Panel>
      {steps.map((step) => (
        <Panel
          key={step.step_id}
          title={
            <span className={classes.by}>
              <code>{step.step_id}</code> <Status value={step.status} />
            </span>
          }
        >
          <Json value={step.output} label={step.step_id} file={`${id}-${step.step_id}`} />
        </Panel>
      ))}
    </div>
  );
}
