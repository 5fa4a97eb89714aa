export const retry = {} as const;
