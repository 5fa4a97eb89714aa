/** What the settings, as they are typed, make of the sample. */
import { useQuery } from '@tanstack/react-query';
import { useMemo } from 'react';
import { isUnknownCall } from '@/api/queries/triggers';
import { type JudgedCondition, webhookPreview } from '@/api/queries/webhooks';
import { useSettled } from '@/ui/form/useSettled';
import { jsonProblem } from '../form/settings';
import { sameDraft } from '../form/useFormDraft';
import { type WebhookDraft, webhookSettings } from './webhookDraft';

export interface Judged {
  conditions: JudgedCondition[] | undefined;
  key: string | null | undefined;
  keyFrom: string | null | undefined;
  /** Why the request would be refused, whatever the conditions say. */
  refused: string | null | undefined;
  /** Where the sample comes from, in words. */
  source: string;
  stale: boolean;
  sampleWrong: boolean;
  /** The server cannot preview. */
  unavailable: boolean;
  error: unknown;
}

export function useJudged(draft: WebhookDraft, sample: string, source: string): Judged {
  const wish = useMemo(() => {
    const { enabled: _, ...settings } = webhookSettings(draft);
    return { settings, sample };
  }, [draft, sample]);
  const settled = useSettled(wish, sameDraft);
  const sampleWrong = sample.trim() === '' || jsonProblem(sample) !== undefined;
  const settledWrong = settled.sample.trim() === '' || jsonProblem(settled.sample) !== undefined;
  const query = useQuery({
    ...webhookPreview(settled.settings, { body: settled.sample }),
    enabled: !settledWrong,
  });
  const data = query.isError || sampleWrong ? undefined : query.data;
  return {
    conditions: data?.conditions,
    key: data?.idempotency_key,
    keyFrom: data?.key_from,
    refused: data?.error,
    source,
    stale: settled !== wish || query.isPlaceholderData,
    sampleWrong,
    unavailable: query.isError && isUnknownCall(query.error),
    error: query.isError ? query.error : undefined,
  };
}
