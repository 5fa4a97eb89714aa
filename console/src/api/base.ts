/** Where the console lives: the path of `<base>`, which has a part of its own behind a proxy's sub-path. */

/** `/` or `/sub/path/`. */
export const basePath = new URL('.', document.baseURI).pathname;

/** Without the slash at the end: what paths of the API are put after. */
export const apiBase = new URL('.', document.baseURI).href.replace(/\/$/, '');

/** The full address of a path of this server, for copying. */
export function addressOf(path: string): string {
  return apiBase + path;
}
