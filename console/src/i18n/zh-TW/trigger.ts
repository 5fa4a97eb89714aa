import type { trigger as source } from '../en/trigger';
import type { Translation } from '../messages';

export const trigger = {} satisfies Translation<typeof source>;
