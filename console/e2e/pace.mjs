// How quick a page is, by what the browser itself reports: its first paint, and how long each input waited for
// the next one. Other work on the machine slows a browser, so the middle of several is judged; the long form of
// the tests judges all but two of a hundred, as browsers do when they rate a page.
import assert from 'node:assert/strict';

export const FIRST_PAINT_MS = 1_000;
export const INPUT_MS = 100;
export const OPEN_MS = 1_000;
/** Another page or tab. */
export const ROUTE_MS = 200;

const strict = process.env.REFIRE_TEST_LONG === '1';

/** Before the page is loaded: notes every input and every stretch in which the page was busy. */
export function watchPace(page) {
  return page.addInitScript(() => {
    globalThis.__inputs = [];
    globalThis.__busy = [];
    new PerformanceObserver((list) => {
      for (const entry of list.getEntries())
        if (entry.interactionId) globalThis.__inputs.push([entry.interactionId, entry.duration]);
    }).observe({ type: 'event', durationThreshold: 16, buffered: true });
    new PerformanceObserver((list) => {
      for (const entry of list.getEntries()) globalThis.__busy.push(entry.duration);
    }).observe({ type: 'longtask', buffered: true });
  });
}

/** When the page first showed something, since the navigation began. */
export function firstPaint(page) {
  return page.evaluate(
    () =>
      new Promise((resolve) => {
        new PerformanceObserver((list) => {
          const [paint] = list.getEntriesByName('first-contentful-paint');
          if (paint) resolve(paint.startTime);
        }).observe({ type: 'paint', buffered: true });
      }),
  );
}

/**
 * The waits of the inputs since the last call, one of each interaction. Those below 16 ms are not reported by
 * the browser: `made` interactions fill up with that.
 */
export async function inputWaits(page, made) {
  const seen = await page.evaluate(async () => {
    // Entries come with the frame after the input's.
    for (let frame = 0; frame < 3; frame += 1)
      await new Promise((resolve) => requestAnimationFrame(resolve));
    return globalThis.__inputs.splice(0);
  });
  const worst = new Map();
  for (const [id, ms] of seen) worst.set(id, Math.max(ms, worst.get(id) ?? 0));
  const waits = [...worst.values()];
  while (waits.length < made) waits.push(16);
  return waits;
}

/** The longest stretch since the last call in which the page could not react. */
export async function longestBusy(page) {
  return Math.max(0, ...(await page.evaluate(() => globalThis.__busy.splice(0))));
}

const sorted = (values) => values.toSorted((a, b) => a - b);
export const median = (values) => sorted(values)[Math.floor((values.length - 1) / 2)];

/** Prints the figures, and fails when the middle one (in the long form: the slow end) is above the budget. */
export function judge(name, values, budget) {
  const all = sorted(values);
  const slow = all[Math.ceil(all.length * 0.98) - 1];
  const figures = `median ${Math.round(median(all))} ms, 98 % ${Math.round(slow)} ms, worst ${Math.round(all.at(-1))} ms of ${all.length}, budget ${budget} ms`;
  console.log(`# ${name}: ${figures}`);
  assert.ok((strict ? slow : median(all)) <= budget, `${name}: ${figures}`);
}
