/** Simulates the demo's members: every few seconds one of them sends a request. */
import { ENDPOINTS } from '@inference-gateway/shared/endpoints';
import { MEMBERS } from '../cast.js';
import type { MemberName } from '../cast.js';
import { Random } from '../random.js';
import type { Scene, SceneMember } from '../scene.js';
import { PICTURES } from '../topics.js';
import { chatOf, imageOf, requestFor } from '../requests.js';
import type { DemoRequest, RequestKind } from '../requests.js';

const SEED = 11;

/** Slower than the machines work, so that the queue moves and does not grow. */
const EVENT_MS = { least: 2_500, most: 5_500 } as const;

/** Reached after about five hours. Then the demo stops, so that its database stops growing. */
const MAX_EVENTS = 4_500;

/** One batch per this many events. */
const BATCH_EVERY = 25;

/** One picture per this many events is too large for the card and fails. */
const TOO_LARGE_EVERY = 23;

const TOO_LARGE = '2048x2048';

const FIRST_PICTURES = 24;

const FIRST_CHATS = 6;

const BATCH_JOBS = 8;

const KINDS: readonly [RequestKind, ...RequestKind[]] = ['chat', 'chat', 'speech', 'image'];

const LABELS: readonly [string, ...string[]] = ['Translations', 'Alt texts', 'Meeting notes'];

/** Machines connect at the same time: the first jobs wait until they are there. */
const FIRST_MS = 400;

export class Visitors {
  readonly #scene: Scene;
  readonly #caller: Caller;
  readonly #random = new Random(SEED);
  readonly #stopped = new AbortController();
  #events = 0;
  #next: NodeJS.Timeout;

  /** Starts at once. `origin`: the coordinator's address. */
  constructor(origin: string, scene: Scene) {
    this.#scene = scene;
    this.#caller = { origin, signal: this.#stopped.signal };
    this.#next = setTimeout(() => {
      this.#begin();
      this.#later();
    }, FIRST_MS);
  }

  stop(): void {
    clearTimeout(this.#next);
    this.#stopped.abort();
  }

  /** Submits a batch that takes some minutes, and two jobs for an offline machine. */
  #begin(): void {
    const pictures = Array.from({ length: FIRST_PICTURES }, (_, index) =>
      imageOf(`${PICTURES[index % PICTURES.length] ?? PICTURES[0]}, sheet ${index + 1}`),
    );
    const chats = Array.from({ length: FIRST_CHATS }, () => requestFor('chat', this.#random));
    this.#batch('Anna', 'Calendar for next year', [...pictures, ...chats]);
    this.#submit('Anna', chatOf('mistral-small-24b-instruct', this.#random));
    this.#submit('Dov', chatOf('mistral-small-24b-instruct', this.#random));
    this.#submit('Anna', requestFor('music', this.#random));
    this.#chat('Ben');
  }

  #later(): void {
    if (this.#events >= MAX_EVENTS) return;
    this.#events += 1;
    const waitMs = this.#random.between(EVENT_MS.least, EVENT_MS.most);
    this.#next = setTimeout(() => {
      this.#event();
      this.#later();
    }, waitMs);
  }

  #event(): void {
    const who = this.#random.pick(MEMBERS).name;
    if (this.#events % BATCH_EVERY === 0) return this.#smallBatch(who);
    if (this.#events % TOO_LARGE_EVERY === 0) {
      return this.#submit(who, imageOf(this.#random.pick(PICTURES), TOO_LARGE));
    }
    if (this.#random.chance(0.45)) return this.#chat(who);
    return this.#submit(who, requestFor(this.#random.pick(KINDS), this.#random));
  }

  #smallBatch(who: MemberName): void {
    const requests = Array.from({ length: BATCH_JOBS }, () => requestFor('chat', this.#random));
    this.#batch(who, this.#random.pick(LABELS), requests);
  }

  #chat(who: MemberName): void {
    const request = requestFor('chat', this.#random);
    this.#try(streamChat(this.#caller, this.#scene.members[who], request));
  }

  #submit(who: MemberName, request: DemoRequest): void {
    this.#try(submitJob(this.#caller, this.#scene.members[who], request));
  }

  #batch(who: MemberName, label: string, requests: readonly DemoRequest[]): void {
    this.#try(submitBatch(this.#caller, this.#scene.members[who], { label, requests }));
  }

  /** Ignores failed calls: the coordinator may be stopping, or the call was aborted. */
  #try(call: Promise<void>): void {
    call.catch(() => {});
  }
}

// Sends a member's requests over HTTP with their key, like any client.

const BASE = '/v1';

interface Caller {
  /** The coordinator's origin. */
  readonly origin: string;
  /** Aborts every call. */
  readonly signal: AbortSignal;
}

async function submitJob(caller: Caller, by: SceneMember, request: DemoRequest): Promise<void> {
  const body = { model: request.model, ...request.body, async: true };
  await post(caller, by, { path: pathOf(request), body });
}

async function submitBatch(
  caller: Caller,
  by: SceneMember,
  batch: { readonly label: string; readonly requests: readonly DemoRequest[] },
): Promise<void> {
  const requests = batch.requests.map((request) => ({
    endpoint: pathOf(request),
    body: { model: request.model, ...request.body },
  }));
  await post(caller, by, { path: `${BASE}/batches`, body: { label: batch.label, requests } });
}

/** Reads the stream to its end and discards it. */
async function streamChat(caller: Caller, by: SceneMember, request: DemoRequest): Promise<void> {
  const body = { model: request.model, ...request.body, stream: true };
  await post(caller, by, { path: pathOf(request), body });
}

interface Post {
  readonly path: string;
  readonly body: object;
}

/** Refusals are ignored: a rate limit, or a disabled queue, may be part of the demo. */
async function post({ origin, signal }: Caller, by: SceneMember, what: Post): Promise<void> {
  const response = await fetch(`${origin}${what.path}`, {
    method: 'POST',
    headers: { authorization: `Bearer ${by.secret}`, 'content-type': 'application/json' },
    body: JSON.stringify(what.body),
    signal,
  });
  await response.arrayBuffer();
}

function pathOf({ endpoint }: DemoRequest): string {
  return `${BASE}${ENDPOINTS[endpoint].path}`;
}
