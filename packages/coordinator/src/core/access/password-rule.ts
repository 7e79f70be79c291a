/** Fewer are guessed; more are no safer, and each check would have to read them. */
export const PASSWORD_CHARACTERS = { least: 12, most: 1_024 } as const;
