/**
 * Names that people give to members, keys and providers. References are read as `OWNER/NAME` and
 * members also by address, so neither `/` nor `@` may be in one; a control character would spoil
 * every list.
 */
export const NAME_PATTERN = /^(?!\s)[^/@\p{C}]{1,64}(?<!\s)$/u;

export const NAME_RULE =
  "a name has 1 to 64 characters, none of them '/' or '@', and no white space around it";

/** Fewer are guessed; more are no safer, and each check would have to read them. */
export const PASSWORD_CHARACTERS = { least: 12, most: 1_024 } as const;
