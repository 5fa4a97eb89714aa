/** A new silence: about what, for how long, why. */
import { SegmentedControl, Select, Textarea, TextInput } from '@mantine/core';
import { useQuery, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import {
  alertsKey,
  makeSilence,
  rulesQuery,
  type SilenceBody,
  silenceRequest,
  silencesKey,
} from '@/api/queries/alerts';
import { t, word } from '@/i18n/t';
import { serverNow } from '@/live/clock';
import { Confirm } from '@/ui/confirm/Confirm';
import { toastDone } from '@/ui/toast/toast';
import classes from './alerts.module.css';
import { endOf, LENGTHS, type Length } from './silence';

interface SilenceDialogProps {
  rule?: string;
  subject?: string;
  close: () => void;
}

export function SilenceDialog({
  rule: ofRule = '',
  subject: about = '',
  close,
}: SilenceDialogProps) {
  const client = useQueryClient();
  const rules = useQuery(rulesQuery);
  const [rule, setRule] = useState(ofRule);
  const [subject, setSubject] = useState(about);
  const [length, setLength] = useState<Length>('1h');
  const [comment, setComment] = useState('');
  const body = (): SilenceBody => ({
    rule: rule || undefined,
    subject: subject.trim() || undefined,
    ends_at: endOf(length, serverNow()),
    comment: comment.trim() || undefined,
  });
  return (
    <Confirm
      opened
      onClose={close}
      title={t('alerts.newSilence')}
      action={t('alerts.silenceDo')}
      request={silenceRequest(body())}
      run={async () => {
        await makeSilence(body());
        toastDone(t('alerts.silenced'));
        client.invalidateQueries({ queryKey: silencesKey });
        client.invalidateQueries({ queryKey: alertsKey });
      }}
    >
      <div className={classes.column}>
        <p className={classes.text}>{t('alerts.silenceText')}</p>
        <Select
          label={t('alerts.rule')}
          placeholder={t('alerts.everyRule')}
          clearable
          data={(rules.data ?? []).map(({ id, name }) => ({ value: id, label: name }))}
          value={rule || null}
          onChange={(next) => setRule(next ?? '')}
        />
        <TextInput
          label={t('alerts.subject')}
          placeholder={t('alerts.everySubject')}
          value={subject}
          onChange={(event) => setSubject(event.currentTarget.value)}
        />
        <div>
          <div id="silence-length">{t('alerts.howLong')}</div>
          <SegmentedControl
            aria-labelledby="silence-length"
            value={length}
            onChange={(next) => setLength(next as Length)}
            data={LENGTHS.map((value) => ({ value, label: word('alerts.length', value) }))}
          />
        </div>
        <Textarea
          label={t('alerts.comment')}
          autosize
          minRows={2}
          value={comment}
          onChange={(event) => setComment(event.currentTarget.value)}
        />
      </div>
    </Confirm>
  );
}
