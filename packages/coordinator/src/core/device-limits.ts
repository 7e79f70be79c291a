/** What keeps a machine's log-in from being guessed, or from filling the database. */

/** In all: 5 tries at 1,000 codes of 20^8 hit one in five million times. */
export const MAX_PENDING_DEVICES = 1_000;
/** Codes that nobody has, typed while a log-in waits: the last of them ends it. */
export const MAX_WRONG_CODES = 5;
