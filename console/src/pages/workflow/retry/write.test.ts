import { describe, expect, it } from 'vitest';
import { plainValue, readYaml } from '@/ui/definition/yaml';
import { DEFAULTS, policyOf, type RetryForm, readPolicy } from './policy';
import { writePolicy } from './write';

const STEPS = 'steps:\n  - id: one\n    type: http\n    config: { url: "https://e.com/" }\n';

function written(source: string, change: Partial<RetryForm>): string | undefined {
  const { retry } = plainValue(readYaml(source)) as { retry?: unknown };
  return writePolicy(source, { ...readPolicy(retry), ...change });
}

describe('writing the retry form', () => {
  it('leaves a text alone that already says it', () => {
    const source = `id: a\nretry: { maxRetries: 3 } # three\n${STEPS}`;
    expect(written(source, {})).toBe(source);
  });
  it('adds a block before the steps and the comments above them', () => {
    expect(written(`id: a\n# the steps\n${STEPS}`, { maxRetries: '3', initialDelay: '1s' })).toBe(
      `id: a\nretry:\n  maxRetries: 3\n  initialDelay: 1s\n# the steps\n${STEPS}`,
    );
  });
  it('changes one value in a block and keeps its comments', () => {
    const source = `id: a\nretry:\n  # not more\n  max_retries: 3 # three\n  backoff: linear\n\n${STEPS}`;
    expect(written(source, { maxRetries: '7', strategy: 'fixed', maxDelay: '1m' })).toBe(
      `id: a\nretry:\n  # not more\n  max_retries: 7 # three\n  backoff: fixed\n  maxDelay: 1m\n\n${STEPS}`,
    );
  });
  it('changes and removes in flow style', () => {
    const source = `id: a\nretry: { maxRetries: 3, maxDelay: 1m, jitter: full }\n${STEPS}`;
    expect(written(source, { maxDelay: '', jitter: 'none' })).toBe(
      `id: a\nretry: { maxRetries: 3, jitter: none }\n${STEPS}`,
    );
  });
  it('keeps short forms where they suffice', () => {
    expect(written(`id: a\nretry: 3\n${STEPS}`, { maxRetries: '4' })).toBe(
      `id: a\nretry: 4\n${STEPS}`,
    );
    expect(written(`id: a\n${STEPS}`, { enabled: false })).toBe(`id: a\nretry: false\n${STEPS}`);
    expect(written(`id: a\nretry: false\n${STEPS}`, { enabled: true })).toBe(
      `id: a\nretry: true\n${STEPS}`,
    );
    expect(written(`id: a\nretry: 3\n${STEPS}`, { jitter: 'full' })).toBe(
      `id: a\nretry: { maxRetries: 3, jitter: full }\n${STEPS}`,
    );
  });
  it('turns off a policy and keeps its settings', () => {
    expect(written(`id: a\nretry: { maxRetries: 3 }\n${STEPS}`, { enabled: false })).toBe(
      `id: a\nretry: { maxRetries: 3, enabled: false }\n${STEPS}`,
    );
  });
  it('writes JSON as JSON', () => {
    const source = '{\n  "id": "a",\n  "retry": {\n    "maxRetries": 3\n  },\n  "steps": []\n}\n';
    expect(JSON.parse(written(source, { statuses: ['429', '5xx'], initialDelay: '90' })!)).toEqual({
      id: 'a',
      retry: { maxRetries: 3, initialDelay: '90s', retryOn: { statuses: [429, '5xx'] } },
      steps: [],
    });
  });
  it('writes lists over lists, also over block lists, and old spellings', () => {
    const source = `id: a\nretry:\n  retryOn:\n    statuses:\n      - 429\n      - 503\n    errors: [dns]\n${STEPS}`;
    expect(written(source, { statuses: ['503'] })).toBe(
      `id: a\nretry:\n  retryOn:\n    statuses: [503]\n    errors: [dns]\n${STEPS}`,
    );
    expect(
      written(`id: a\nretry: { retryableErrors: [429] }\n${STEPS}`, { statuses: ['500'] }),
    ).toBe(`id: a\nretry: { retryableErrors: [500] }\n${STEPS}`);
    expect(
      written(`id: a\nretry: { baseDelayMs: 500, maxAttempts: 3 }\n${STEPS}`, {
        maxRetries: '4',
        initialDelay: '1s',
      }),
    ).toBe(`id: a\nretry: { maxAttempts: 5, initialDelay: 1s }\n${STEPS}`);
  });
});

describe('the policy of the form', () => {
  it('is the default without settings', () => {
    expect(readPolicy(undefined)).toEqual(DEFAULTS);
    expect(readPolicy({ retryOn: { statuses: [404] } }).failStatuses).toEqual([
      '400',
      '401',
      '403',
    ]);
  });
  it('reads a number alone as seconds and writes a share of its own', () => {
    const policy = policyOf({ ...DEFAULTS, initialDelay: '3', ratio: '0.5' }) as Record<
      string,
      unknown
    >;
    expect(policy.initialDelay).toBe('3s');
    expect(policy.jitter).toEqual({ type: 'proportional', ratio: 0.5 });
  });
});
