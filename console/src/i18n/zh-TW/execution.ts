import type { execution as source } from '../en/execution';
import type { Translation } from '../messages';

export const execution = {} satisfies Translation<typeof source>;
