/** What was heard, and the pieces of it that can be jumped to. */

export interface Transcript {
  readonly text: string;
  readonly language: string | null;
  readonly seconds: number | null;
  /** In order; none where the model does not tell when it heard what. */
  readonly pieces: readonly Piece[];
}

/** A word, or where there are no words a sentence. */
export interface Piece {
  readonly text: string;
  /** In seconds. */
  readonly start: number;
  readonly end: number;
}

interface TranscriptionAnswer {
  readonly text: string;
  readonly language?: string;
  readonly duration?: number;
  readonly words?: readonly {
    readonly word: string;
    readonly start: number;
    readonly end: number;
  }[];
  readonly segments?: readonly {
    readonly text: string;
    readonly start: number;
    readonly end: number;
  }[];
}

export function readTranscript(answer: TranscriptionAnswer): Transcript {
  const { text, language = null, duration = null, words = [], segments = [] } = answer;
  const pieces =
    words.length > 0 ? words.map(({ word, start, end }) => ({ text: word, start, end })) : segments;
  return {
    text: text.trim(),
    language,
    seconds: duration,
    pieces: pieces.map((piece) => ({ ...piece, text: piece.text.trim() })).filter(isSaid),
  };
}

function isSaid({ text }: Piece): boolean {
  return text !== '';
}

/** The one that is being heard, by its place; null between them. */
export function pieceAt(pieces: readonly Piece[], seconds: number): number | null {
  const index = pieces.findIndex(({ start, end }) => seconds >= start && seconds < end);
  return index < 0 ? null : index;
}

/** `1:05` */
export function clock(seconds: number): string {
  const whole = Math.floor(seconds);
  return `${Math.floor(whole / 60)}:${String(whole % 60).padStart(2, '0')}`;
}
