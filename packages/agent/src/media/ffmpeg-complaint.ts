/** Whose matter it is that ffmpeg failed: the sound's, or the machine's that it runs on. */
import { INPUT, OUTPUT } from './audio-converter.js';

export interface Complaint {
  /** Only an `input` is its sender's matter; another machine may do what this one could not. */
  readonly about: 'input' | 'machine';
  /** One line, without its full stop and without paths of this machine. */
  readonly text: string;
}

/**
 * Complaints of the machine are looked for first: a damaged sound is often complained of on the
 * way, too. What is neither is the machine's, so that nobody is refused for what is not theirs.
 */
export function readComplaint(told: string, code: number): Complaint {
  const lines = told.trim().split('\n').toReversed();
  const ofMachine = lines.find((line) => OF_MACHINE.test(line));
  const ofInput = lines.find((line) => OF_INPUT.test(line));
  if (ofMachine === undefined && ofInput !== undefined) {
    return { about: 'input', text: tidy(ofInput) };
  }
  return { about: 'machine', text: tidy(ofMachine ?? lines[0] ?? '') || `exit code ${code}` };
}

/** What ffmpeg 4 to 7 say of a disk, of memory, of rights and of what their build lacks. */
const OF_MACHINE = new RegExp(
  'no space left|quota exceeded|file too large|read-only file system|too many open files' +
    '|permission denied|operation not permitted|no such file|cannot allocate|out of memory' +
    '|unknown (?:en|de)coder|(?:en|de)coder .*not found|unrecognized option|unknown input format' +
    `|error writing|error muxing|could not write|write_frame|write_trailer|file:${OUTPUT}`,
  'i',
);
const OF_INPUT = new RegExp(`file:${INPUT}|matches no streams|invalid data found|decod`, 'i');

const MAX_LINE_CHARACTERS = 300;
/** Of the part that speaks: `[mov @ 0x55f] moov atom not found`. */
const ADDRESS = /^\[[^\]]* @ 0x[^\]]*\]\s*/;
const ABSOLUTE_PATH = /(?<![\w.])(?:[a-z]:)?[/\\][^\s:'"]+/gi;

function tidy(line: string): string {
  const short = line.trim().slice(0, MAX_LINE_CHARACTERS);
  return short.replace(ADDRESS, '').replace(ABSOLUTE_PATH, '(a path)').replace(/\.+$/, '');
}
