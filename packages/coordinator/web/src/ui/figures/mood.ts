/** What a badge says by its colour, beside its word. */
export type Mood = 'plain' | 'good' | 'warn' | 'bad' | 'accent';
