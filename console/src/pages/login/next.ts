/** Where the login leads. */

/** Only paths of this console; anything else would lead strangers' links through the login. */
export function safeNext(next: string | undefined, base: string): string {
  if (!next?.startsWith('/') || next.startsWith('//') || next.includes('\\')) return '/';
  // Readers of addresses drop these, so that what follows may be a host.
  if ([...next].some((letter) => letter < ' ')) return '/';
  const inside = base !== '/' && next.startsWith(base) ? `/${next.slice(base.length)}` : next;
  return /^\/login(?:[/?#]|$)/.test(inside) ? '/' : inside;
}
