/** A scheduled task as a form: the request that makes it, taken apart and put together again. */
import { ExactNumber, parseExact, stringifyExact } from '@/api/exact';
import type { ScheduledTask } from '@/api/queries/scheduled';
import { instantOf, localInput } from '@/time/zone';

export const SCHEDULE_TYPES = ['immediate', 'once', 'daily', 'weekly', 'monthly', 'cron'] as const;
export const TASK_TYPES = [
  'notification',
  'report',
  'sync',
  'maintenance',
  'business',
  'custom',
] as const;
export const TRIGGER_TYPES = ['http', 'lambda', 'sns', 'sqs', 'eventbridge'] as const;
export const METHODS = ['POST', 'GET', 'PUT', 'PATCH', 'DELETE'];

type Plain = Record<string, unknown>;

export interface TaskDraft {
  taskName: string;
  taskDescription: string;
  taskType: string;
  scheduleType: string;
  isRecurring: boolean;
  /** A local time in the form's zone. */
  executeAt: string;
  time: string;
  daysOfWeek: string[];
  dayOfMonth: string;
  cron: string;
  description: string;
  timezone: string;
  startTime: string;
  endTime: string;
  triggerType: string;
  url: string;
  method: string;
  headers: { name: string; value: string }[];
  timeout: string;
  /** The settings of a target other than `http`, as text. */
  otherTarget: string;
  payload: string;
  retry: boolean;
  maxRetries: string;
  retryInterval: string;
  retryOnTimeout: boolean;
  callbackWindow: string;
  executorConfig: string;
  metadata: string;
}

export const EMPTY: TaskDraft = {
  taskName: '',
  taskDescription: '',
  taskType: 'notification',
  scheduleType: 'daily',
  isRecurring: true,
  executeAt: '',
  time: '09:00',
  daysOfWeek: ['1'],
  dayOfMonth: '1',
  cron: '0 9 * * 1,3,5',
  description: '',
  timezone: '',
  startTime: '',
  endTime: '',
  triggerType: 'http',
  url: '',
  method: 'POST',
  headers: [],
  timeout: '',
  otherTarget: '{}',
  payload: '{}',
  retry: false,
  maxRetries: '3',
  retryInterval: '5',
  retryOnTimeout: false,
  callbackWindow: '',
  executorConfig: '',
  metadata: '',
};

const isPlain = (value: unknown): value is Plain =>
  typeof value === 'object' &&
  value !== null &&
  !Array.isArray(value) &&
  !(value instanceof ExactNumber);
const plain = (value: unknown): Plain => (isPlain(value) ? value : {});
const text = (value: unknown): string =>
  value === null || value === undefined
    ? ''
    : Array.isArray(value)
      ? value.map(String).join(', ')
      : String(value);
const pretty = (value: unknown): string =>
  value === undefined || value === null ? '' : stringifyExact(value, 2);

/** A number where the text is one, else the text, so that the server can say what is wrong with it. */
function numberOf(given: string): unknown {
  try {
    const value = parseExact(given.trim());
    return typeof value === 'number' || value instanceof ExactNumber ? value : given;
  } catch {
    return given;
  }
}

/** `09:00, 17:30` becomes a list, one becomes a text. */
function several(given: string): unknown {
  const parts = given
    .split(',')
    .map((part) => part.trim())
    .filter(Boolean);
  return parts.length > 1 ? parts : (parts[0] ?? '');
}

/** The request without the fields that are null, as the server has them of a task. */
export function requestOf(task: ScheduledTask): Plain {
  const { taskName, taskDescription, isRecurring, scheduleType, scheduleConfig } = task;
  const all: Plain = {
    taskName,
    taskDescription,
    isRecurring,
    scheduleType,
    scheduleConfig,
    startTime: task.startTime,
    endTime: task.endTime,
    taskConfig: task.taskConfig,
  };
  return Object.fromEntries(
    Object.entries(all).filter(([, value]) => value !== null && value !== undefined),
  );
}

const localOf = (value: unknown, zone: string) => {
  const at = Date.parse(text(value));
  return Number.isNaN(at) ? text(value) : localInput(at, zone);
};

export function draftOf(request: unknown, zone: string): TaskDraft {
  const all = plain(request);
  const schedule = plain(all.scheduleConfig);
  const config = plain(all.taskConfig);
  const target = plain(config.targetConfig);
  const retry = plain(config.retryConfig);
  const { triggerType = 'http', ...rest } = target;
  return {
    ...EMPTY,
    taskName: text(all.taskName),
    taskDescription: text(all.taskDescription),
    taskType: text(config.taskType) || EMPTY.taskType,
    scheduleType: text(all.scheduleType) || EMPTY.scheduleType,
    isRecurring: all.isRecurring !== false,
    executeAt: localOf(schedule.executeAt, zone),
    time: text(schedule.time) || EMPTY.time,
    daysOfWeek:
      schedule.dayOfWeek === undefined
        ? EMPTY.daysOfWeek
        : (Array.isArray(schedule.dayOfWeek) ? schedule.dayOfWeek : [schedule.dayOfWeek]).map(
            String,
          ),
    dayOfMonth: text(schedule.dayOfMonth) || EMPTY.dayOfMonth,
    cron: text(schedule.cron) || EMPTY.cron,
    description: text(schedule.description),
    timezone: text(schedule.timezone),
    startTime: localOf(all.startTime, zone),
    endTime: localOf(all.endTime, zone),
    triggerType: text(triggerType),
    url: text(target.url),
    method: text(target.method) || 'POST',
    headers: Object.entries(plain(target.headers)).map(([name, value]) => ({
      name,
      value: text(value),
    })),
    timeout: text(target.triggerTimeoutSeconds),
    otherTarget: pretty(rest) || '{}',
    payload: pretty(config.taskPayload) || '{}',
    retry: isPlain(config.retryConfig),
    maxRetries: text(retry.maxRetries) || EMPTY.maxRetries,
    retryInterval: text(retry.retryIntervalMinutes) || EMPTY.retryInterval,
    retryOnTimeout: retry.retryOnTimeout === true,
    callbackWindow: text(config.callbackWindow),
    executorConfig: pretty(config.executorConfig),
    metadata: pretty(config.metadata),
  };
}

