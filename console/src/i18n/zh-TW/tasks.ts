import type { tasks as source } from '../en/tasks';
import type { Translation } from '../messages';

export const tasks = {} satisfies Translation<typeof source>;
