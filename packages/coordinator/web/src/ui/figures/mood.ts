/** The meaning of a badge's colour, beside its word. */
export type Mood = 'plain' | 'good' | 'warn' | 'bad' | 'accent';
