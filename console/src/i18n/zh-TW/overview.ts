import type { overview as source } from '../en/overview';
import type { Translation } from '../messages';

export const overview = {} satisfies Translation<typeof source>;
