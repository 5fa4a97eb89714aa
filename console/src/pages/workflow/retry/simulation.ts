/** What the server says of the form's policy: its time line, or which fields are wrong. */
import { useDebouncedValue } from '@mantine/hooks';
import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { simulation, type Timeline } from '@/api/queries/workflows';
import { policyOf, type RetryForm } from './policy';

const PAUSE_MS = 150;

export interface Simulated {
  timeline?: Timeline;
  error?: unknown;
  refetch: () => void;
}

export function useSimulation(form: RetryForm): Simulated {
  const [settled] = useDebouncedValue(form, PAUSE_MS);
  const { data, error, refetch } = useQuery({
    ...simulation(policyOf(settled)),
    placeholderData: keepPreviousData,
  });
  return { timeline: error ? undefined : data, error: error ?? undefined, refetch };
}
