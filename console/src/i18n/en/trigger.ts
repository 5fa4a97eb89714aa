export const trigger = {} as const;
