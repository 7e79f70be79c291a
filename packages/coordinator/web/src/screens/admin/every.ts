/**
 * How often the lists of Admin are requested. Hints do not help here: admins get hints only about
 * what is their own.
 */
export const LISTS = { everyMs: 2_000 } as const;
