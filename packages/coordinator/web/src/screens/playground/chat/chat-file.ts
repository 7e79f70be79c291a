/** Chats as JSON files: what is exported, and what an import accepts. */
import { Fault } from '../../../api/fault.js';
import { formatBytes } from '../../../ui/text/format.js';
import { DEFAULT_SETTINGS, MAX_SYSTEM_CHARACTERS } from './chat-settings.js';
import type { ChatSettings } from './chat-settings.js';
import { NO_PROMPT, newId, shortTitle, startedChat } from './conversation.js';
import type { Answer, Chat, Picture, Prompt, ToolCall, Turn } from './conversation.js';

const FORMAT = 'inference-gateway-chats';
const VERSION = 1;

/** Of a file, for export and import. */
export const MAX_FILE_BYTES = 64 * 1024 * 1024;
/** Chats that a browser keeps, and that a file may have. */
export const MAX_CHATS = 200;
const MAX_TURNS = 2_000;
const MAX_TEXT_CHARACTERS = 2_000_000;
const MAX_NAME_CHARACTERS = 256;
const MAX_PICTURES = 4;
const MAX_TOOL_CALLS = 64;
const PICTURE_URL = /^data:image\/(?:png|jpeg|webp|gif);base64,[A-Za-z0-9+/]*={0,2}$/;

/** Throws a `Fault` if the file would be too large to be imported again. */
export function writeChats(chats: readonly Chat[]): string {
  const text = JSON.stringify({ format: FORMAT, version: VERSION, chats: chats.map(written) });
  if (text.length <= MAX_FILE_BYTES) return text;
  const most = formatBytes(MAX_FILE_BYTES);
  throw problem(`All chats together have more than ${most}. Export them one by one.`);
}

/** Without what belongs to this browser: the draft, and which branches are shown. */
function written({ title, createdAt, updatedAt, models, isCompared, settings, turns }: Chat) {
  return { title, createdAt, updatedAt, models, isCompared, settings, turns };
}

/** Chats with new ids. Throws a `Fault` that names the field, its value and the remedy. */
export function readChats(text: string, now: number): readonly Chat[] {
  const file = objectOf(parsed(text), 'The file');
  if (file['format'] !== FORMAT) {
    throw problem(
      `"format" is ${shown(file['format'])}; an export of chats has "${FORMAT}". Choose a file ` +
        'that "Export" has written.',
    );
  }
  if (file['version'] !== VERSION) {
    throw problem(
      `"version" is ${shown(file['version'])}; this page reads version ${VERSION}. Update it.`,
    );
  }
  const chats = listOf(file['chats'], 'chats', MAX_CHATS);
  return chats.map((chat, index) => readChat(objectOf(chat, `chats[${index}]`), index, now));
}

type Fields = Readonly<Record<string, unknown>>;

function readChat(fields: Fields, index: number, now: number): Chat {
  const at = `chats[${index}]`;
  const ids = new Map<string, string>();
  const turns = listOf(fields['turns'], `${at}.turns`, MAX_TURNS).map((turn, place) =>
    readTurn(objectOf(turn, `${at}.turns[${place}]`), `${at}.turns[${place}]`, ids),
  );
  const models = listOf(fields['models'], `${at}.models`, 2).map((model, place) =>
    textOf(model, `${at}.models[${place}]`, MAX_NAME_CHARACTERS),
  );
  const [first = '', second = ''] = models;
  return {
    ...startedChat(now, {
      models: [first, second],
      isCompared: fields['isCompared'] === true,
      settings: readSettings(objectOf(fields['settings'], `${at}.settings`), `${at}.settings`),
    }),
    title: shortTitle(textOf(fields['title'], `${at}.title`, MAX_TEXT_CHARACTERS)),
    createdAt: timeOf(fields['createdAt'], `${at}.createdAt`, now),
    updatedAt: timeOf(fields['updatedAt'], `${at}.updatedAt`, now),
    draft: NO_PROMPT,
    turns,
  };
}

/** `ids`: the new ids of the turns so far; a parent stands before its children. */
function readTurn(fields: Fields, at: string, ids: Map<string, string>): Turn {
  const { id, parent } = fields;
  const known = textOf(id, `${at}.id`, MAX_NAME_CHARACTERS);
  if (ids.has(known))
    throw problem(`${at}.id is ${shown(id)}, as of another turn. Make it unique.`);
  const above =
    parent === null ? null : ids.get(textOf(parent, `${at}.parent`, MAX_TEXT_CHARACTERS));
  if (above === undefined) {
    throw problem(`${at}.parent is ${shown(parent)}, which is the id of no turn before it.`);
  }
  const fresh = newId();
  ids.set(known, fresh);
  const [first, second = null] = listOf(fields['answers'], `${at}.answers`, 2).map(
    (answer, side) =>
      answer === null
        ? null
        : readAnswer(objectOf(answer, `${at}.answers[${side}]`), `${at}.answers[${side}]`),
  );
  if (!first) throw problem(`${at}.answers[0] is missing. Every turn has an answer.`);
  const prompt = readPrompt(objectOf(fields['prompt'], `${at}.prompt`), `${at}.prompt`);
  return { id: fresh, parent: above, prompt, answers: [first, second] };
}

