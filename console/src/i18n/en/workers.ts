export const workers = {} as const;
