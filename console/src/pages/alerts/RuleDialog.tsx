/** The form of a rule: the fields of its kind, and what it finds now and would have found. */
import { Button, Checkbox, Modal, Select, Switch, TextInput } from '@mantine/core';
import { useQuery, useQueryClient } from '@tanstack/react-query';
import { useMemo, useState } from 'react';
import {
  type AlertKind,
  type AlertRule,
  ruleRequest,
  rulesKey,
  saveRule,
} from '@/api/queries/alerts';
import { channelsQuery } from '@/api/queries/channels';
import { t, word } from '@/i18n/t';
import { curlOf } from '@/ui/confirm/curl';
import { CopyButton } from '@/ui/copy/CopyButton';
import { FieldErrors } from '@/ui/form/fieldErrors';
import { ProblemView } from '@/ui/state/ProblemView';
import { toastDone } from '@/ui/toast/toast';
import classes from './alerts.module.css';
import { bodyOf, draftOf, FIELDS, KINDS, NEW_RULE, type RuleDraft, SENT } from './draft';
import { RulePreview } from './RulePreview';

interface RuleDialogProps {
  /** Nothing for a new one. */
  rule: AlertRule | undefined;
  close: () => void;
}

export function RuleDialog({ rule, close }: RuleDialogProps) {
  return (
    <Modal
      opened
      size={920}
      onClose={close}
      closeOnClickOutside={false}
      title={rule ? t('alerts.editTitle', { name: rule.name }) : t('alerts.newRule')}
      closeButtonProps={{ size: 28, 'aria-label': t('common.close') }}
    >
      <Form rule={rule} close={close} />
    </Modal>
  );
}

const OWN = ['name', 'kind', 'for', 'repeat', 'channels', 'enabled', ...Object.values(SENT)];

function Form({ rule, close }: RuleDialogProps) {
  const client = useQueryClient();
  const channels = useQuery(channelsQuery);
  const [draft, setDraft] = useState(() => (rule ? draftOf(rule) : NEW_RULE));
  const [busy, setBusy] = useState(false);
  const [error, setError] = useState<unknown>();
  const errors = useMemo(() => new FieldErrors(error), [error]);
  const change = (part: Partial<RuleDraft>) => setDraft({ ...draft, ...part });
  const isPlain = error !== undefined && errors.besides(OWN).length === errors.all.length;
  const save = async () => {
    setBusy(true);
    setError(undefined);
    try {
      await saveRule(bodyOf(draft, rule !== undefined), rule);
      toastDone(t('alerts.saved'));
      client.invalidateQueries({ queryKey: rulesKey });
      close();
    } catch (refused) {
      setError(refused);
      setBusy(false);
    }
  };
  return (
    <form
      className={classes.dialog}
      onSubmit={(event) => {
        event.preventDefault();
        save();
      }}
    >
      <div className={classes.columns}>
        <div className={classes.column}>
          <TextInput
            label={t('alerts.name')}
            value={draft.name}
            error={errors.at('name')}
            onChange={(event) => change({ name: event.currentTarget.value })}
            data-autofocus
          />
          <Select
            label={t('alerts.kind')}
            description={word('alerts.kindText', draft.kind)}
            disabled={rule !== undefined}
            allowDeselect={false}
            data={KINDS.map((value) => ({ value, label: word('alerts.kind', value) }))}
            value={draft.kind}
            error={errors.at('kind')}
            onChange={(kind) => kind && change({ kind: kind as AlertKind })}
          />
          {FIELDS[draft.kind].map((field) => (
            <TextInput
              key={field}
              label={
                field === 'above' && draft.kind === 'failure_rate'
                  ? t('alerts.field.abovePercent')
                  : word('alerts.field', field)
              }
              description={word('alerts.note', field)}
              value={draft[field]}
              error={errors.at(SENT[field])}
              onChange={(event) => change({ [field]: event.currentTarget.value })}
            />
          ))}
          <TextInput
            label={t('alerts.field.hold')}
            description={t('alerts.note.hold')}
            value={draft.hold}
            error={errors.at('for')}
            onChange={(event) => change({ hold: event.currentTarget.value })}
          />
          <TextInput
            label={t('alerts.field.repeat')}
            description={t('alerts.note.repeat')}
            value={draft.repeat}
            error={errors.at('repeat')}
            onChange={(event) => change({ repeat: event.currentTarget.value })}
          />
          <Switch
            label={t('alerts.on')}
            checked={draft.enabled}
            onChange={(event) => change({ enabled: event.currentTarget.checked })}
          />
        </div>
        <div className={classes.column}>
          <Checkbox.Group
            label={t('alerts.channels')}
            description={t(
              channels.data?.length === 0 ? 'alerts.noChannels' : 'alerts.channelsNote',
            )}
            value={draft.channels}
            error={errors.at('channels')}
            onChange={(next) => change({ channels: next })}
          >
            <div className={classes.choices}>
              {names(draft.channels, channels.data ?? []).map((name) => (
                <Checkbox key={name} value={name} label={name} />
              ))}
            </div>
          </Checkbox.Group>
          <RulePreview draft={draft} />
        </div>
      </div>
      {isPlain && <ProblemView error={error} />}
      <div className={classes.foot}>
        <CopyButton
          withText
          label={t('common.copyCurl')}
          text={() => curlOf(ruleRequest(bodyOf(draft, rule !== undefined), rule))}
        />
        <span className={classes.space} />
        <Button variant="default" onClick={close}>
          {t('common.cancel')}
        </Button>
        <Button type="submit" loading={busy}>
          {t('alerts.save')}
        </Button>
      </div>
    </form>
  );
}

/** The channels that there are, and those that the rule names. */
const names = (chosen: string[], known: { id: string; name: string }[]) => [
  ...new Set([
    ...known.filter(({ id }) => !chosen.includes(id)).map(({ name }) => name),
    ...chosen,
  ]),
];
