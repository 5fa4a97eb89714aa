/** The sample that conditions are judged on and that is sent as a test: the last real request, or one's own. */
import { useQuery } from '@tanstack/react-query';
import { useMemo } from 'react';
import { stringifyExact } from '@/api/exact';
import { newestRequests, requestQuery } from '@/api/queries/webhooks';
import { t } from '@/i18n/t';
import { useKept } from '@/settings/kept';
import { formatInstant } from '@/time/format';
import { SAMPLE } from './methods';

export type SampleSource = 'own' | 'last';

/** Longer bodies are no samples to edit. */
const LONGEST = 256 * 1024;

export interface SampleChoice {
  text: string;
  source: SampleSource;
  /** Where it comes from, in words. */
  words: string;
  /** The last real request, if there is one that can be a sample. */
  lastAt: string | undefined;
  choose: (source: SampleSource) => void;
  edit: (text: string) => void;
}

export function useSample(trigger: string | undefined): SampleChoice {
  const [own, setOwn] = useKept(`sample.${trigger ?? 'new'}`, '');
  const [source, setSource] = useKept<SampleSource | ''>(`sampleFrom.${trigger ?? 'new'}`, '');
  const newest = useQuery({
    ...newestRequests(trigger ?? '', 1, { test: 'false' }),
    enabled: trigger !== undefined,
    refetchInterval: 15_000,
  }).data?.[0];
  const fits = newest !== undefined && newest.body_bytes > 0 && newest.body_bytes <= LONGEST;
  const { data: last } = useQuery({
    ...requestQuery(trigger ?? '', newest?.id ?? ''),
    enabled: trigger !== undefined && fits,
  });
  const lastText = useMemo(
    () => (last?.body_encoding === 'json' ? stringifyExact(last.body, 2) : undefined),
    [last],
  );
  // Until somebody chooses, a real request is the better sample.
  const used: SampleSource =
    lastText !== undefined && (source === 'last' || (source === '' && own === '')) ? 'last' : 'own';
  return {
    text: used === 'last' ? lastText! : own || SAMPLE,
    source: used,
    words:
      used === 'last'
        ? t('webhook.lastRequest', { time: formatInstant(Date.parse(last!.received_at)) })
        : t('webhook.ownSample'),
    lastAt: lastText === undefined ? undefined : last!.received_at,
    choose: setSource,
    edit: (text) => {
      setOwn(text);
      setSource('own');
    },
  };
}
