import type { nodes as source } from '../en/nodes';
import type { Translation } from '../messages';

export const nodes = {} satisfies Translation<typeof source>;
