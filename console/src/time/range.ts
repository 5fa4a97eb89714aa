/** Times in URLs: relative (`-7d`) or absolute (ISO). Relative ones stay relative until they are asked of the server. */

const UNITS: Record<string, number> = { m: 60_000, h: 3_600_000, d: 86_400_000, w: 604_800_000 };

/** `-15m` in milliseconds; nothing for what is not relative. */
export function relativeMs(text: string): number | undefined {
  const found = /^-(\d{1,5})([mhdw])$/.exec(text);
  return found ? -Number(found[1]) * UNITS[found[2]!]! : undefined;
}

export function isTimeText(text: string): boolean {
  return relativeMs(text) !== undefined || !Number.isNaN(Date.parse(text));
}

/** The instant in ISO form, which the server understands. */
export function absoluteTime(text: string | undefined, now: number): string | undefined {
  if (!text) return undefined;
  const relative = relativeMs(text);
  if (relative !== undefined) return new Date(now + relative).toISOString();
  const at = Date.parse(text);
  return Number.isNaN(at) ? undefined : new Date(at).toISOString();
}
