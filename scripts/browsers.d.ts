/** For tests, which are compiled apart from the scripts. */
export function findChromium(): string | null;
export function findFirefox(): string | null;
