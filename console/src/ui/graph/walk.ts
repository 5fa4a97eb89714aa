/** The arrow keys in a graph: along its lines, and between neighbours. */
import type { Direction, Layout, Placed } from './layout';

const middle = (node: Placed) => ({ x: node.x + node.width / 2, y: node.y + node.height / 2 });

/** The nearest of some nodes. */
function nearest(from: Placed, candidates: Placed[]): Placed | undefined {
  const here = middle(from);
  const distance = (node: Placed) => {
    const there = middle(node);
    return Math.hypot(there.x - here.x, there.y - here.y);
  };
  return candidates.toSorted((a, b) => distance(a) - distance(b))[0];
}

/** The node an arrow key leads to; nothing when there is none that way. */
export function neighbour(
  layout: Layout,
  direction: Direction,
  from: string,
  key: string,
): string | undefined {
  const node = layout.nodes.get(from);
  if (!node) return undefined;
  const [ahead, back] = direction === 'LR' ? ['ArrowRight', 'ArrowLeft'] : ['ArrowDown', 'ArrowUp'];
  if (key === ahead || key === back) {
    const linked = layout.edges
      .filter((edge) => !edge.undo && (key === ahead ? edge.from : edge.to) === from)
      .map((edge) => layout.nodes.get(key === ahead ? edge.to : edge.from)!);
    const next = nearest(node, linked);
    if (next) return next.id;
  }
  const here = middle(node);
  const that = (other: Placed) => {
    const there = middle(other);
    if (key === 'ArrowRight')
      return there.x - here.x > Math.abs(there.y - here.y) / 4 && there.x > here.x;
    if (key === 'ArrowLeft')
      return here.x - there.x > Math.abs(there.y - here.y) / 4 && there.x < here.x;
    if (key === 'ArrowDown') return there.y > here.y && Math.abs(there.x - here.x) < node.width;
    return key === 'ArrowUp' && there.y < here.y && Math.abs(there.x - here.x) < node.width;
  };
  return nearest(
    node,
    [...layout.nodes.values()].filter((other) => other.id !== from && that(other)),
  )?.id;
}
