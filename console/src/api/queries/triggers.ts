/** Triggers: lists, one, what they planned and what became of it, and everything that changes one. */
import { keepPreviousData, queryOptions } from '@tanstack/react-query';
import { answer, api, call, read } from '../client';
import { ApiProblem } from '../problem';
import type { Schema } from '../types';

/** The settings of a trigger as they are written; `TriggerAbout` is what the server says of it. */
export type TriggerSettings = Record<string, unknown>;
export type Trigger = Schema<'TriggerAbout'> & TriggerSettings;
export type TriggerType = Schema<'TriggerType'>;
export type LedgerEntry = Schema<'LedgerEntry'>;
export type SlotStatus = Schema<'SlotStatus'>;
export type PlannedSlot = Schema<'PlannedSlot'>;
export type CronRun = Schema<'CronRun'>;
export type BackfillResult = Schema<'BackfillResult'>;

export interface TriggerFilter {
  type?: string;
  workflow?: string;
  enabled?: string;
  overdue?: string;
  q?: string;
}

const PAGE_ROWS = 100;
const PAGE_MS = 5_000;
const STRIP_MS = 15_000;

/** Keys: everything of triggers, everything of one. */
export const triggersKey = ['triggers'];
export const triggerKey = (id: string) => [...triggersKey, id];

export const triggerListKey = (filter: TriggerFilter) => [...triggersKey, 'list', filter];

export function readTriggers(filter: TriggerFilter, cursor: string | null, signal?: AbortSignal) {
  return read('/api/triggers', {
    query: { ...filter, limit: PAGE_ROWS, cursor },
    signal,
  });
}

export const triggerQuery = (id: string) =>
  queryOptions({
    queryKey: triggerKey(id),
    queryFn: ({ signal }) => read('/api/triggers/{id}', { path: { id }, signal }),
    refetchInterval: PAGE_MS,
  });

/** The newest entries of the ledger, for a strip. */
export const slotStrip = (id: string, limit: number) =>
  queryOptions({
    queryKey: [...triggerKey(id), 'strip', limit],
    queryFn: async ({ signal }) =>
      (
        await answer(
          api.GET('/api/triggers/{id}/slots', {
            params: { path: { id }, query: { limit } },
            signal,
          }),
        )
      ).items,
    staleTime: STRIP_MS,
    refetchInterval: STRIP_MS,
  });

export interface SlotFilter {
  status?: string;
  from?: string;
  to?: string;
}

/** The ledger between two times, newest first, up to a bound. */
export const slotRange = (id: string, from: string, to: string | undefined, limit: number) =>
  queryOptions({
    queryKey: [...triggerKey(id), 'range', from, to, limit],
    queryFn: ({ signal }) =>
      read('/api/triggers/{id}/slots', {
        path: { id },
        query: { from, to, limit },
        signal,
      }),
    refetchInterval: PAGE_MS,
    placeholderData: keepPreviousData,
  });

export const slotListKey = (id: string, filter: SlotFilter) => [...triggerKey(id), 'slots', filter];

export function readSlots(
  id: string,
  filter: SlotFilter,
  cursor: string | null,
  signal?: AbortSignal,
) {
  return read('/api/triggers/{id}/slots', {
    path: { id },
    query: { ...filter, limit: PAGE_ROWS, cursor },
    signal,
  });
}

/** The last executions of a trigger's planned times, with their results. */
export const cronHistory = (workflow: string, trigger: string, limit: number) =>
  queryOptions({
    queryKey: [...triggerKey(trigger), 'history', limit],
    queryFn: async ({ signal }) =>
      (
        await answer(
          api.GET('/api/workflows/{id}/cron-history', {
            params: { path: { id: workflow }, query: { trigger_id: trigger, limit } },
            signal,
          }),
        )
      ).history,
    refetchInterval: PAGE_MS,
  });

export interface PreviewedSlot {
  at: string;
  local: string;
  offset: string;
  note?: string | null;
  note_zh?: string | null;
}

export interface SchedulePreview {
  description: string;
  description_zh: string;
  next: PreviewedSlot[];
  notes: string[];
  notes_zh?: string[];
  timezone?: string;
  offset: string;
}

/** When settings that are not saved yet would fire. */
export function previewSchedule(
  settings: TriggerSettings,
  count: number,
  from?: string,
  signal?: AbortSignal,
): Promise<SchedulePreview> {
  const body = from ? { ...settings, count, from } : { ...settings, count };
  return call('POST', '/api/schedule/preview', { body, signal });
}

export const schedulePreview = (settings: TriggerSettings, count: number) =>
  queryOptions({
    queryKey: ['schedule-preview', settings, count],
    queryFn: ({ signal }) => previewSchedule(settings, count, undefined, signal),
    placeholderData: keepPreviousData,
    staleTime: 20_000,
    refetchInterval: 30_000,
    retry: false,
  });

export interface TimeZoneRow {
  name: string;
  offset: string;
  offset_minutes: number;
}

/** All time zones with their present offsets; of a server without this list, the browser's. */
export const timeZones = queryOptions({
  queryKey: ['time-zones'],
  queryFn: async ({ signal }) => {
    try {
      return (await read('/api/time-zones', { signal })).items;
    } catch (error) {
      if (error instanceof ApiProblem && error.status === 404) return null;
      throw error;
    }
  },
  staleTime: 3_600_000,
});

/** Whether the server has no such call: an older one than the page. */
export function isUnknownCall(error: unknown): boolean {
  return (
    error instanceof ApiProblem &&
    (error.status === 405 || (error.status === 404 && !/^RF00(08|3\d)$/.test(error.code)))
  );
}

/** Settings are JSON as text, so that an input stays as it was typed. */
export function createTrigger(workflow: string, settings: string): Promise<Trigger> {
  return call('POST', `/api/workflows/${encodeURIComponent(workflow)}/triggers`, {
    body: settings,
  });
}

/** All settings at once; `catchUp` decides about what was planned while it was paused. */
export function replaceTrigger(id: string, settings: string, catchUp?: boolean): Promise<Trigger> {
  return call('PUT', `/api/triggers/${encodeURIComponent(id)}`, {
    body: settings,
    query: { catch_up: catchUp || undefined },
  });
}

export function enableTrigger(id: string, catchUp: boolean): Promise<Trigger> {
  return call('POST', `/api/triggers/${encodeURIComponent(id)}/enable`, {
    body: { catch_up: catchUp },
  });
}

export function disableTrigger(id: string): Promise<Trigger> {
  return call('POST', `/api/triggers/${encodeURIComponent(id)}/disable`);
}

export function deleteTrigger(id: string): Promise<void> {
  return call('DELETE', `/api/triggers/${encodeURIComponent(id)}`);
}

/** Starts an execution now; without an input, with the trigger's. */
export function runTrigger(id: string, input?: string): Promise<Schema<'Accepted'>> {
  return call('POST', `/api/triggers/${encodeURIComponent(id)}/run`, { body: input });
}

export interface BackfillWish {
  from: string;
  to: string;
  only_missed: boolean;
  dry_run: boolean;
}

export function backfill(id: string, wish: BackfillWish): Promise<BackfillResult> {
  return call('POST', `/api/triggers/${encodeURIComponent(id)}/backfill`, { body: wish });
}
