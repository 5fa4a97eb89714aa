import type { workers as source } from '../en/workers';
import type { Translation } from '../messages';

export const workers = {} satisfies Translation<typeof source>;
