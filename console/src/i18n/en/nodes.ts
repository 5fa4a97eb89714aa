export const nodes = {} as const;
