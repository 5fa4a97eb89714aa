/** What the palette offers for a text. */
import type { Found } from '@/api/queries/search';
import { t, word } from '@/i18n/t';
import { NAV } from '../shell/nav';
import { pageActions } from './actions';

export interface Choice {
  key: string;
  kind: string;
  label: string;
  status?: string;
  hint?: string;
  run: () => void;
}

/** Where ids lead, by their beginning, before the server was asked. */
const ID_PAGES: [RegExp, (id: string) => string][] = [
  [/^exec_\w+$/, (id) => `/executions/${id}`],
  [/^dlq_\w+$/, (id) => `/dlq/${id}`],
  [/^trg_\w+$/, (id) => `/triggers/${id}`],
  [/^task_\w+$/, (id) => `/scheduled/${id}`],
];

export function pageOfId(text: string): string | undefined {
  return ID_PAGES.find(([form]) => form.test(text))?.[1](text);
}

export function choices(text: string, found: Found[], go: (path: string) => void): Choice[] {
  const wanted = text.toLowerCase();
  const fits = (label: string) => label.toLowerCase().includes(wanted);
  const list: Choice[] = [];
  const direct = pageOfId(text);
  if (direct) list.push({ key: 'id', kind: t('palette.open'), label: text, run: () => go(direct) });
  for (const action of pageActions())
    if (fits(action.label))
      list.push({
        key: `action ${action.label}`,
        kind: t('palette.action'),
        label: action.label,
        run: action.run,
      });
  for (const item of found)
    if (item.path !== direct)
      list.push({
        key: `${item.kind} ${item.id}`,
        kind: word('palette.kind', item.kind),
        label: item.title || item.id,
        status: item.status ?? undefined,
        run: () => go(item.path),
      });
  for (const item of NAV.flatMap((section) => section.items))
    if (fits(t(item.label)))
      list.push({
        key: item.to,
        kind: t('palette.page'),
        label: t(item.label),
        hint: `g ${item.go}`,
        run: () => go(item.to),
      });
  return list;
}
