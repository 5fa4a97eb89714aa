/** Keyboard shortcuts: parts of the page register theirs; the help shows what is registered. */
import { useEffect, useRef } from 'react';
import { settings } from '@/settings/settings';

export interface Shortcut {
  /** `e`, `?`, `Shift+c`, `g o`, `mod+k` (⌘ or Ctrl), `Escape`. */
  keys: string;
  label: string;
  run: (event: KeyboardEvent) => void;
  /** Also while a field has the focus. */
  inFields?: boolean;
}

const registered = new Set<{ current: Shortcut[] }>();
/** A first key (`g`) waits this long for its second. */
const SEQUENCE_MS = 900;
let first: { key: string; at: number } | undefined;

export function allShortcuts(): Shortcut[] {
  const seen = new Map<string, Shortcut>();
  for (const group of registered)
    for (const shortcut of group.current)
      if (!seen.has(shortcut.keys)) seen.set(shortcut.keys, shortcut);
  return [...seen.values()];
}

function isField(target: EventTarget | null): boolean {
  return (
    target instanceof HTMLElement &&
    (target.isContentEditable || /^(INPUT|TEXTAREA|SELECT)$/.test(target.tagName))
  );
}

function nameOf(event: KeyboardEvent): string {
  const mod = event.metaKey || event.ctrlKey ? 'mod+' : '';
  const shift =
    event.shiftKey && event.key.length === 1 && /[a-z]/i.test(event.key) ? 'Shift+' : '';
  const key = event.key.length === 1 ? event.key.toLowerCase() : event.key;
  return mod + shift + key;
}

function dialogIsOpen(): boolean {
  return document.querySelector('[role="dialog"][aria-modal="true"]') !== null;
}

function onKeyDown(event: KeyboardEvent) {
  if (event.defaultPrevented || event.altKey || event.isComposing) return;
  const name = nameOf(event);
  const field = isField(event.target);
  const plain = !name.startsWith('mod+');
  if (plain && (!settings().shortcuts || (dialogIsOpen() && !field))) return;
  const sequence =
    first && event.timeStamp - first.at < SEQUENCE_MS ? `${first.key} ${name}` : undefined;
  first = undefined;
  const candidates = [...registered].reverse().flatMap((group) => group.current);
  for (const wanted of sequence ? [sequence, name] : [name]) {
    const hit = candidates.find((each) => each.keys === wanted && (!field || each.inFields));
    if (hit) {
      event.preventDefault();
      hit.run(event);
      return;
    }
  }
  if (!field && candidates.some((each) => each.keys.startsWith(`${name} `)))
    first = { key: name, at: event.timeStamp };
}

/** Registers shortcuts while the part is on the page. */
export function useShortcuts(shortcuts: Shortcut[]) {
  const group = useRef(shortcuts);
  group.current = shortcuts;
  useEffect(() => {
    if (registered.size === 0) document.addEventListener('keydown', onKeyDown);
    registered.add(group);
    return () => {
      registered.delete(group);
      if (registered.size === 0) document.removeEventListener('keydown', onKeyDown);
    };
  }, []);
}
