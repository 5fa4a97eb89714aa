import type { triggers as source } from '../en/triggers';
import type { Translation } from '../messages';

export const triggers = {} satisfies Translation<typeof source>;
