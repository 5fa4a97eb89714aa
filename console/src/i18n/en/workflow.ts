export const workflow = {} as const;