export type DraftProblems = Partial<Record<keyof TaskDraft, string>>;

function objectOf(given: string): Plain {
  const value = parseExact(given);
  if (!isPlain(value)) throw new Error('{ … }');
  return value;
}

function scheduleOf(draft: TaskDraft, zone: string): Plain | undefined {
  const config: Plain = {};
  switch (draft.scheduleType) {
    case 'once':
      config.executeAt = isoOf(draft.executeAt, zone);
      break;
    case 'weekly':
      config.dayOfWeek =
        draft.daysOfWeek.length === 1
          ? numberOf(draft.daysOfWeek[0]!)
          : draft.daysOfWeek.map(numberOf);
      config.time = several(draft.time);
      break;
    case 'monthly':
      config.dayOfMonth = /^\d+$/.test(draft.dayOfMonth.trim())
        ? numberOf(draft.dayOfMonth)
        : several(draft.dayOfMonth);
      config.time = several(draft.time);
      break;
    case 'daily':
      config.time = several(draft.time);
      break;
    case 'cron':
      config.cron = draft.cron.trim();
      break;
  }
  if (draft.description) config.description = draft.description;
  if (draft.timezone && !/^(immediate|once)$/.test(draft.scheduleType))
    config.timezone = draft.timezone;
  return Object.keys(config).length > 0 ? config : undefined;
}

/** The instant of a local time; what is none is sent as it is, and the server names the field. */
function isoOf(local: string, zone: string): string {
  if (!/^\d{4}-\d\d-\d\dT\d\d:\d\d/.test(local)) return local;
  return new Date(instantOf(local, zone)).toISOString().replace('.000Z', 'Z');
}

function targetOf(draft: TaskDraft): Plain | undefined {
  if (draft.triggerType !== 'http')
    return { triggerType: draft.triggerType, ...objectOf(draft.otherTarget || '{}') };
  // A `sync` may say in its payload where it goes.
  if (draft.url.trim() === '' && draft.taskType === 'sync') return undefined;
  const target: Plain = {
    triggerType: 'http',
    url: draft.url.trim(),
    method: draft.method,
  };
  const headers = draft.headers.filter(({ name }) => name.trim() !== '');
  if (headers.length > 0)
    target.headers = Object.fromEntries(headers.map(({ name, value }) => [name.trim(), value]));
  if (draft.timeout.trim()) target.triggerTimeoutSeconds = numberOf(draft.timeout);
  return target;
}

/** The request of a draft, or what keeps it from being one. */
export function toRequest(
  draft: TaskDraft,
  zone: string,
): { request: Plain; problems?: undefined } | { problems: DraftProblems } {
  const problems: DraftProblems = {};
  const read = (field: 'payload' | 'executorConfig' | 'metadata' | 'otherTarget') => {
    try {
      return objectOf(draft[field]);
    } catch (error) {
      problems[field] = error instanceof Error ? error.message : String(error);
      return {};
    }
  };
  const config: Plain = { taskType: draft.taskType };
  if (draft.triggerType !== 'http') read('otherTarget');
  const target = problems.otherTarget === undefined ? targetOf(draft) : undefined;
  if (target) config.targetConfig = target;
  if (draft.executorConfig.trim()) config.executorConfig = read('executorConfig');
  config.taskPayload = read('payload');
  if (draft.retry)
    config.retryConfig = {
      retryOnTimeout: draft.retryOnTimeout,
      maxRetries: numberOf(draft.maxRetries),
      retryIntervalMinutes: numberOf(draft.retryInterval),
    };
  if (draft.callbackWindow.trim())
    config.callbackWindow = draft.callbackWindow.trim() === '0' ? 0 : draft.callbackWindow.trim();
  if (draft.metadata.trim()) config.metadata = read('metadata');
  if (Object.keys(problems).length > 0) return { problems };

  const request: Plain = {
    isRecurring: /^(immediate|once)$/.test(draft.scheduleType) ? false : draft.isRecurring,
    scheduleType: draft.scheduleType,
  };
  if (draft.taskName.trim()) request.taskName = draft.taskName.trim();
  if (draft.taskDescription.trim()) request.taskDescription = draft.taskDescription.trim();
  const schedule = scheduleOf(draft, zone);
  if (schedule) request.scheduleConfig = schedule;
  if (draft.startTime) request.startTime = isoOf(draft.startTime, zone);
  if (draft.endTime) request.endTime = isoOf(draft.endTime, zone);
  request.taskConfig = config;
  return { request };
}

/** What turns one request into another, as a JSON merge patch. */
export function mergePatch(before: unknown, after: unknown): Plain {
  const patch: Plain = {};
  const old = plain(before);
  const next = plain(after);
  for (const key of new Set([...Object.keys(old), ...Object.keys(next)])) {
    if (!(key in next)) patch[key] = null;
    else if (isPlain(old[key]) && isPlain(next[key])) {
      const inner = mergePatch(old[key], next[key]);
      if (Object.keys(inner).length > 0) patch[key] = inner;
    } else if (stringifyExact(old[key]) !== stringifyExact(next[key])) patch[key] = next[key];
  }
  return patch;
}
