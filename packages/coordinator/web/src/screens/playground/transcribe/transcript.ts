/** A transcript, and its pieces with times. */

export interface Transcript {
  readonly text: string;
  readonly language: string | null;
  readonly seconds: number | null;
  /** In order; empty if the model gives no timestamps. */
  readonly pieces: readonly Piece[];
}

/** A word; a sentence if the answer has no words. */
export interface Piece {
  readonly text: string;
  /** Seconds from the beginning. */
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

/** Index of the piece that is being played; null between pieces. */
export function pieceAt(pieces: readonly Piece[], seconds: number): number | null {
  const index = pieces.findIndex(({ start, end }) => seconds >= start && seconds < end);
  return index < 0 ? null : index;
}

/** `1:05` */
export function clock(seconds: number): string {
  const whole = Math.floor(seconds);
  return `${Math.floor(whole / 60)}:${String(whole % 60).padStart(2, '0')}`;
}
