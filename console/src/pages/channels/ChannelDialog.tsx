/** The form of a channel: a few fields for its type with what they mean, what it is told, and how it looks. */
import { Button, Checkbox, Modal, Select, Switch, Textarea, TextInput } from '@mantine/core';
import { useQueryClient } from '@tanstack/react-query';
import { useMemo, useState } from 'react';
import {
  type Channel,
  type ChannelType,
  channelsKey,
  saveChannel,
  saveRequest,
} from '@/api/queries/channels';
import { t, word } from '@/i18n/t';
import { curlOf } from '@/ui/confirm/curl';
import { CopyButton } from '@/ui/copy/CopyButton';
import { CopyText } from '@/ui/copy/CopyText';
import { FieldErrors } from '@/ui/form/fieldErrors';
import { ProblemView } from '@/ui/state/ProblemView';
import { toastDone } from '@/ui/toast/toast';
import { ConfigFields } from './ConfigFields';
import classes from './channels.module.css';
import { bodyOf, type ChannelDraft, draftOf, NEW_CHANNEL, NOTICE_KINDS, TYPES } from './draft';
import { Look } from './Look';

interface ChannelDialogProps {
  /** Nothing for a new one. */
  channel: Channel | undefined;
  close: () => void;
}

export function ChannelDialog({ channel, close }: ChannelDialogProps) {
  const [secret, setSecret] = useState<string>();
  return (
    <Modal
      opened
      size={920}
      onClose={close}
      closeOnClickOutside={false}
      title={channel ? t('channels.editTitle', { name: channel.name }) : t('channels.new')}
      closeButtonProps={{ size: 28, 'aria-label': t('common.close') }}
    >
      {secret === undefined ? (
        <Form
          channel={channel}
          close={close}
          saved={(made) => (made.secret ? setSecret(made.secret) : close())}
        />
      ) : (
        <div className={classes.dialog}>
          <p className={classes.text}>{t('channels.onceText')}</p>
          <CopyText text={secret} block />
          <div className={classes.foot}>
            <span className={classes.space} />
            <Button onClick={close}>{t('channels.stored')}</Button>
          </div>
        </div>
      )}
    </Modal>
  );
}

const OWN = ['name', 'type', 'language', 'kinds', 'workflows', 'config', 'enabled'];

function Form({ channel, close, saved }: ChannelDialogProps & { saved: (made: Channel) => void }) {
  const client = useQueryClient();
  const [draft, setDraft] = useState(() => (channel ? draftOf(channel) : NEW_CHANNEL));
  const [busy, setBusy] = useState(false);
  const [error, setError] = useState<unknown>();
  const errors = useMemo(() => new FieldErrors(error), [error]);
  const change = (part: Partial<ChannelDraft>) => setDraft({ ...draft, ...part });
  const save = async () => {
    setBusy(true);
    setError(undefined);
    try {
      const made = await saveChannel(bodyOf(draft), channel);
      toastDone(t('channels.saved'));
      client.invalidateQueries({ queryKey: channelsKey });
      saved(made);
    } catch (refused) {
      setError(refused);
      setBusy(false);
    }
  };
  const isPlain = error !== undefined && errors.besides(OWN).length === errors.all.length;
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
            label={t('channels.name')}
            value={draft.name}
            error={errors.at('name')}
            onChange={(event) => change({ name: event.currentTarget.value })}
            data-autofocus
          />
          <Select
            label={t('channels.type')}
            description={word('channels.typeText', draft.type)}
            disabled={channel !== undefined}
            allowDeselect={false}
            data={TYPES.map((value) => ({ value, label: word('channels.type', value) }))}
            value={draft.type}
            error={errors.at('type')}
            onChange={(type) => type && change({ type: type as ChannelType, config: {} })}
          />
          <ConfigFields
            draft={draft}
            errors={errors}
            change={(config) => change({ config: { ...draft.config, ...config } })}
          />
          <Select
            label={t('channels.language')}
            allowDeselect={false}
            data={[
              { value: 'en', label: 'English' },
              { value: 'zh-TW', label: '繁體中文' },
            ]}
            value={draft.language}
            error={errors.at('language')}
            onChange={(language) => language && change({ language })}
          />
          <Switch
            label={t('channels.on')}
            checked={draft.enabled}
            onChange={(event) => change({ enabled: event.currentTarget.checked })}
          />
        </div>
        <div className={classes.column}>
          <Checkbox.Group
            label={t('channels.wants')}
            description={t('channels.wantsNote')}
            value={draft.kinds}
            error={errors.at('kinds')}
            onChange={(kinds) => change({ kinds })}
          >
            <div className={classes.kinds}>
              {NOTICE_KINDS.map((kind) => (
                <Checkbox key={kind} value={kind} label={word('channels.kind', kind)} />
              ))}
            </div>
          </Checkbox.Group>
          <Textarea
            label={t('channels.workflows')}
            description={t('channels.workflowsNote')}
            placeholder="crm_*"
            autosize
            minRows={2}
            maxRows={6}
            value={draft.workflows}
            error={errors.at('workflows')}
            onChange={(event) => change({ workflows: event.currentTarget.value })}
          />
          <Look draft={draft} />
        </div>
      </div>
      {isPlain && <ProblemView error={error} />}
      <div className={classes.foot}>
        <CopyButton
          withText
          label={t('common.copyCurl')}
          text={() => curlOf(saveRequest(bodyOf(draft), channel))}
        />
        <span className={classes.space} />
        <Button variant="default" onClick={close}>
          {t('common.cancel')}
        </Button>
        <Button type="submit" loading={busy}>
          {t('channels.save')}
        </Button>
      </div>
    </form>
  );
}
