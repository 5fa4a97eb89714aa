/** Short names for the API's types. */
import type { components } from './schema.gen';

type Schemas = components['schemas'];
export type Schema<Name extends keyof Schemas> = Schemas[Name];

export type Execution = Schemas['Execution'];
export type ExecutionStatus = Schemas['ExecutionStatus'];
export type Step = Schemas['Step'];
export type Event = Schemas['Event'];
export type ErrorInfo = Schemas['ErrorInfo'];

/** A page of a list; `searched_to` says how far a search without index looked. */
export interface Page<Row> {
  items: Row[];
  next_cursor?: string | null;
  searched_to?: string | null;
}
