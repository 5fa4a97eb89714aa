/** Actions of the page that is open, offered in the palette: a page registers its own. */
import { useEffect, useRef } from 'react';

export interface PageAction {
  label: string;
  run: () => void;
}

const registered = new Set<{ current: PageAction[] }>();

export function pageActions(): PageAction[] {
  return [...registered].flatMap((group) => group.current);
}

export function usePageActions(actions: PageAction[]) {
  const group = useRef(actions);
  group.current = actions;
  useEffect(() => {
    registered.add(group);
    return () => {
      registered.delete(group);
    };
  }, []);
}
