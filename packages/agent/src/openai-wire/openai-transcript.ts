/** What OpenAI-compatible servers answer to a transcription, as one clean document. */
import { LocalFailure } from '../backends/backend.js';
import type { DocumentAnswer } from '../backends/backend.js';
import { errorInSuccess } from './error-document.js';
import { asObject, asObjects, asText, parseJson } from './json.js';
import type { JsonObject } from './json.js';
import { readReportedError } from './reported-error.js';
import { readSeconds, readSpan } from './time-span.js';
import { languageCode } from './whisper-languages.js';

/** Some servers answer plain text whatever was asked. Throws a `LocalFailure` for a page. */
export function readOpenAiTranscript(answer: string): DocumentAnswer {
  const value = parseJson(answer);
  const said = asObject(value);
  if (said === null) return documentOf({ text: plainText(answer, value) });
  const error = typeof said['text'] === 'string' ? null : readReportedError(said);
  if (error !== null) return errorInSuccess(error);
  if (typeof said['text'] !== 'string') {
    throw new LocalFailure('LOCAL_ERROR', 'the local server answered something without a text.');
  }
  return documentOf(transcript(said, said['text']));
}

function documentOf(json: JsonObject): DocumentAnswer {
  return { kind: 'document', status: 200, json: JSON.stringify(json), usage: null };
}

function plainText(answer: string, value: unknown): string {
  if (typeof value === 'string') return value.trim();
  if (!answer.trimStart().startsWith('<')) return answer.trim();
  throw new LocalFailure(
    'LOCAL_ERROR',
    'the local server answered a page instead of a transcript.',
  );
}

function transcript(said: JsonObject, text: string): JsonObject {
  const duration = readSeconds(said['duration']);
  const name = asText(said['language']);
  const language = name === null ? null : (languageCode(name) ?? name);
  const limit = duration ?? Infinity;
  const segments = asObjects(said['segments']);
  const listed = asObjects(said['words']);
  const words = listed.length > 0 ? listed : segments.flatMap(wordsOf);
  return {
    text: text.trim(),
    ...(language !== null && { language }),
    ...(duration !== null && { duration }),
    segments: segments.map((segment) => readSegment(segment, limit)),
    words: words.map((word) => readWord(word, limit)),
  };
}

/** Some servers put the words into their segments. */
function wordsOf(segment: JsonObject): JsonObject[] {
  return asObjects(segment['words']);
}

function readSegment({ words: _words, ...segment }: JsonObject, limit: number): JsonObject {
  return { ...segment, ...readSpan(segment, limit) };
}

function readWord(word: JsonObject, limit: number): JsonObject {
  const text = asText(word['word']) ?? asText(word['text']) ?? '';
  return { word: text.trim(), ...readSpan(word, limit) };
}
