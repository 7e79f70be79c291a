/** A member's chats and presets in IndexedDB: a database a member, on this computer only. */
import { Fault } from '../../../api/fault.js';
import { formatBytes } from '../../../ui/text/format.js';
import { MAX_CHATS } from './chat-file.js';
import { MAX_PRESETS } from './chat-settings.js';
import type { Preset } from './chat-settings.js';
import { hasText, titleOf } from './conversation.js';
import type { Chat, Prompt } from './conversation.js';

/** A chat as the list shows it. */
export interface Head {
  readonly id: string;
  readonly title: string;
  readonly updatedAt: number;
}

const VERSION = 1;
const HEADS = 'heads';
const CHATS = 'chats';
const PRESETS = 'presets';

/** Larger pictures are kept by their names only. In characters of their `data:` URLs. */
const MAX_PICTURE_CHARACTERS = 4 * 1024 * 1024;
/** Text and pictures of a chat. */
const MAX_CHAT_CHARACTERS = 16 * 1024 * 1024;

/** Also the name of the channel between the member's tabs. */
export function databaseName(memberId: string): string {
  return `playground-${memberId}`;
}

export class ChatDatabase {
  readonly #name: string;
  #opened: Promise<IDBDatabase> | null = null;

  constructor(memberId: string) {
    this.#name = databaseName(memberId);
  }

  heads(): Promise<readonly Head[]> {
    return this.#within('readonly', (tx) => answered<Head[]>(tx.objectStore(HEADS).getAll()));
  }

  read(id: string): Promise<Chat | undefined> {
    return this.#within('readonly', (tx) => answered(tx.objectStore(CHATS).get(id)));
  }

  /**
   * Replaces the stored chat, undefined for a new one, in one transaction, so that tabs do not
   * overwrite each other. Resolves to what `change` returned. Throws a `Fault` at a limit.
   */
  async write(id: string, change: (stored: Chat | undefined) => Chat): Promise<Chat> {
    return this.#within('readwrite', async (tx) => {
      const stored = await answered<Chat | undefined>(tx.objectStore(CHATS).get(id));
      if (stored === undefined) await refuseMore(tx.objectStore(HEADS), MAX_CHATS, 'chats');
      const next = change(stored);
      const kept = keptForm(next);
      await answered(tx.objectStore(CHATS).put(kept));
      const { updatedAt } = next;
      const head: Head = { id, title: titleOf(next), updatedAt };
      await answered(tx.objectStore(HEADS).put(head));
      return next;
    });
  }

  remove(id: string): Promise<unknown> {
    return this.#within('readwrite', async (tx) => {
      await answered(tx.objectStore(HEADS).delete(id));
      await answered(tx.objectStore(CHATS).delete(id));
    });
  }

  /** The ids of the chats with these words. One chat at a time is in memory. */
  async search(words: string): Promise<readonly string[]> {
    const found: string[] = [];
    await this.#each((chat) => hasText(chat, words) && found.push(chat.id));
    return found;
  }

  async all(): Promise<readonly Chat[]> {
    const chats: Chat[] = [];
    await this.#each((chat) => chats.push(chat));
    return chats;
  }

  #each(look: (chat: Chat) => unknown): Promise<void> {
    return this.#within(
      'readonly',
      (tx) =>
        new Promise((done, failed) => {
          const request = tx.objectStore(CHATS).openCursor();
          request.addEventListener('error', () => failed(asError(request.error)));
          request.addEventListener('success', () => {
            const cursor = request.result;
            if (cursor === null) return done();
            look(cursor.value as Chat);
            cursor.continue();
          });
        }),
    );
  }

  presets(): Promise<readonly Preset[]> {
    return this.#within('readonly', (tx) => answered<Preset[]>(tx.objectStore(PRESETS).getAll()));
  }

  savePreset(preset: Preset): Promise<unknown> {
    return this.#within('readwrite', async (tx) => {
      const store = tx.objectStore(PRESETS);
      const isNew = (await answered(store.getKey(preset.name))) === undefined;
      if (isNew) await refuseMore(store, MAX_PRESETS, 'presets');
      await answered(store.put(preset));
    });
  }

  removePreset(name: string): Promise<unknown> {
    return this.#within('readwrite', (tx) => answered(tx.objectStore(PRESETS).delete(name)));
  }

  close(): void {
    void this.#opened?.then((database) => database.close()).catch(() => undefined);
    this.#opened = null;
  }

  async #within<T>(
    mode: 'readonly' | 'readwrite',
    work: (tx: IDBTransaction) => Promise<T>,
  ): Promise<T> {
    const database = await this.#open();
    const tx = database.transaction([HEADS, CHATS, PRESETS], mode);
    const ended = completed(tx);
    // If the work fails, its error is thrown, and not that of the transaction it aborted.
    ended.catch(() => undefined);
    const result = await work(tx).catch((thrown: unknown) => {
      if (tx.error === null) abort(tx);
      throw thrown;
    });
    await ended;
    return result;
  }

  #open(): Promise<IDBDatabase> {
    this.#opened ??= open(this.#name, () => (this.#opened = null)).catch((thrown: unknown) => {
      this.#opened = null;
      throw thrown;
    });
    return this.#opened;
  }
}

