import { describe, expect, it } from 'vitest';
import { layOut } from './layout';
import { stepsOf } from './steps';
import { fitted, zoomed } from './view';
import { neighbour } from './walk';

const TRIP = {
  retry: { max_retries: 1 },
  steps: [
    {
      id: 'hotel',
      type: 'http',
      compensate: 'cancel',
      config: { method: 'post', url: 'https://t.example/h' },
    },
    {
      id: 'flight',
      type: 'HTTP',
      retry: false,
      when: '${input.fly}',
      config: { url: 'http://t.example/f' },
    },
    { id: 'cancel', type: 'http', config: { url: 'https://t.example/c' } },
    { id: 'work', type: 'external_task', config: { taskType: 'x.y', retries: 4 } },
  ],
};

describe('steps of a definition', () => {
  it('are in order where none has needs; a compensation stands aside', () => {
    const steps = stepsOf(TRIP);
    expect(steps.map((step) => [step.id, step.needs])).toEqual([
      ['hotel', []],
      ['flight', ['hotel']],
      ['cancel', []],
      ['work', ['flight']],
    ]);
    expect(steps[0]).toMatchObject({ target: 'POST t.example/h', retries: 1, conditional: false });
    expect(steps[1]).toMatchObject({
      type: 'http',
      target: 'GET t.example/f',
      retries: 0,
      conditional: true,
    });
    expect(steps[2]!.undoes).toBe('hotel');
    expect(steps[3]).toMatchObject({ target: 'x.y', retries: 3 });
  });
  it('follow needs where any has them, and survive nonsense', () => {
    const steps = stepsOf({
      steps: [{ id: 'a' }, { id: 'b', needs: 'a' }, { id: 'c', needs: ['a', 'nope'] }, 7],
    });
    expect(steps.map((step) => step.needs)).toEqual([[], ['a'], ['a']]);
    expect(stepsOf(null)).toEqual([]);
    expect(stepsOf({ steps: 'x' })).toEqual([]);
  });
});

describe('the layout', () => {
  const layout = layOut(stepsOf(TRIP), 'LR');
  it('puts steps one after the other and a compensation below its step', () => {
    const [hotel, flight, cancel] = ['hotel', 'flight', 'cancel'].map(
      (id) => layout.nodes.get(id)!,
    );
    expect(flight!.x).toBeGreaterThan(hotel!.x + hotel!.width);
    expect(cancel!.y).toBeGreaterThan(hotel!.y + hotel!.height);
    expect(cancel!.x).toBe(hotel!.x);
    expect(layout.edges.filter((edge) => edge.undo)).toHaveLength(1);
  });
  it('can be walked by keys', () => {
    expect(neighbour(layout, 'LR', 'hotel', 'ArrowRight')).toBe('flight');
    expect(neighbour(layout, 'LR', 'flight', 'ArrowLeft')).toBe('hotel');
    expect(neighbour(layout, 'LR', 'hotel', 'ArrowDown')).toBe('cancel');
    expect(neighbour(layout, 'LR', 'cancel', 'ArrowUp')).toBe('hotel');
    expect(neighbour(layout, 'LR', 'hotel', 'ArrowLeft')).toBeUndefined();
  });
});

describe('the view', () => {
  it('shows all that stays readable', () => {
    expect(fitted({ width: 100, height: 50 }, { width: 540, height: 290 })).toEqual({
      scale: 1,
      x: 220,
      y: 120,
    });
    expect(fitted({ width: 99999, height: 50 }, { width: 540, height: 290 }).scale).toBe(0.55);
  });
  it('keeps the point under the pointer', () => {
    const at = { x: 100, y: 60 };
    const before = { x: 10, y: 20, scale: 1 };
    const after = zoomed(before, 2, at);
    expect((at.x - after.x) / after.scale).toBeCloseTo((at.x - before.x) / before.scale);
  });
});
