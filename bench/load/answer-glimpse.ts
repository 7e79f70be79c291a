const START_CHARACTERS = 500;

/** The part of an answer's body that shows whether it is complete. */
export class AnswerGlimpse {
  bytes = 0;
  start = '';

  add(piece: Buffer): void {
    this.bytes += piece.length;
    const missing = START_CHARACTERS - this.start.length;
    if (missing > 0) this.start += piece.toString('latin1', 0, missing);
  }
}