/** What the tabs of a member tell each other. */
export type Told =
  | { readonly kind: 'changed'; readonly id: string }
  /** Asks who receives answers of this chat. */
  | { readonly kind: 'who'; readonly id: string }
  | { readonly kind: 'receiving'; readonly id: string }
  | { readonly kind: 'presets' }
  | { readonly kind: 'erased' };

export function post(channel: BroadcastChannel, told: Told): void {
  // `postMessage` of a BroadcastChannel has no such argument.
  // oxlint-disable-next-line unicorn/require-post-message-target-origin
  channel.postMessage(told);
}

/** How many chats and presets the member has on this computer. Creates no database. */
export async function keptCount(memberId: string): Promise<number> {
  const request = indexedDB.open(databaseName(memberId));
  request.addEventListener('upgradeneeded', () => request.transaction?.abort());
  const database = await answered(request).catch(() => null);
  if (database === null) return 0;
  try {
    const tx = database.transaction([CHATS, PRESETS]);
    const counts = [CHATS, PRESETS].map((name) => answered(tx.objectStore(name).count()));
    return (await Promise.all(counts)).reduce((sum, count) => sum + count, 0);
  } finally {
    database.close();
  }
}

/** Tabs that have the database open close it first, and write no more. */
export async function eraseDatabase(memberId: string): Promise<void> {
  const channel = new BroadcastChannel(databaseName(memberId));
  post(channel, { kind: 'erased' });
  channel.close();
  await answered(indexedDB.deleteDatabase(databaseName(memberId)));
}

/** `onLost`: called if the database is closed by the browser, or because it is being erased. */
async function open(name: string, onLost: () => void): Promise<IDBDatabase> {
  const request = indexedDB.open(name, VERSION);
  request.addEventListener('upgradeneeded', () => {
    const database = request.result;
    database.createObjectStore(HEADS, { keyPath: 'id' });
    database.createObjectStore(CHATS, { keyPath: 'id' });
    database.createObjectStore(PRESETS, { keyPath: 'name' });
  });
  const database = await answered(request);
  database.addEventListener('close', onLost);
  database.addEventListener('versionchange', () => {
    database.close();
    onLost();
  });
  return database;
}

async function refuseMore(store: IDBObjectStore, most: number, what: string): Promise<void> {
  if ((await answered(store.count())) < most) return;
  throw new Fault(`A browser keeps ${most} ${what} of a member. Delete some first.`, {
    code: 'page',
  });
}

/** Throws a `Fault` if the chat is too long. */
function keptForm(chat: Chat): Chat {
  const smaller = new Map<Prompt, Prompt>();
  const kept = (prompt: Prompt): Prompt => {
    // Branches with the same prompt share one object, which is then stored once.
    const known = smaller.get(prompt);
    if (known !== undefined) return known;
    const pictures = prompt.pictures.map((picture) =>
      picture.url.length > MAX_PICTURE_CHARACTERS ? { ...picture, url: '' } : picture,
    );
    const next = { ...prompt, pictures };
    smaller.set(prompt, next);
    return next;
  };
  const turns = chat.turns.map((turn) => ({ ...turn, prompt: kept(turn.prompt) }));
  const form = { ...chat, draft: kept(chat.draft), turns };
  const length = lengthOf([...smaller.values()], form);
  if (length <= MAX_CHAT_CHARACTERS) return form;
  const most = formatBytes(MAX_CHAT_CHARACTERS);
  throw new Fault(`This chat has more than ${most}. Export it, and begin a new one.`, {
    code: 'page',
  });
}

function lengthOf(prompts: readonly Prompt[], { turns }: Chat): number {
  const ofPrompts = prompts.flatMap(({ text, pictures }) => [text, ...pictures.map((p) => p.url)]);
  const ofAnswers = turns.flatMap(({ answers }) =>
    answers.flatMap((one) =>
      one === null ? [] : [one.text, one.reasoning, ...one.toolCalls.map((t) => t.arguments)],
    ),
  );
  return [...ofPrompts, ...ofAnswers].reduce((sum, text) => sum + text.length, 0);
}

// IndexedDB as promises.

function answered<T>(request: IDBRequest<T>): Promise<T> {
  return new Promise((done, failed) => {
    request.addEventListener('success', () => done(request.result));
    request.addEventListener('error', () => failed(asError(request.error)));
  });
}

function completed(tx: IDBTransaction): Promise<void> {
  return new Promise((done, failed) => {
    tx.addEventListener('complete', () => done());
    tx.addEventListener('abort', () => failed(asError(tx.error)));
  });
}

function abort(tx: IDBTransaction): void {
  try {
    tx.abort();
  } catch {
    // It had already ended.
  }
}

function asError(error: DOMException | null): Error {
  return error ?? new Error('The browser ended the transaction.');
}

/** Says why a chat is not kept, and what to do. */
export function whyNotKept(thrown: unknown): string {
  if (thrown instanceof Fault) return thrown.message;
  const name = thrown instanceof Error ? thrown.name : '';
  if (name === 'QuotaExceededError') {
    return 'The browser has no more room. Delete chats, or free space on this computer.';
  }
  return (
    `This browser keeps no chats here${name === '' ? '' : ` (${name})`}. Private windows and ` +
    'blocked site data are the usual reasons.'
  );
}
