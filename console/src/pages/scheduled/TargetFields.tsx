/** What is called: the address with its headers, or the settings of another kind of target. */
import { ActionIcon, Button, Select, Textarea, TextInput } from '@mantine/core';
import { t } from '@/i18n/t';
import { IconPlus, IconX } from '@/ui/icons';
import { Panel } from '@/ui/page/Page';
import { METHODS, TRIGGER_TYPES } from './draft';
import classes from './scheduled.module.css';
import type { FieldProps } from './TaskForm';

const NAMES: Record<string, string> = {
  http: 'HTTP',
  lambda: 'AWS Lambda',
  sns: 'Amazon SNS',
  sqs: 'Amazon SQS',
  eventbridge: 'Amazon EventBridge',
};

const FIELD = 'taskConfig.targetConfig';

export function TargetFields(props: FieldProps) {
  const { draft, set, wrong } = props;
  return (
    <Panel title={t('scheduled.f.target')}>
      <div className={classes.grid}>
        <Select
          label={t('scheduled.f.triggerType')}
          value={draft.triggerType}
          error={wrong(`${FIELD}.triggerType`) ?? wrong(FIELD)}
          allowDeselect={false}
          data={TRIGGER_TYPES.map((value) => ({ value, label: NAMES[value]! }))}
          onChange={(value) => value && set({ triggerType: value })}
        />
        {draft.triggerType === 'http' ? (
          <HttpFields {...props} />
        ) : (
          <>
            <p className={classes.note}>{t('scheduled.f.notHere')}</p>
            <Textarea
              className={classes.wide}
              classNames={{ input: classes.mono }}
              label={t('scheduled.f.otherTarget')}
              value={draft.otherTarget}
              error={wrong(FIELD, 'otherTarget')}
              rows={5}
              spellCheck={false}
              onChange={(event) => set({ otherTarget: event.currentTarget.value })}
            />
          </>
        )}
      </div>
    </Panel>
  );
}

function HttpFields({ draft, set, wrong }: FieldProps) {
  const header = (index: number, change: Partial<{ name: string; value: string }>) =>
    set({
      headers: draft.headers.map((each, at) => (at === index ? { ...each, ...change } : each)),
    });
  return (
    <>
      <Select
        label={t('scheduled.f.method')}
        value={draft.method}
        error={wrong(`${FIELD}.method`)}
        allowDeselect={false}
        data={METHODS.includes(draft.method) ? METHODS : [...METHODS, draft.method]}
        onChange={(value) => value && set({ method: value })}
      />
      <TextInput
        className={classes.wide}
        label={t('scheduled.f.url')}
        type="url"
        placeholder="https://service.example.com/run"
        value={draft.url}
        error={wrong(`${FIELD}.url`)}
        required={draft.taskType !== 'sync'}
        onChange={(event) => set({ url: event.currentTarget.value })}
      />
      <fieldset className={classes.headers}>
        <legend>{t('scheduled.f.headers')}</legend>
        {draft.headers.map((each, index) => (
          <div key={index} className={classes.header}>
            <TextInput
              aria-label={t('scheduled.f.header')}
              placeholder={t('scheduled.f.header')}
              value={each.name}
              error={wrong(`${FIELD}.headers.${each.name}`)}
              onChange={(event) => header(index, { name: event.currentTarget.value })}
            />
            <TextInput
              aria-label={t('scheduled.f.value')}
              placeholder={t('scheduled.f.value')}
              value={each.value}
              onChange={(event) => header(index, { value: event.currentTarget.value })}
            />
            <ActionIcon
              aria-label={t('scheduled.f.removeHeader')}
              onClick={() => set({ headers: draft.headers.filter((_, at) => at !== index) })}
            >
              <IconX size={14} />
            </ActionIcon>
          </div>
        ))}
        <div className={classes.headerFoot}>
          <Button
            size="compact-xs"
            variant="subtle"
            leftSection={<IconPlus size={12} />}
            onClick={() => set({ headers: [...draft.headers, { name: '', value: '' }] })}
          >
            {t('scheduled.f.addHeader')}
          </Button>
          <span className={classes.muted}>
            {t('scheduled.f.headersNote', { SECRET_NAME: '{SECRET_NAME}' })}
          </span>
        </div>
        {wrong(`${FIELD}.headers`) && <p className={classes.wrong}>{wrong(`${FIELD}.headers`)}</p>}
      </fieldset>
      <TextInput
        label={t('scheduled.f.timeout')}
        description={t('scheduled.f.timeoutNote')}
        inputMode="numeric"
        value={draft.timeout}
        error={wrong(`${FIELD}.triggerTimeoutSeconds`)}
        onChange={(event) => set({ timeout: event.currentTarget.value })}
      />
    </>
  );
}
