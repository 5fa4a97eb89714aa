import type { workflow as source } from '../en/workflow';
import type { Translation } from '../messages';

export const workflow = {} satisfies Translation<typeof source>;
