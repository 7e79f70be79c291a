/**
 * What keeps the code of a waiting machine from being guessed, and machines from filling the
 * database. A code is one of 20^8 and lives for 10 minutes. Whoever guesses is locked out, and the
 * machine waits on: no count of wrong codes ends a log-in, or any member could end all of them.
 *
 * 1 account finds one of 10 waiting codes within their 10 minutes with 5 * 10 / 20^8, one in 500
 * million. 100 accounts, each with an address of its own, while 1,000 codes wait:
 * 100 * 5 * 1,000 / 20^8, one in 51,000, and each of the 100 is in the audit log.
 */

/** In all. */
export const MAX_PENDING_DEVICES = 1_000;
/** Of the places that are free, one network has this part: 90 while nobody else waits. */
const NETWORK_PART = 10;

/**
 * Whether one more of a network may wait. The fuller it is, the fewer each network has: a hundred
 * of them take 900 places, and whoever comes then still has nine. Only a thousand fill all.
 */
export function mayWait({ own, all }: { readonly own: number; readonly all: number }): boolean {
  return NETWORK_PART * own < MAX_PENDING_DEVICES - all;
}

/** Of one account, or one user of the command line, until it is locked out. */
export const MAX_WRONG_CODES = 5;
/**
 * From one address, by all who log in there. A multiple of what one account has: no member locks
 * out the rest of a household. Loopback is not counted: it is a proxy that tells no addresses.
 */
export const MAX_WRONG_CODES_AN_ADDRESS = 4 * MAX_WRONG_CODES;
/** From the last wrong code on; after as long without one, all are forgotten. */
export const CODE_LOCK_OUT_MS = 15 * 60_000;
