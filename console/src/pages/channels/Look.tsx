/** What the service would be sent, by what is typed so far. */
import { SegmentedControl } from '@mantine/core';
import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { useMemo, useState } from 'react';
import { channelsKey, previewChannel } from '@/api/queries/channels';
import { t, word } from '@/i18n/t';
import { useSettled } from '@/ui/form/useSettled';
import { Json } from '@/ui/json/Json';
import classes from './channels.module.css';
import { bodyOf, type ChannelDraft } from './draft';

const PHASES = ['first', 'more', 'over'] as const;

export function Look({ draft }: { draft: ChannelDraft }) {
  const [phase, setPhase] = useState<string>('first');
  const asked = useMemo(() => ({ ...bodyOf(draft), name: draft.name || '-' }), [draft]);
  const settled = useSettled(asked, (one, other) => JSON.stringify(one) === JSON.stringify(other));
  const preview = useQuery({
    queryKey: [...channelsKey, 'preview', settled, phase],
    queryFn: ({ signal }) => previewChannel(settled, phase, signal),
    placeholderData: keepPreviousData,
    retry: false,
    gcTime: 0,
  });
  return (
    <section className={classes.look} aria-label={t('channels.look')}>
      <div className={classes.lookHead}>
        <strong>{t('channels.look')}</strong>
        <SegmentedControl
          aria-label={t('channels.phase')}
          size="xs"
          value={phase}
          onChange={setPhase}
          data={PHASES.map((value) => ({ value, label: word('channels.phase', value) }))}
        />
      </div>
      {preview.isError && <p className={classes.muted}>{t('channels.lookLater')}</p>}
      {preview.data && !preview.isError && (
        <Json
          value={preview.data.text ?? preview.data.body}
          label={preview.data.subject ?? t('channels.look')}
          maxHeight={280}
        />
      )}
    </section>
  );
}