function readPrompt(fields: Fields, at: string): Prompt {
  const pictures = listOf(fields['pictures'], `${at}.pictures`, MAX_PICTURES).map(
    (one, index): Picture => {
      const picture = objectOf(one, `${at}.pictures[${index}]`);
      const name = textOf(picture['name'], `${at}.pictures[${index}].name`, MAX_TEXT_CHARACTERS);
      const url = textOf(picture['url'], `${at}.pictures[${index}].url`, MAX_FILE_BYTES);
      if (url === '' || PICTURE_URL.test(url)) return { name: shortTitle(name), url };
      throw problem(
        `${at}.pictures[${index}].url is ${shown(url)}. Only data: URLs of PNG, JPEG, WebP and ` +
          'GIF pictures in base64 are imported.',
      );
    },
  );
  return { text: textOf(fields['text'], `${at}.text`, MAX_TEXT_CHARACTERS), pictures };
}

const STATES = ['done', 'stopped', 'interrupted', 'failed'] as const;

function readAnswer(fields: Fields, at: string): Answer {
  const read = (name: string): string => textOf(fields[name], `${at}.${name}`, MAX_TEXT_CHARACTERS);
  const calls = listOf(fields['toolCalls'] ?? [], `${at}.toolCalls`, MAX_TOOL_CALLS);
  return {
    model: textOf(fields['model'], `${at}.model`, MAX_NAME_CHARACTERS),
    // An answer that was running is received by nobody now.
    state: STATES.find((state) => state === fields['state']) ?? 'interrupted',
    text: read('text'),
    reasoning: read('reasoning'),
    toolCalls: calls.map((call, index): ToolCall => {
      const { name, arguments: given } = objectOf(call, `${at}.toolCalls[${index}]`);
      return {
        name: textOf(name, `${at}.toolCalls[${index}].name`, MAX_NAME_CHARACTERS),
        arguments: textOf(given, `${at}.toolCalls[${index}].arguments`, MAX_TEXT_CHARACTERS),
      };
    }),
    finish: fields['finish'] === 'length' ? 'length' : null,
    // Times and errors are those of the browser that received the answer.
    facts: null,
    fault: null,
  };
}

function readSettings(fields: Fields, at: string): ChatSettings {
  const names = Object.keys(DEFAULT_SETTINGS) as (keyof ChatSettings)[];
  const read = names.map((name) => [
    name,
    textOf(fields[name] ?? '', `${at}.${name}`, MAX_SYSTEM_CHARACTERS),
  ]);
  return { ...DEFAULT_SETTINGS, ...(Object.fromEntries(read) as Partial<ChatSettings>) };
}

// Decoders.

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    throw problem(`The file is not JSON: ${why}. Choose a file that "Export" has written.`);
  }
}

function objectOf(value: unknown, at: string): Fields {
  if (typeof value === 'object' && value !== null && !Array.isArray(value)) return value as Fields;
  throw problem(`${at} is ${shown(value)}; it must be an object.`);
}

function listOf(value: unknown, at: string, most: number): readonly unknown[] {
  if (!Array.isArray(value)) throw problem(`${at} is ${shown(value)}; it must be a list.`);
  if (value.length <= most) return value;
  throw problem(`${at} has ${value.length} entries; ${most} are allowed. Remove some.`);
}

function textOf(value: unknown, at: string, most: number): string {
  if (typeof value !== 'string') throw problem(`${at} is ${shown(value)}; it must be a text.`);
  if (value.length <= most) return value;
  throw problem(`${at} has ${value.length} characters; ${most} are allowed. Shorten it.`);
}

function timeOf(value: unknown, at: string, now: number): number {
  const isTime = typeof value === 'number' && Number.isSafeInteger(value) && value >= 0;
  // A clock that is fast does not put a chat above all later ones.
  if (isTime) return Math.min(value, now);
  throw problem(`${at} is ${shown(value)}; it must be milliseconds since 1970.`);
}

const SHOWN_CHARACTERS = 40;

function shown(value: unknown): string {
  if (value === undefined) return 'missing';
  const text = JSON.stringify(value);
  return text.length <= SHOWN_CHARACTERS ? text : `${text.slice(0, SHOWN_CHARACTERS)}…`;
}

function problem(message: string): Fault {
  return new Fault(message, { code: 'import' });
}
