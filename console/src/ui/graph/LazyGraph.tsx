/** The graph, loaded when it is first shown; its frame keeps the height meanwhile. */
import { lazy, Suspense } from 'react';
import { Skeleton } from '../state/Skeleton';
import type { WorkflowGraphProps } from './WorkflowGraph';

const WorkflowGraph = lazy(() =>
  import('./WorkflowGraph').then((part) => ({ default: part.WorkflowGraph })),
);

export function LazyGraph(props: WorkflowGraphProps) {
  return (
    <Suspense fallback={<Skeleton rows={6} />}>
      <WorkflowGraph {...props} />
    </Suspense>
  );
}
