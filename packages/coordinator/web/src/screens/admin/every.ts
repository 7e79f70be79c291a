/**
 * How often the lists of Admin are asked for. Hints are no help: those that an admin gets are about
 * what is their own.
 */
export const LISTS = { everyMs: 2_000 } as const;
