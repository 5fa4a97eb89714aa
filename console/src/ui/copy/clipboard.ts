/** Copying, also on plain HTTP, where browsers hide the clipboard. */
export async function copyToClipboard(text: string): Promise<boolean> {
  if (navigator.clipboard && window.isSecureContext) {
    try {
      await navigator.clipboard.writeText(text);
      return true;
    } catch {
      // Refused by the browser: the old way is tried.
    }
  }
  const area = document.createElement('textarea');
  area.value = text;
  area.className = 'hidden-text';
  const host = document.activeElement?.closest('[role="dialog"]') ?? document.body;
  const focused = document.activeElement;
  host.append(area);
  area.select();
  const done = document.execCommand('copy');
  area.remove();
  if (focused instanceof HTMLElement) focused.focus();
  return done;
}
