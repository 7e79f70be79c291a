/** How often it changes at most. */
const INTERVAL_MS = 200;
const CLEAR_LINE = '\r\u001B[K';

interface ProgressLine {
  show(text: string): void;
  clear(): void;
}

/** A line on stderr that is written over and over; nothing where that is no terminal. */
export function progressLine(): ProgressLine {
  let shownAt = -INTERVAL_MS;
  return {
    show: (text) => {
      if (!process.stderr.isTTY || performance.now() - shownAt < INTERVAL_MS) return;
      shownAt = performance.now();
      process.stderr.write(`${CLEAR_LINE}${text}`);
    },
    clear: () => {
      if (process.stderr.isTTY && shownAt >= 0) process.stderr.write(CLEAR_LINE);
    },
  };
}
