export const webhook = {} as const;
