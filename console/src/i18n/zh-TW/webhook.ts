import type { webhook as source } from '../en/webhook';
import type { Translation } from '../messages';

export const webhook = {} satisfies Translation<typeof source>;
