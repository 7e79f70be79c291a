/** Converts transcriptions of OpenAI-compatible servers into one clean document. */
import { LocalFailure } from '../backends/backend.js';
import type { DocumentAnswer } from '../backends/backend.js';
import { errorInSuccess, readReportedError } from './error-document.js';
import { asObject, asObjects, asText, parseJson } from './json.js';
import type { JsonObject } from './json.js';

/** Some servers always answer plain text. Throws a `LocalFailure` for an HTML page. */
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

// Times of a transcript, in seconds.
interface TimeSpan {
  readonly start: number;
  readonly end: number;
}

/**
 * Not after `limit`, the end of the audio: whisper's last segment may end long after it (30.0 was
 * seen for 3.56 seconds).
 */
export function readSpan(timed: JsonObject, limit: number): TimeSpan {
  const start = Math.min(readSeconds(timed['start']) ?? 0, limit);
  const end = Math.min(readSeconds(timed['end']) ?? start, limit);
  return { start, end: Math.max(start, end) };
}

/** Null if it is not a time. */
export function readSeconds(value: unknown): number | null {
  return typeof value === 'number' && value >= 0 && Number.isFinite(value) ? value : null;
}

// Converts whisper's English names of languages into the ISO 639 codes of OpenAI's API.

/** Null if whisper does not know the language; a code stays unchanged. */
export function languageCode(language: string): string | null {
  const known = language.trim().toLowerCase().replaceAll(' ', '-');
  return CODES.get(known) ?? (KNOWN.has(known) ? known : null);
}

/** whisper's own list, with spaces as hyphens; a code may have several names. */
const LANGUAGES = `
  af:afrikaans am:amharic ar:arabic as:assamese az:azerbaijani ba:bashkir be:belarusian bg:bulgarian
  bn:bengali bo:tibetan br:breton bs:bosnian ca:catalan ca:valencian cs:czech cy:welsh da:danish
  de:german el:greek en:english es:spanish es:castilian et:estonian eu:basque fa:persian fi:finnish
  fo:faroese fr:french gl:galician gu:gujarati ha:hausa haw:hawaiian he:hebrew hi:hindi hr:croatian
  ht:haitian-creole ht:haitian hu:hungarian hy:armenian id:indonesian is:icelandic it:italian
  ja:japanese jw:javanese ka:georgian kk:kazakh km:khmer kn:kannada ko:korean la:latin
  lb:luxembourgish lb:letzeburgesch ln:lingala lo:lao lt:lithuanian lv:latvian mg:malagasy mi:maori
  mk:macedonian ml:malayalam mn:mongolian mr:marathi ms:malay mt:maltese my:myanmar my:burmese
  ne:nepali nl:dutch nl:flemish nn:nynorsk no:norwegian oc:occitan pa:punjabi pa:panjabi pl:polish
  ps:pashto ps:pushto pt:portuguese ro:romanian ro:moldavian ro:moldovan ru:russian sa:sanskrit
  sd:sindhi si:sinhala si:sinhalese sk:slovak sl:slovenian sn:shona so:somali sq:albanian sr:serbian
  su:sundanese sv:swedish sw:swahili ta:tamil te:telugu tg:tajik th:thai tk:turkmen tl:tagalog
  tr:turkish tt:tatar uk:ukrainian ur:urdu uz:uzbek vi:vietnamese yi:yiddish yo:yoruba yue:cantonese
  zh:chinese zh:mandarin
`;

const PAIRS = [...LANGUAGES.matchAll(/(\S+):(\S+)/g)].map(([, code = '', name = '']) => {
  return { code, name };
});

/** By name. */
const CODES: ReadonlyMap<string, string> = new Map(PAIRS.map(({ code, name }) => [name, code]));

const KNOWN: ReadonlySet<string> = new Set(PAIRS.map(({ code }) => code));
