/** Where the nodes of a graph stand. Compensations stand below the step that they undo. */
import { Graph, layout } from '@dagrejs/dagre';
import type { GraphStep } from './steps';

export const NODE = { width: 208, height: 56 };
/** A compensation's node, and the gap above it. */
export const UNDO = { height: 44, gap: 20 };

export interface Placed {
  id: string;
  x: number;
  y: number;
  width: number;
  height: number;
}
export interface Edge {
  from: string;
  to: string;
  path: string;
  undo: boolean;
}
export interface Layout {
  nodes: Map<string, Placed>;
  edges: Edge[];
  width: number;
  height: number;
}
export type Direction = 'LR' | 'TB';

/** Larger graphs are laid out in a quicker way. */
const QUICK_ABOVE = 100;

interface Point {
  x: number;
  y: number;
}

/** A line through points that leaves and arrives in the direction of the graph. */
function curve(points: Point[], direction: Direction): string {
  const [first, ...rest] = points;
  let path = `M${first!.x},${first!.y}`;
  let last = first!;
  for (const point of rest) {
    const mx = (last.x + point.x) / 2;
    const my = (last.y + point.y) / 2;
    path +=
      direction === 'LR'
        ? ` C${mx},${last.y} ${mx},${point.y} ${point.x},${point.y}`
        : ` C${last.x},${my} ${point.x},${my} ${point.x},${point.y}`;
    last = point;
  }
  return path;
}

/** The room that a step takes, with what undoes it: below in a graph to the right, beside in one downwards. */
function roomOf(direction: Direction, withUndo: boolean): { width: number; height: number } {
  if (!withUndo) return NODE;
  return direction === 'LR'
    ? { width: NODE.width, height: NODE.height + UNDO.gap + UNDO.height }
    : { width: 2 * NODE.width + UNDO.gap, height: NODE.height };
}

function placeUndo(step: Placed, id: string, direction: Direction): { place: Placed; edge: Edge } {
  const { x, y, width, height } = step;
  const from = step.id;
  if (direction === 'LR') {
    const top = y + height + UNDO.gap;
    const middle = x + width / 2;
    return {
      place: { id, x, y: top, width, height: UNDO.height },
      edge: { from, to: id, path: `M${middle},${y + height} L${middle},${top}`, undo: true },
    };
  }
  const left = x + width + UNDO.gap;
  const middle = y + height / 2;
  return {
    place: { id, x: left, y: y + (height - UNDO.height) / 2, width, height: UNDO.height },
    edge: { from, to: id, path: `M${x + width},${middle} L${left},${middle}`, undo: true },
  };
}

/** Where a line leaves a step and reaches the next. */
function endsOf(from: Placed, to: Placed, direction: Direction): [Point, Point] {
  return direction === 'LR'
    ? [
        { x: from.x + from.width, y: from.y + from.height / 2 },
        { x: to.x, y: to.y + to.height / 2 },
      ]
    : [
        { x: from.x + from.width / 2, y: from.y + from.height },
        { x: to.x + to.width / 2, y: to.y },
      ];
}

/** Whether the steps come one after the other, without branches. */
function isChain(steps: GraphStep[]): boolean {
  const needed = steps.flatMap((step) => step.needs);
  return steps.every((step) => step.needs.length <= 1) && new Set(needed).size === needed.length;
}

export function layOut(steps: GraphStep[], direction: Direction): Layout {
  const forward = steps.filter((step) => step.undoes === undefined);
  const undoers = new Map(steps.filter((s) => s.undoes).map((step) => [step.undoes!, step]));
  const known = new Set(forward.map((step) => step.id));
  const graph = new Graph<object, Point & { width: number; height: number }, { points: Point[] }>();
  graph.setGraph({
    rankdir: direction,
    nodesep: 24,
    ranksep: direction === 'LR' ? 56 : 40,
    ranker: forward.length > QUICK_ABOVE ? 'longest-path' : 'network-simplex',
  });
  graph.setDefaultEdgeLabel(() => ({ points: [] }));
  // In a chain all take the same room, so that it stays a straight line.
  const chain = isChain(forward);
  const roomFor = (id: string) => roomOf(direction, chain ? undoers.size > 0 : undoers.has(id));
  // Last first: of steps that could change places, the first one then comes first.
  for (const { id } of forward.toReversed()) graph.setNode(id, { x: 0, y: 0, ...roomFor(id) });
  for (const step of forward.toReversed())
    for (const need of step.needs) if (known.has(need)) graph.setEdge(need, step.id);
  layout(graph);

  const nodes = new Map<string, Placed>();
  const edges: Edge[] = [];
  for (const { id } of forward) {
    const { x, y, width, height } = graph.node(id);
    const place: Placed = { id, x: x - width / 2, y: y - height / 2, ...NODE };
    nodes.set(id, place);
    const undoer = undoers.get(id);
    if (!undoer) continue;
    const undo = placeUndo(place, undoer.id, direction);
    nodes.set(undoer.id, undo.place);
    edges.push(undo.edge);
  }
  for (const { v, w } of graph.edges()) {
    const ends = endsOf(nodes.get(v)!, nodes.get(w)!, direction);
    const inner = graph.edge(v, w).points.slice(1, -1);
    // The middle of a single span says nothing that its ends do not.
    const points = inner.length > 1 ? [ends[0], ...inner, ends[1]] : ends;
    edges.push({ from: v, to: w, path: curve(points, direction), undo: false });
  }
  const right = Math.max(0, ...[...nodes.values()].map((node) => node.x + node.width));
  const bottom = Math.max(0, ...[...nodes.values()].map((node) => node.y + node.height));
  return { nodes, edges, width: right, height: bottom };
}
