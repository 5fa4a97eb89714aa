/** The steps of a definition as the graph shows them. */

export interface GraphStep {
  id: string;
  /** `http`, `local`, `external_task`. */
  type: string;
  /** What it calls: `POST crm.example.com/tickets`, a task's name or type. */
  target: string;
  /** The steps that come before it; in a plain list, the one above. */
  needs: string[];
  /** How often it is retried at most; nothing where that is not known. */
  retries?: number;
  /** Only runs when its `when` gives true. */
  conditional: boolean;
  /** Waits for its target to call back. */
  callback: boolean;
  /** The step that it undoes. */
  undoes?: string;
  /** Its part of the definition, for details. */
  definition: Record<string, unknown>;
}

type Mapping = Record<string, unknown>;

const mapping = (value: unknown): Mapping =>
  typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Mapping) : {};

const text = (value: unknown): string =>
  value === undefined || value === null ? '' : String(value);

const names = (value: unknown): string[] =>
  (Array.isArray(value) ? value : [value])
    .filter((each) => each !== undefined && each !== null)
    .map(String);

/** The value of a key in either spelling. */
function given(map: Mapping, camel: string): unknown {
  const snake = camel.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
  return map[camel] ?? map[snake];
}

const DEFAULT_RETRIES = 5;

/** What a `retry` setting says about the number of retries; nothing when it does not. */
function retriesOf(retry: unknown): number | undefined {
  if (retry === false) return 0;
  if (retry === true) return DEFAULT_RETRIES;
  if (typeof retry === 'number') return retry;
  const policy = mapping(retry);
  if ((policy.enabled ?? given(policy, 'retryEnabled')) === false) return 0;
  const attempts = given(policy, 'maxAttempts');
  if (attempts !== undefined) return Number(attempts) - 1;
  const max = given(policy, 'maxRetries');
  if (max !== undefined) return Number(max);
  return undefined;
}

function targetOf(type: string, config: Mapping): string {
  if (type === 'http') {
    const address = text(config.url).replace(/^https?:\/\//i, '');
    return `${text(config.method).toUpperCase() || 'GET'} ${address}`.trim();
  }
  if (type === 'external_task') return text(given(config, 'taskType'));
  return text(config.task);
}

export function stepsOf(definition: unknown): GraphStep[] {
  const workflow = mapping(definition);
  const steps = (Array.isArray(workflow.steps) ? workflow.steps : [])
    .map(mapping)
    .filter((step) => text(step.id) !== '');
  const undoes = new Map<string, string>();
  for (const step of steps)
    if (step.compensate !== undefined && step.compensate !== null)
      undoes.set(text(step.compensate), text(step.id));
  const explicit = steps.some((step) => step.needs !== undefined);
  const known = new Set(steps.map((step) => text(step.id)));
  let before: string | undefined;
  return steps.map((step) => {
    const id = text(step.id);
    const type = text(step.type).toLowerCase();
    const config = mapping(step.config);
    const undone = undoes.get(id);
    let needs: string[] = [];
    if (undone === undefined) {
      if (explicit) needs = names(step.needs).filter((name) => known.has(name) && name !== id);
      else if (before !== undefined) needs = [before];
      before = id;
    }
    const attempts = type === 'external_task' ? Number(config.retries ?? 3) - 1 : undefined;
    return {
      id,
      type,
      target: targetOf(type, config),
      needs,
      retries: attempts ?? retriesOf(step.retry) ?? retriesOf(workflow.retry) ?? DEFAULT_RETRIES,
      conditional: step.when !== undefined && step.when !== true,
      callback: step.callback !== undefined,
      undoes: undone,
      definition: step,
    };
  });
}
