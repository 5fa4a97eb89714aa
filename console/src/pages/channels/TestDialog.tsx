/** A message is sent; then a person must look, because most services only say that they took it. */
import { Button, Modal } from '@mantine/core';
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import {
  type Channel,
  channelsKey,
  notificationQuery,
  notificationsKey,
  testChannel,
  testRequest,
} from '@/api/queries/channels';
import { t, word } from '@/i18n/t';
import { curlOf } from '@/ui/confirm/curl';
import { CopyButton } from '@/ui/copy/CopyButton';
import { ProblemView } from '@/ui/state/ProblemView';
import { Status } from '@/ui/status/Status';
import classes from './channels.module.css';

export function TestDialog({ channel, close }: { channel: Channel; close: () => void }) {
  const client = useQueryClient();
  const send = useMutation({
    mutationFn: () => testChannel(channel.id),
    onSettled: () => {
      client.invalidateQueries({ queryKey: notificationsKey });
      client.invalidateQueries({ queryKey: channelsKey });
    },
  });
  return (
    <Modal
      opened
      onClose={close}
      title={t('channels.testTitle', { name: channel.name })}
      closeButtonProps={{ size: 28, 'aria-label': t('common.close') }}
    >
      <div className={classes.dialog}>
        <p className={classes.text}>{t('channels.testText')}</p>
        {send.isError && <ProblemView error={send.error} />}
        {send.data && <Far key={send.data.id} id={send.data.id} channel={channel} />}
        <div className={classes.foot}>
          <CopyButton
            withText
            label={t('common.copyCurl')}
            text={() => curlOf(testRequest(channel.id))}
          />
          <span className={classes.space} />
          <Button variant="default" onClick={close}>
            {t('common.close')}
          </Button>
          <Button loading={send.isPending} onClick={() => send.mutate()} data-autofocus>
            {t(send.data ? 'channels.sendAgain' : 'channels.sendTest')}
          </Button>
        </div>
      </div>
    </Modal>
  );
}

/** How far the message is, and what to do then. */
function Far({ id, channel }: { id: string; channel: Channel }) {
  const query = useQuery(notificationQuery(id));
  const { data } = query;
  if (query.isError) return <ProblemView error={query.error} retry={query.refetch} />;
  if (!data) return <p className={classes.text}>{t('channels.sending')}</p>;
  return (
    <div className={classes.far} role="status">
      <Status value={data.status} label={word('channels.status', data.status)} />
      {data.status === 'accepted' && (
        <p className={classes.text}>{word('channels.look', channel.type)}</p>
      )}
      {data.error && (
        <p className={classes.wrong}>
          {data.error_code && <code>{data.error_code}</code>} {data.error}
        </p>
      )}
      {data.status === 'retrying' && <p className={classes.muted}>{t('channels.retryingText')}</p>}
    </div>
  );
}
