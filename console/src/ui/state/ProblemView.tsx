/** A problem in full: title, detail, wrong fields, its code with the page that explains it, and Retry. */
import { Button } from '@mantine/core';
import { addressOf } from '@/api/base';
import { asProblem } from '@/api/problem';
import { t } from '@/i18n/t';
import { IconAlertTriangle, IconRefresh } from '../icons';
import { problemText } from './problemText';
import classes from './state.module.css';

export function ProblemView({ error, retry }: { error: unknown; retry?: () => void }) {
  const problem = asProblem(error);
  const { title, detail } = problemText(problem);
  return (
    <div className={classes.problem} role="alert">
      <IconAlertTriangle size={18} className={classes.problemIcon} aria-hidden="true" />
      <div className={classes.problemBody}>
        <strong>{title}</strong>
        {detail && <div>{detail}</div>}
        {problem.fields.length > 0 && (
          <ul className={classes.fields}>
            {problem.fields.map((field, index) => (
              <li key={index}>
                <code>{field.field}</code> {field.message}
                {field.hint && <span className={classes.hint}> {field.hint}</span>}
              </li>
            ))}
          </ul>
        )}
        <div className={classes.problemFoot}>
          <ProblemCode code={problem.code} />
          {problem.requestId && (
            <span>
              {t('common.request')} <code>{problem.requestId}</code>
            </span>
          )}
          {problem.retryAfter !== null && (
            <span>{t('common.retryAfter', { seconds: problem.retryAfter })}</span>
          )}
        </div>
      </div>
      {retry && (
        <Button variant="default" leftSection={<IconRefresh size={14} />} onClick={retry}>
          {t('common.tryAgain')}
        </Button>
      )}
    </div>
  );
}

/** `RF0015`, linked to its explanation. */
export function ProblemCode({ code }: { code: string }) {
  if (!/^RF\d{4}$/.test(code)) return code.startsWith('HTTP') ? <code>{code}</code> : null;
  return (
    <a href={addressOf(`/docs/errors/${code}`)} target="_blank" rel="noreferrer">
      {code}
    </a>
  );
}
