/** What a rule finds now, and when it would have fired, by what is typed so far. */
import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { useMemo } from 'react';
import { previewRule, rulesKey } from '@/api/queries/alerts';
import { rich, t } from '@/i18n/t';
import { useSettled } from '@/ui/form/useSettled';
import { Time } from '@/ui/time/Time';
import classes from './alerts.module.css';
import { bodyOf, type RuleDraft } from './draft';

const SHOWN = 5;

export function RulePreview({ draft }: { draft: RuleDraft }) {
  const asked = useMemo(() => bodyOf({ ...draft, name: draft.name || '-' }), [draft]);
  const settled = useSettled(asked, (one, other) => JSON.stringify(one) === JSON.stringify(other));
  const preview = useQuery({
    queryKey: [...rulesKey, 'preview', settled],
    queryFn: ({ signal }) => previewRule(settled, signal),
    placeholderData: keepPreviousData,
    retry: false,
    gcTime: 0,
  });
  const { data } = preview;
  return (
    <section className={classes.preview} aria-label={t('alerts.preview')} aria-live="polite">
      <strong>{t('alerts.preview')}</strong>
      {preview.isError && <p className={classes.muted}>{t('alerts.previewLater')}</p>}
      {data && !preview.isError && (
        <>
          <p className={classes.text}>
            {data.now.length === 0
              ? t('alerts.nothingNow')
              : t('alerts.now', { count: data.now.length })}
          </p>
          <ul className={classes.found}>
            {data.now.slice(0, SHOWN).map((each) => (
              <li key={each.subject}>
                <code>{each.subject}</code> {each.value_text}
              </li>
            ))}
          </ul>
          <p className={classes.text}>
            {data.past === null || data.past === undefined
              ? t('alerts.noPast')
              : rich('alerts.past', {
                  count: data.past.length,
                  time: <Time at={data.past_from} as="full" />,
                })}
          </p>
          <ul className={classes.found}>
            {(data.past ?? []).slice(0, SHOWN).map((each) => (
              <li key={`${each.subject} ${each.from}`}>
                <Time at={each.from} as="full" /> <code>{each.subject}</code> {each.worst_text}
              </li>
            ))}
          </ul>
          {(data.warnings ?? []).map((warning) => (
            <p key={warning} className={classes.warning}>
              {warning}
            </p>
          ))}
        </>
      )}
    </section>
  );
}
