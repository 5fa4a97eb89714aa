import type { scheduled as source } from '../en/scheduled';
import type { Translation } from '../messages';

export const scheduled = {} satisfies Translation<typeof source>;
