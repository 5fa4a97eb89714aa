/** The input, the output, and the outputs of the steps. */
import { useEffect, useState } from 'react';
import type { Execution } from '@/api/types';
import { t } from '@/i18n/t';
import { Json } from '@/ui/json/Json';
import { useSeen } from '@/ui/json/useSeen';
import { Panel } from '@/ui/page/Page';
import { Status } from '@/ui/status/Status';
import classes from './execution.module.css';

/** Steps that are drawn at first, and then whenever the end comes into sight. */
const AT_ONCE = 4;

export function ValuesTab({ execution }: { execution: Execution }) {
  const id = execution.execution_id;
  const steps = (execution.steps ?? []).filter(
    (step) => step.output !== null && step.output !== undefined,
  );
  const [count, setCount] = useState(AT_ONCE);
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
      {steps.slice(0, count).map((step) => (
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
      {count < steps.length && <More key={count} show={() => setCount(count + AT_ONCE)} />}
    </div>
  );
}

/** The end of what is drawn. */
function More({ show }: { show: () => void }) {
  const [place, seen] = useSeen();
  // biome-ignore lint/correctness/useExhaustiveDependencies: once, when it is seen
  useEffect(() => {
    if (seen) show();
  }, [seen]);
  return <div ref={place} />;
}
