import type { retry as source } from '../en/retry';
import type { Translation } from '../messages';

export const retry = {} satisfies Translation<typeof source>;
