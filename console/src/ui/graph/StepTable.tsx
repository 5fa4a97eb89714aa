/** The steps as a table: the same as the graph, for reading in order. */
import { t, word } from '@/i18n/t';
import { formatDuration } from '@/time/format';
import { Status } from '../status/Status';
import classes from './graph.module.css';
import { StepIcon } from './StepIcon';
import type { WorkflowGraphProps } from './WorkflowGraph';

export function StepTable({ steps, states, selected, onSelect }: WorkflowGraphProps) {
  return (
    <div className={classes.tableFrame}>
      <table className={classes.table}>
        <thead>
          <tr>
            <th scope="col">{t('workflow.step')}</th>
            <th scope="col">{t('workflow.typeName')}</th>
            <th scope="col">{t('workflow.target')}</th>
            <th scope="col">{t('workflow.comesAfter')}</th>
            <th scope="col">{t('workflow.retriesName')}</th>
            {states && <th scope="col">{t('workflow.state')}</th>}
          </tr>
        </thead>
        <tbody>
          {steps.map((step) => {
            const state = states?.[step.id];
            return (
              <tr key={step.id} data-selected={step.id === selected || undefined}>
                <th scope="row">
                  {onSelect ? (
                    <button
                      type="button"
                      className={classes.nameButton}
                      aria-pressed={step.id === selected}
                      onClick={() => onSelect(step.id === selected ? undefined : step.id)}
                    >
                      {step.id}
                    </button>
                  ) : (
                    step.id
                  )}
                </th>
                <td>
                  <span className={classes.typeCell}>
                    <StepIcon type={step.type} size={14} />
                    {word('workflow.type', step.type)}
                  </span>
                </td>
                <td className={classes.targetCell}>{step.target}</td>
                <td>
                  {step.undoes
                    ? t('workflow.undoes', { step: step.undoes })
                    : step.needs.join(', ') || '–'}
                  {step.conditional && <small> {t('workflow.conditional')}</small>}
                </td>
                <td>{step.retries ?? '–'}</td>
                {states && (
                  <td>
                    {state && <Status value={state.status} />}
                    {state?.durationMs !== undefined && state.durationMs !== null && (
                      <small> {formatDuration(state.durationMs)}</small>
                    )}
                    {state?.error && <small className={classes.error}>{state.error}</small>}
                  </td>
                )}
              </tr>
            );
          })}
        </tbody>
      </table>
    </div>
  );
}
