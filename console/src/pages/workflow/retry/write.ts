/** Writes the retry form into a definition's text: only what changed, in the spelling that is there. */
import { findEntry, setAt } from '@/ui/definition/edit';
import { plainValue, readYaml, type YamlMap, type YamlNode } from '@/ui/definition/yaml';
import { changedSettings, policyOf, type RetryForm, readPolicy } from './policy';

function readShort(scalar: YamlNode | null): Record<string, unknown> {
  const value = plainValue(scalar);
  if (value === false) return { enabled: false };
  return typeof value === 'number' ? { maxRetries: value } : {};
}

const OLD_STATUSES = ['retryableErrors', 'retryableErrorCodes'];
const OTHER_NAMES: Record<string, string[]> = {
  strategy: ['backoff', 'backoffStrategy'],
  jitter: ['jitterEnabled'],
  enabled: ['retryEnabled'],
  initialDelay: ['initialDelaySeconds'],
};

function retryMap(source: string): { found: boolean; map?: YamlMap; short?: YamlNode | null } {
  const root = readYaml(source);
  const entry = root?.kind === 'map' ? findEntry(root, 'retry') : undefined;
  if (!entry) return { found: false };
  return entry.value?.kind === 'map'
    ? { found: true, map: entry.value }
    : { found: true, short: entry.value };
}

function setOne(source: string, path: string[], value: unknown): string {
  const { found, map, short } = retryMap(source);
  const [key = '', inner] = path;
  if (key === 'enabled' && !map) {
    if (value === false) return setAt(source, ['retry'], false);
    return found ? setAt(source, ['retry'], true) : source;
  }
  if (key === 'maxRetries' && found && !map && typeof plainValue(short ?? null) !== 'boolean')
    return setAt(source, ['retry'], value);
  if (map) {
    if (key === 'maxRetries' && findEntry(map, 'maxAttempts'))
      return setAt(source, ['retry', 'maxAttempts'], Number(value) + 1);
    if (key === 'initialDelay' && findEntry(map, 'baseDelayMs'))
      return setAt(setAt(source, ['retry', key], value), ['retry', 'baseDelayMs'], undefined);
    const old =
      inner === 'statuses' && key === 'retryOn' && OLD_STATUSES.find((n) => findEntry(map, n));
    if (old) return setAt(source, ['retry', old], value);
    const other = OTHER_NAMES[key]?.find((name) => findEntry(map, name));
    if (other) return setAt(source, ['retry', other], value);
  }
  return setAt(source, ['retry', ...path], value, readShort);
}

/**
 * The text with the form's settings. Nothing if the text is written in a way that the edit cannot
 * follow, which the editor of the definition then has to do.
 */
export function writePolicy(source: string, form: RetryForm): string | undefined {
  const root = readYaml(source);
  if (root?.kind !== 'map') return undefined;
  const before = readPolicy(plainValue(findEntry(root, 'retry')?.value ?? null));
  let text = source;
  for (const [path, value] of changedSettings(before, form)) text = setOne(text, path, value);
  const after = readYaml(text);
  const written = after?.kind === 'map' ? findEntry(after, 'retry')?.value : undefined;
  const read = policyOf(readPolicy(plainValue(written ?? null)));
  return JSON.stringify(read) === JSON.stringify(policyOf(form)) ? text : undefined;
}
