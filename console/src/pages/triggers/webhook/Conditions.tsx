/** Which bodies start something: rows of conditions, judged while typing on a sample. */
import { ActionIcon, Button, Select, TextInput } from '@mantine/core';
import { stringifyExact } from '@/api/exact';
import type { JudgedCondition } from '@/api/queries/webhooks';
import { t, word } from '@/i18n/t';
import type { FieldErrors } from '@/ui/form/fieldErrors';
import { IconCheck, IconPlus, IconX } from '@/ui/icons';
import { Panel } from '@/ui/page/Page';
import formClasses from '../form/form.module.css';
import type { Judged } from './useJudged';
import classes from './webhook.module.css';
import {
  type Condition,
  needsValue,
  newCondition,
  OPERATORS,
  valueType,
  type WebhookDraft,
} from './webhookDraft';

const FOUND_CHARS = 60;
const KEY_CHARS = 36;

interface ConditionsProps {
  draft: WebhookDraft;
  change: (part: Partial<WebhookDraft>) => void;
  errors: FieldErrors;
  judged: Judged;
}

export function Conditions({ draft, change, errors, judged }: ConditionsProps) {
  const { conditions } = draft;
  const set = (index: number, part: Partial<Condition>) =>
    change({
      conditions: conditions.map((each, at) => (at === index ? { ...each, ...part } : each)),
    });
  return (
    <Panel title={t('webhook.filter')}>
      <div className={formClasses.fields}>
        <div className={formClasses.hint}>
          {conditions.length === 0 ? t('webhook.filterNone') : t('webhook.filterAll')}
        </div>
        {conditions.map((condition, index) => (
          <Row
            key={condition.key}
            index={index}
            condition={condition}
            set={(part) => set(index, part)}
            remove={() => change({ conditions: conditions.filter((_, at) => at !== index) })}
            errors={errors}
            verdict={judged.stale ? undefined : judged.conditions?.[index]}
          />
        ))}
        <div className={formClasses.row}>
          <Button
            variant="default"
            size="compact-sm"
            leftSection={<IconPlus size={13} />}
            onClick={() => change({ conditions: [...conditions, newCondition()] })}
          >
            {t('webhook.addCondition')}
          </Button>
          <span className={formClasses.hint}>{t('webhook.filterExample')}</span>
        </div>
        <Overall judged={judged} count={conditions.length} />
      </div>
    </Panel>
  );
}

interface RowProps {
  index: number;
  condition: Condition;
  set: (part: Partial<Condition>) => void;
  remove: () => void;
  errors: FieldErrors;
  verdict: JudgedCondition | undefined;
}

function Row({ index, condition, set, remove, errors, verdict }: RowProps) {
  const field = `filters[${index}]`;
  const number = index + 1;
  return (
    <div className={classes.condition} role="group" aria-label={t('webhook.condition', { number })}>
      <TextInput
        className={classes.mono}
        aria-label={t('webhook.path')}
        placeholder="$.event_type"
        value={condition.path}
        error={errors.at(`${field}.json_path`)}
        onChange={(event) => set({ path: event.currentTarget.value })}
      />
      <Select
        className={classes.operator}
        aria-label={t('webhook.operator')}
        data={OPERATORS.map((value) => ({ value, label: word('webhook.operator', value) }))}
        allowDeselect={false}
        value={condition.operator}
        error={errors.at(`${field}.operator`)}
        onChange={(operator) => operator && set({ operator })}
      />
      {needsValue(condition.operator) ? (
        <TextInput
          className={`${classes.mono} ${classes.value}`}
          aria-label={t('webhook.value')}
          placeholder="incident.created"
          value={condition.value}
          error={errors.at(`${field}.value`)}
          rightSectionWidth={56}
          rightSection={
            <span className={formClasses.hint}>
              {word('webhook.value', valueType(condition.value))}
            </span>
          }
          onChange={(event) => set({ value: event.currentTarget.value })}
        />
      ) : (
        <span className={classes.value} />
      )}
      <ActionIcon
        className={classes.remove}
        aria-label={t('webhook.removeCondition', { number })}
        onClick={remove}
      >
        <IconX size={14} />
      </ActionIcon>
      <Verdict verdict={verdict} />
    </div>
  );
}

function Verdict({ verdict }: { verdict: JudgedCondition | undefined }) {
  if (!verdict) return <span className={classes.verdict} />;
  const found =
    verdict.found === null || verdict.found === undefined
      ? undefined
      : stringifyExact(verdict.found).slice(0, FOUND_CHARS);
  return (
    <span className={classes.verdict} data-passed={verdict.passed}>
      {verdict.passed ? <IconCheck size={14} /> : <IconX size={14} />}
      {verdict.passed
        ? t('webhook.okOnSample')
        : found === undefined
          ? t('webhook.nothingFound')
          : t('webhook.foundOther', { found })}
    </span>
  );
}

/** A key has a hash at its end at times: its beginning is enough. */
const shortened = (key: string) => (key.length > KEY_CHARS ? `${key.slice(0, KEY_CHARS)}…` : key);

/** What the sample comes to: all conditions, and the name it would be known by. */
function Overall({ judged, count }: { judged: Judged; count: number }) {
  if (judged.unavailable) return <div className={formClasses.hint}>{t('webhook.noPreview')}</div>;
  if (judged.sampleWrong) return <div className={formClasses.hint}>{t('webhook.sampleWrong')}</div>;
  if (!judged.conditions) return null;
  const passed = judged.conditions.filter((each) => each.passed).length;
  return (
    <div className={classes.overall} aria-live="polite">
      <span>
        {t('webhook.onSample', { source: judged.source })}{' '}
        {count === 0 ? t('webhook.wouldPass') : t('webhook.passedOf', { passed, count })}
      </span>
      <span>
        {judged.key
          ? t('webhook.keyOf', {
              key: shortened(judged.key),
              from: judged.keyFrom ?? '',
            })
          : t('webhook.noKey')}
      </span>
      {judged.refused && <span className={formClasses.wrong}>{judged.refused}</span>}
    </div>
  );
}
