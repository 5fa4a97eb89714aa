/** URL search as plain text: `?status=dlq,retrying&from=-7d`. Every value is a string; pages give them types. */

export type Search = Record<string, string>;

export function parseSearch(text: string): Search {
  const search: Search = {};
  for (const [name, value] of new URLSearchParams(text)) {
    if (value === '') continue;
    search[name] = name in search ? `${search[name]},${value}` : value;
  }
  return search;
}

/** Signs that need no escape in a query are left readable. */
const READABLE: Record<string, string> = {
  '%2C': ',',
  '%3A': ':',
  '%2F': '/',
  '%40': '@',
  '%24': '$',
  '%5B': '[',
  '%5D': ']',
};

export function stringifySearch(search: Record<string, unknown>): string {
  const parts: string[] = [];
  for (const [name, value] of Object.entries(search)) {
    if (value === undefined || value === null || value === '' || value === false) continue;
    const text = encodeURIComponent(String(value)).replace(
      /%(?:2C|3A|2F|40|24|5B|5D)/g,
      (code) => READABLE[code]!,
    );
    parts.push(`${encodeURIComponent(name)}=${text}`);
  }
  return parts.length ? `?${parts.join('&')}` : '';
}

/** Takes the named texts out of a search; what is not named is dropped. */
export function pick<Name extends string>(
  search: Record<string, unknown>,
  names: readonly Name[],
): Partial<Record<Name, string>> {
  const picked: Partial<Record<Name, string>> = {};
  for (const name of names) {
    const value = search[name];
    if (value !== undefined && value !== null && value !== '') picked[name] = String(value);
  }
  return picked;
}

/** A path of the console with its search, as the router wants it. */
export function placeOf(path: string): { to: string; search: Record<string, string> } {
  const [to = '/', search = ''] = path.split('?');
  return { to, search: parseSearch(search) };
}
