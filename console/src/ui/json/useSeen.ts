/** Whether an element was ever in sight: what is costly to draw waits for that. */
import { useCallback, useState } from 'react';

/** How far below what can be seen is drawn already. */
const MARGIN = '400px';

export function useSeen(): [ref: (element: Element | null) => void, seen: boolean] {
  const [seen, setSeen] = useState(typeof IntersectionObserver === 'undefined');
  const ref = useCallback((element: Element | null) => {
    if (!element || typeof IntersectionObserver === 'undefined') return;
    const observer = new IntersectionObserver(
      (entries) => {
        if (!entries.some((entry) => entry.isIntersecting)) return;
        setSeen(true);
        observer.disconnect();
      },
      { rootMargin: MARGIN },
    );
    observer.observe(element);
    return () => observer.disconnect();
  }, []);
  return [ref, seen];
}
