/**
 * Names that people give to members, keys and providers. References are written `OWNER/NAME`, and
 * members can also be named by e-mail address, so a name contains neither `/` nor `@`. A control
 * character would break every list.
 */
export const NAME_PATTERN = /^(?!\s)[^/@\p{C}]{1,64}(?<!\s)$/u;

export const NAME_RULE =
  "a name has 1 to 64 characters, no '/', no '@', no control or invisible character, " +
  'and no white space around it';

/**
 * Shorter ones are easy to guess; longer ones are no safer, and each check would have to read them.
 */
export const PASSWORD_CHARACTERS = { least: 12, most: 1_024 } as const;
