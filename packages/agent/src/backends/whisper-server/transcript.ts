/** whisper.cpp's `verbose_json` as OpenAI's transcript. */
import { LocalFailure } from '../backend.js';
import type { DocumentAnswer } from '../backend.js';
import { errorInSuccess } from '../../openai-wire/error-document.js';
import { asObject, asObjects, asText, parseJson } from '../../openai-wire/json.js';
import type { JsonObject } from '../../openai-wire/json.js';
import { readReportedError } from '../../openai-wire/reported-error.js';
import { readSeconds, readSpan } from '../../openai-wire/time-span.js';
import { languageCode } from '../../openai-wire/whisper-languages.js';

/**
 * `{text, language?, duration?, segments, words}`, times in seconds. Older servers say what went
 * wrong in a 200. Throws a `LocalFailure` where the answer is no transcript.
 */
export function readTranscript(answer: string): DocumentAnswer {
  const said = asObject(parseJson(answer));
  const error = readReportedError(said);
  if (error !== null) return errorInSuccess(error);
  if (said === null || typeof said['text'] !== 'string') {
    throw new LocalFailure('LOCAL_ERROR', 'the local server answered something without a text.');
  }
  const json = JSON.stringify(transcript(said, said['text']));
  return { kind: 'document', status: 200, json, usage: null };
}

function transcript(said: JsonObject, text: string): JsonObject {
  const duration = readSeconds(said['duration']);
  const name = asText(said['language']) ?? asText(said['detected_language']);
  const language = name === null ? null : languageCode(name);
  const segments = asObjects(said['segments']);
  const limit = duration ?? Infinity;
  const pieces = segments.flatMap((segment) => asObjects(segment['words']));
  const spaced = !UNSPACED.has(language ?? '');
  return {
    text: runningText(text, spaced),
    ...(language !== null && { language }),
    ...(duration !== null && { duration }),
    segments: segments.map((segment, id) => ({
      ...facts(segment, id),
      ...readSpan(segment, limit),
    })),
    words: readWords(pieces, { limit, spaced }),
  };
}

/**
 * It puts each segment on a line of its own, and cuts segments at 60 characters, older versions in
 * the middle of a word. A line begins with a space where a word begins; where no line does, the
 * spaces were trimmed, and words end with the lines.
 */
function runningText(text: string, spaced: boolean): string {
  const lines = text.split(/\r?\n/).filter((line) => line.trim() !== '');
  const isTrimmed = spaced && lines.every((line) => !line.startsWith(' '));
  return lines.join(isTrimmed ? ' ' : '').trim();
}

const FACTS = ['tokens', 'temperature', 'avg_logprob', 'compression_ratio', 'no_speech_prob'];

/** What OpenAI's segments tell beside their times, as far as whisper.cpp does. */
function facts(segment: JsonObject, id: number): JsonObject {
  const told = FACTS.filter((name) => segment[name] !== undefined && segment[name] !== null);
  const kept = Object.fromEntries(told.map((name) => [name, segment[name]]));
  return { id, text: (asText(segment['text']) ?? '').trim(), ...kept };
}

interface Word {
  word: string;
  readonly start: number;
  end: number;
}

/** Languages that write words without spaces between them: here a piece is as near as it gets. */
const UNSPACED: ReadonlySet<string> = new Set(['bo', 'ja', 'km', 'lo', 'my', 'th', 'yue', 'zh']);

interface Reading {
  /** The audio's end. */
  readonly limit: number;
  readonly spaced: boolean;
}

/**
 * What it calls words are tokens: those that do not begin with a space belong to the one before,
 * even across segments, which it cuts at 60 characters.
 */
function readWords(pieces: readonly JsonObject[], { limit, spaced }: Reading): Word[] {
  const words: Word[] = [];
  for (const piece of pieces) {
    const text = asText(piece['word']) ?? '';
    const { start, end } = readSpan(piece, limit);
    const last = words.at(-1);
    if (spaced && last !== undefined && !text.startsWith(' ')) {
      last.word += text.trimEnd();
      last.end = Math.max(last.end, end);
    } else if (text.trim() !== '') words.push({ word: text.trim(), start, end });
  }
  return words;
}
