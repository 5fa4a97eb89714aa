import type { workflows as source } from '../en/workflows';
import type { Translation } from '../messages';

export const workflows = {} satisfies Translation<typeof source>;
