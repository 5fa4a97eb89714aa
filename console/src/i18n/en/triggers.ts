export const triggers = {} as const;
