/** What every tab of a workflow is given. */
import type { Workflow } from '@/api/queries/workflows';
import type { WorkflowSearch } from './route';

export interface TabProps {
  id: string;
  workflow: Workflow;
  search: WorkflowSearch;
}

/** The name under which the unsaved definition of a workflow is kept. */
export const draftName = (id: string) => `workflow.${id}`;
