/** The retry form: what a definition's `retry` says, and what the form makes of it. */

export const STRATEGIES = ['exponential', 'linear', 'fixed'] as const;
export const JITTERS = [
  'proportional',
  'none',
  'additive',
  'full',
  'equal',
  'decorrelated',
] as const;
export const NETWORK_ERRORS = [
  'connect_timeout',
  'read_timeout',
  'connection_reset',
  'connection_refused',
  'dns',
] as const;
export const OTHER_ERRORS = [
  'local',
  'tls',
  'address_refused',
  'redirect',
  'response_too_large',
  'invalid_response',
  'invalid_url',
  'template',
  'mapping',
] as const;
export const RETRIED_STATUSES = ['429', '500', '502', '503', '504'];
export const FAILED_STATUSES = ['400', '401', '403', '404'];
export const MOST_RETRIES = 10;

/** Durations and numbers are texts, as they are typed. */
export interface RetryForm {
  enabled: boolean;
  maxRetries: string;
  initialDelay: string;
  strategy: string;
  multiplier: string;
  maxDelay: string;
  maxElapsed: string;
  jitter: string;
  ratio: string;
  statuses: string[];
  errors: string[];
  failStatuses: string[];
}

export const DEFAULTS: RetryForm = {
  enabled: true,
  maxRetries: '5',
  initialDelay: '2s',
  strategy: 'exponential',
  multiplier: '2',
  maxDelay: '',
  maxElapsed: '',
  jitter: 'proportional',
  ratio: '0.2',
  statuses: RETRIED_STATUSES,
  errors: [...NETWORK_ERRORS, 'local'],
  failStatuses: FAILED_STATUSES,
};

type Mapping = Record<string, unknown>;

const isMapping = (value: unknown): value is Mapping =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

const camel = (key: string) => key.replace(/_(\w)/g, (_, letter: string) => letter.toUpperCase());

/** Other spellings of keys. */
const SPELLINGS: Record<string, string> = {
  backoff: 'strategy',
  backoffStrategy: 'strategy',
  initialDelaySeconds: 'initialDelay',
  jitterEnabled: 'jitter',
  retryEnabled: 'enabled',
  retryableErrors: 'retryStatuses',
  retryableErrorCodes: 'retryStatuses',
};

function canonical(policy: Mapping): Mapping {
  const known: Mapping = {};
  for (const [key, value] of Object.entries(policy)) {
    const name = camel(key);
    known[SPELLINGS[name] ?? name] = value;
  }
  return known;
}

const list = (value: unknown): string[] | undefined =>
  value === undefined || value === null
    ? undefined
    : (Array.isArray(value) ? value : [value]).map(String);

/** A number of a definition is seconds; the form shows a unit. */
const duration = (value: unknown): string | undefined => {
  if (value === undefined || value === null) return undefined;
  return typeof value === 'number' ? `${value}s` : String(value);
};

/** What a definition's `retry` means, with the defaults for what it does not say. */
export function readPolicy(retry: unknown): RetryForm {
  if (retry === false) return { ...DEFAULTS, enabled: false };
  if (typeof retry === 'number') return { ...DEFAULTS, maxRetries: String(retry) };
  if (!isMapping(retry)) return DEFAULTS;
  const given = canonical(retry);
  const retryOn = isMapping(given.retryOn) ? given.retryOn : {};
  const failOn = isMapping(given.failOn) ? given.failOn : {};
  const jitter = isMapping(given.jitter) ? given.jitter : { type: given.jitter };
  const { type } = jitter;
  const kind = type === true ? 'proportional' : type === false ? 'none' : type;
  const statuses = list(retryOn.statuses ?? given.retryStatuses) ?? DEFAULTS.statuses;
  return {
    enabled: given.enabled !== false,
    maxRetries: String(
      given.maxRetries ?? (given.maxAttempts === undefined ? 5 : Number(given.maxAttempts) - 1),
    ),
    initialDelay:
      duration(given.initialDelay) ??
      (given.baseDelayMs === undefined ? DEFAULTS.initialDelay : `${given.baseDelayMs}ms`),
    strategy: String(given.strategy ?? DEFAULTS.strategy),
    multiplier: String(given.multiplier ?? DEFAULTS.multiplier),
    maxDelay: duration(given.maxDelay) ?? '',
    maxElapsed: duration(given.maxElapsed) ?? '',
    jitter: String(kind ?? DEFAULTS.jitter),
    ratio: String(jitter.ratio ?? DEFAULTS.ratio),
    statuses,
    errors: list(retryOn.errors) ?? DEFAULTS.errors,
    // A status that is retried on purpose is no longer among the defaults that fail at once.
    failStatuses:
      list(failOn.statuses) ?? DEFAULTS.failStatuses.filter((status) => !statuses.includes(status)),
  };
}

const status = (text: string): number | string => (/^\d{3}$/.test(text) ? Number(text) : text);
const number = (text: string): number | string =>
  text.trim() !== '' && Number.isFinite(Number(text)) ? Number(text) : text;
/** A number alone is seconds. */
const time = (text: string): string => {
  const bare = text.trim();
  return /^\d+(\.\d+)?$/.test(bare) ? `${bare}s` : bare.replace(/\s+/g, '');
};

const jitterOf = (form: RetryForm): unknown =>
  form.jitter === 'proportional' && Number(form.ratio) !== 0.2
    ? { type: 'proportional', ratio: number(form.ratio) }
    : form.jitter;

/** One setting and the value the form has for it; undefined is "not set". */
function settings(form: RetryForm): [path: string[], value: unknown][] {
  return [
    [['enabled'], form.enabled],
    [['maxRetries'], number(form.maxRetries)],
    [['initialDelay'], time(form.initialDelay)],
    [['strategy'], form.strategy],
    [['multiplier'], number(form.multiplier)],
    [['maxDelay'], form.maxDelay.trim() === '' ? undefined : time(form.maxDelay)],
    [['maxElapsed'], form.maxElapsed.trim() === '' ? undefined : time(form.maxElapsed)],
    [['jitter'], jitterOf(form)],
    [['retryOn', 'statuses'], form.statuses.map(status)],
    [['retryOn', 'errors'], form.errors],
    [['failOn', 'statuses'], form.failStatuses.map(status)],
  ];
}

/** The whole policy, for the simulator. */
export function policyOf(form: RetryForm): unknown {
  if (!form.enabled) return false;
  const policy: Mapping = {};
  for (const [[key, inner], value] of settings(form)) {
    if (value === undefined || (key === 'multiplier' && form.strategy !== 'exponential')) continue;
    if (inner) policy[key!] = { ...(policy[key!] as Mapping | undefined), [inner]: value };
    else policy[key!] = value;
  }
  return policy;
}

/** The settings in which two forms differ, with the values of the second. */
export function changedSettings(
  before: RetryForm,
  after: RetryForm,
): [path: string[], value: unknown][] {
  const old = new Map(
    settings(before).map(([path, value]) => [path.join('.'), JSON.stringify(value)]),
  );
  return settings(after).filter(([path, value]) => {
    if (path[0] === 'multiplier' && after.strategy !== 'exponential') return false;
    return old.get(path.join('.')) !== JSON.stringify(value);
  });
}
