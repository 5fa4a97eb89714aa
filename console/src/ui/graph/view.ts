/** The window on a graph: how far it is moved and how large it is drawn. */
import { type RefObject, useCallback, useEffect, useRef, useState } from 'react';

export interface View {
  x: number;
  y: number;
  scale: number;
}

const SMALLEST = 0.15;
const LARGEST = 2;
/** Fitting makes nothing smaller than what can still be read; the rest is reached by moving. */
const READABLE = 0.55;
const MARGIN = 20;

const within = (scale: number) => Math.min(LARGEST, Math.max(SMALLEST, scale));

interface Size {
  width: number;
  height: number;
}
interface Content extends Size {
  /** Where reading begins: what is shown when not everything can be. */
  start?: { x: number; y: number };
}

/** The view that shows everything, or as much as stays readable, from the beginning on. */
export function fitted(content: Content, frame: Size, least = READABLE): View {
  const room = { width: frame.width - 2 * MARGIN, height: frame.height - 2 * MARGIN };
  const wanted = Math.min(1, room.width / content.width, room.height / content.height);
  const scale = Math.max(least, Number.isFinite(wanted) ? wanted : 1);
  const place = (size: number, available: number, start = 0) => {
    const over = size * scale - available;
    if (over <= 0) return MARGIN - over / 2;
    // The start in the middle, but no emptiness at either end.
    return MARGIN - Math.min(over, Math.max(0, start * scale - available / 2));
  };
  return {
    scale,
    x: place(content.width, room.width, content.start?.x),
    y: place(content.height, room.height, content.start?.y),
  };
}

/** Draws larger or smaller while the point stays where it is. */
export function zoomed(view: View, factor: number, at: { x: number; y: number }): View {
  const scale = within(view.scale * factor);
  const ratio = scale / view.scale;
  return { scale, x: at.x - (at.x - view.x) * ratio, y: at.y - (at.y - view.y) * ratio };
}

export function useView(
  frame: RefObject<HTMLDivElement | null>,
  content: Size,
  start: { x: number; y: number } | undefined,
) {
  const [view, setView] = useState<View>({ x: MARGIN, y: MARGIN, scale: 1 });
  const moved = useRef(false);
  const size = useCallback(() => {
    const box = frame.current?.getBoundingClientRect();
    return { width: box?.width ?? 600, height: box?.height ?? 320 };
  }, [frame]);
  const { width, height } = content;
  const x = start?.x ?? 0;
  const y = start?.y ?? 0;
  const showAll = useCallback(
    (least?: number) => {
      moved.current = false;
      setView(fitted({ width, height, start: { x, y } }, size(), least));
    },
    [width, height, x, y, size],
  );

  useEffect(() => {
    const element = frame.current;
    if (!element) return;
    if (!moved.current) showAll();
    const resized = new ResizeObserver(() => {
      if (!moved.current) showAll();
    });
    resized.observe(element);
    const wheel = (event: WheelEvent) => {
      if (!event.ctrlKey && !event.metaKey) return;
      event.preventDefault();
      moved.current = true;
      const box = element.getBoundingClientRect();
      const at = { x: event.clientX - box.left, y: event.clientY - box.top };
      setView((before) => zoomed(before, Math.exp(-event.deltaY / 300), at));
    };
    // React listens passively, which cannot keep the page from zooming.
    element.addEventListener('wheel', wheel, { passive: false });
    return () => {
      resized.disconnect();
      element.removeEventListener('wheel', wheel);
    };
  }, [frame, showAll]);

  const zoom = (factor: number) => {
    const { width: w, height: h } = size();
    moved.current = true;
    setView((before) => zoomed(before, factor, { x: w / 2, y: h / 2 }));
  };
  const move = (dx: number, dy: number) => {
    moved.current = true;
    setView((before) => ({ ...before, x: before.x + dx, y: before.y + dy }));
  };
  /** Moves as little as needed so that a part is seen. */
  const reveal = (part: { x: number; y: number; width: number; height: number }) => {
    const { width: w, height: h } = size();
    setView((before) => {
      const left = part.x * before.scale + before.x;
      const top = part.y * before.scale + before.y;
      const right = left + part.width * before.scale;
      const bottom = top + part.height * before.scale;
      const dx = left < MARGIN ? MARGIN - left : Math.min(0, w - MARGIN - right);
      const dy = top < MARGIN ? MARGIN - top : Math.min(0, h - MARGIN - bottom);
      return dx || dy ? { ...before, x: before.x + dx, y: before.y + dy } : before;
    });
  };
  return { view, showAll, zoom, move, reveal };
}
