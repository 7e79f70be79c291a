/** What makes an element look like a button. */
export type Tone = 'plain' | 'primary' | 'quiet' | 'danger';

export function classOf(tone: Tone, small: boolean): string {
  return `button${tone === 'plain' ? '' : ` ${tone}`}${small ? ' small' : ''}`;
}
