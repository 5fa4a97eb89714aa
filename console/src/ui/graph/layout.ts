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

export function layOut(steps: GraphStep[], direction: Direction): Layout {
  const forward = steps.filter((step) => step.undoes === undefined);
  const undoers = new Map(steps.filter((s) => s.undoes).map((step) => [step.undoes!, step]));
  const known = new Set(forward.map((step) => step.id));
  const graph = new Graph<object, Point & { width: number; height: number }, { points: Point[] }>();
  graph.setGraph({ rankdir: direction, nodesep: 24, ranksep: direction === 'LR' ? 56 : 40 });
  graph.setDefaultEdgeLabel(() => ({ points: [] }));
  const below = UNDO.gap + UNDO.height;
  for (const { id } of forward)
    graph.setNode(id, {
      x: 0,
      y: 0,
      width: NODE.width,
      height: NODE.height + (undoers.has(id) ? below : 0),
    });
  for (const step of forward)
    for (const need of step.needs) if (known.has(need)) graph.setEdge(need, step.id);
  layout(graph);

  const nodes = new Map<string, Placed>();
  const edges: Edge[] = [];
  for (const { id } of forward) {
    const { x, y, width, height } = graph.node(id);
    const place = { id, x: x - width / 2, y: y - height / 2, width, height: NODE.height };
    nodes.set(id, place);
    const undoer = undoers.get(id);
    if (!undoer) continue;
    const top = place.y + NODE.height + UNDO.gap;
    nodes.set(undoer.id, { id: undoer.id, x: place.x, y: top, width, height: UNDO.height });
    const middle = place.x + width / 2;
    const path = `M${middle},${place.y + NODE.height} L${middle},${top}`;
    edges.push({ from: id, to: undoer.id, path, undo: true });
  }
  for (const { v, w } of graph.edges()) {
    const from = nodes.get(v)!;
    const to = nodes.get(w)!;
    const inner = graph.edge(v, w).points.slice(1, -1);
    const ends: [Point, Point] =
      direction === 'LR'
        ? [
            { x: from.x + from.width, y: from.y + NODE.height / 2 },
            { x: to.x, y: to.y + NODE.height / 2 },
          ]
        : [
            { x: from.x + from.width / 2, y: from.y + NODE.height },
            { x: to.x + to.width / 2, y: to.y },
          ];
    // The middle of a single span says nothing that its ends do not.
    const points = inner.length > 1 ? [ends[0], ...inner, ends[1]] : ends;
    edges.push({ from: v, to: w, path: curve(points, direction), undo: false });
  }
  const right = Math.max(0, ...[...nodes.values()].map((node) => node.x + node.width));
  const bottom = Math.max(0, ...[...nodes.values()].map((node) => node.y + node.height));
  return { nodes, edges, width: right, height: bottom };
}
