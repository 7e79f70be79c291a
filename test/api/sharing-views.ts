/** Checks what one member sees and gets at one moment against the test's world. */
import { expect } from 'vitest';
import { silentWav } from '../support/sound.js';
import { act, BATCHES, JOBS } from './job-calls.js';
import type { BatchBody, JobBody } from './job-calls.js';
import { IMAGES_PATH, SPEECH_PATH } from './media-calls.js';
import type { ImageList } from './media-calls.js';
import { CHAT, chat } from './requests.js';
import type { Friend } from './sharing-stage.js';
import { VOICE } from './sharing-town.js';
import type { Town } from './sharing-town.js';
import { MEMBERS, NETWORKS, OWNERS, PROVIDERS, TOWN_MODELS } from './sharing-world.js';
import type { Member, TownModel } from './sharing-world.js';

const MODEL_IDS = TOWN_MODELS.map(({ id }) => id);
const SECRETS = [...MEMBERS, ...NETWORKS, ...PROVIDERS, ...MODEL_IDS, VOICE];
const MULTIPART = '/v1/audio/transcriptions';

interface Answer {
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
}

export class View {
  readonly #town: Town;
  readonly #member: Member;
  readonly #friend: Friend;

  constructor(town: Town, member: Member) {
    this.#town = town;
    this.#member = member;
    this.#friend = town.friendOf(member);
  }

  async check(): Promise<void> {
    if (this.#town.world.isDisabled(this.#member)) return this.#checkRefused();
    await this.#checkLists();
    await Promise.all(TOWN_MODELS.map((model) => this.#checkModel(model)));
    await this.#checkBatch();
  }

  async #checkRefused(): Promise<void> {
    for (const path of [
      '/v1/models',
      '/api/inference/queue/summary',
      `/v1/models/${MODEL_IDS[0]}`,
    ]) {
      this.#expectFailure(await this.#ask(path, undefined, MODEL_IDS), 401, 'disabled_api_key');
    }
    for (const model of TOWN_MODELS) {
      this.#expectFailure(await this.#call(model), 401, 'disabled_api_key');
    }
  }

  /** Lists contain exactly what the member can use now. */
  async #checkLists(): Promise<void> {
    const served = this.#served(() => true);
    const { data: rows } = listsOf(await this.#ask('/v1/models'));
    const expected = served.map(({ id, provider }) => ({ id, owned_by: OWNERS[provider] }));
    expect(rows.map(({ id, owned_by }) => ({ id, owned_by })).toSorted(byId)).toEqual(expected);
    const own = await this.#ask('/v1/models', { headers: { 'x-provider-scope': 'own' } });
    const owned = this.#served(({ provider }) => OWNERS[provider] === this.#member);
    expect(idsOf(listsOf(own).data)).toEqual(idsOf(owned));
    const summary = await this.#ask('/api/inference/queue/summary');
    const models = listsOf(summary).by_model.map(({ model }) => model);
    expect(models.toSorted()).toEqual(idsOf(served));
    const sought = await this.#ask('/v1/models/quartz-chats', undefined, ['quartz-chats']);
    this.#expectFailure(sought, 404, 'model_not_found');
    expect((await this.#ask('/metrics')).status).toBe(404);
  }

  #served(which: (model: TownModel) => boolean): TownModel[] {
    const { world } = this.#town;
    const served = TOWN_MODELS.filter((model) => world.serves(this.#member, model) && which(model));
    return served.toSorted(byId);
  }

  async #checkModel(model: TownModel): Promise<void> {
    const { id, type } = model;
    const isServed = this.#town.world.serves(this.#member, model);
    const shown = await this.#ask(`/v1/models/${id}`, undefined, [id]);
    expect(shown.status, `${this.#member} looks at ${id}`).toBe(isServed ? 200 : 404);
    const called = await this.#call(model);
    expect(called.status, `${this.#member} calls ${id}`).toBe(isServed ? 200 : 404);
    expect(called.headers.get('x-provider')).toBe(isServed ? model.provider : null);
    if (!isServed) this.#expectFailure(called, 404, /^model_(not_found|offline)$/);
    if (type === 'image' && isServed) await this.#checkAsset(called);
    if (type === 'tts') {
      const voices = await this.#ask(`/v1/audio/voices?model=${id}`, undefined, [id]);
      expect(voices.status, `${this.#member} asks for voices`).toBe(isServed ? 200 : 404);
      if (isServed) expect(listsOf(voices).voices).toEqual([VOICE]);
    }
    // Error messages suggest similar names, so one wrong letter provokes a suggestion.
    const near = { ...model, id: `${id.slice(0, -1)}_` };
    this.#expectFailure(await this.#call(near), 404, 'model_not_found');
    if (type !== 'stt') await this.#checkJob(model);
  }

  /** The file of an answer belongs to the caller, not to the machine's owner. */
  async #checkAsset({ text }: Answer): Promise<void> {
    const url = (JSON.parse(text) as ImageList).data[0]?.url ?? '';
    const path = new URL(url).pathname;
    expect((await this.#friend.fetch(path)).status).toBe(200);
    for (const other of MEMBERS.filter((one) => one !== this.#member)) {
      const { status } = await this.#town.friendOf(other).fetch(path);
      expect(status, `${other} fetches what is ${this.#member}'s`).toBe(
        this.#town.world.isDisabled(other) ? 401 : 404,
      );
    }
  }

  async #checkJob(model: TownModel): Promise<void> {
    const submitted = await this.#call(model, { async: true });
    if (!this.#town.world.mayUse(this.#member, model)) {
      return this.#expectFailure(submitted, 404, 'model_not_found');
    }
    expect(submitted.status, `${this.#member} submits ${model.id}`).toBe(202);
    const { id } = JSON.parse(submitted.text) as JobBody;
    await this.#checkQueued(id, model);
    await act(this.#friend, `${JOBS}/${id}/cancel`);
  }

  async #checkBatch(): Promise<void> {
    const models = TOWN_MODELS.filter(({ type }) => type !== 'stt');
    const requests = models.map((model) => ({ endpoint: pathOf(model), body: bodyOf(model) }));
    const made = await this.#ask(BATCHES, toPost({ requests }), MODEL_IDS);
    expect(made.status).toBe(202);
    const path = `${BATCHES}/${(JSON.parse(made.text) as BatchBody).id}`;
    // It names the models that it asks for.
    const shown = await this.#ask(path, undefined, MODEL_IDS);
    const { jobs = [] } = JSON.parse(shown.text) as BatchBody;
    await Promise.all(
      models.map((model, index) => this.#checkQueued(jobs[index]?.id ?? '', model)),
    );
    expect((await act(this.#friend, `${path}/cancel`)).status).toBe(200);
  }

  /** A job that may run does; one that may not says why, and nothing more. */
  async #checkQueued(id: string, model: TownModel): Promise<void> {
    const path = `${JOBS}/${id}`;
    const { world } = this.#town;
    const isServed = world.serves(this.#member, model);
    const answer = await this.#ask(`${path}?wait=${isServed ? 20 : 0}`, undefined, [model.id]);
    const job = JSON.parse(answer.text) as JobBody;
    const what = `${this.#member}'s job for ${model.id}`;
    if (isServed) return expect(job.status, what).toBe('PROCESSED');
    const told = job.waiting_reason ?? job.error?.message;
    if (world.mayUse(this.#member, model)) {
      expect([job.status, told], what).toEqual(['QUEUED', expect.stringContaining('is draining')]);
    } else {
      const unseen = expect.stringContaining('No provider that you may use serves');
      expect([job.status, told], what).toEqual([expect.stringMatching(/QUEUED|FAILED/), unseen]);
    }
    expect(job.attempts, what).toBe(0);
  }

  #call(model: TownModel, fields: object = {}): Promise<Answer> {
    const { id, type } = model;
    if (type !== 'stt') {
      return this.#ask(pathOf(model), toPost({ ...bodyOf(model), ...fields }), [id]);
    }
    const body = new FormData();
    body.set('model', id);
    body.set('file', new Blob([new Uint8Array(silentWav(0.1))]), 'a.wav');
    return this.#ask(MULTIPART, { method: 'POST', body }, [id]);
  }

  #expectFailure({ status, text }: Answer, expected: number, code: string | RegExp): void {
    const { error } = JSON.parse(text) as { error: { code: string } };
    expect(status).toBe(expected);
    expect(error.code).toMatch(code);
  }

  /**
   * Fails if the answer names anything that the member may not know; `asked` are the member's own
   * words.
   */
  async #ask(path: string, init?: RequestInit, asked: readonly string[] = []): Promise<Answer> {
    const response = await this.#friend.fetch(path, init);
    const { status, headers } = response;
    const text = Buffer.from(await response.arrayBuffer()).toString('latin1');
    const known = new Set([...this.#known(), ...asked]);
    const said = [text, ...[...headers].flat()].join('\n');
    const told = SECRETS.filter(
      (word) => !known.has(word) && new RegExp(`\\b${word}\\b`).test(said),
    );
    expect(told, `${this.#member} is told by ${path}: ${text.slice(0, 500)}`).toEqual([]);
    return { status, headers, text };
  }

  #known(): readonly string[] {
    const { world } = this.#town;
    const models = TOWN_MODELS.filter((model) => world.mayUse(this.#member, model));
    const names = models.flatMap(({ id, provider }) => [id, provider, OWNERS[provider]]);
    const voices = models.some(({ type }) => type === 'tts') ? [VOICE] : [];
    return [this.#member, ...names, ...voices];
  }
}

function pathOf({ type }: TownModel): string {
  if (type === 'tts') return SPEECH_PATH;
  return type === 'image' ? IMAGES_PATH : CHAT;
}

function bodyOf({ id: model, type }: TownModel): object {
  if (type === 'tts') return { model, input: 'Hello there.' };
  return type === 'image' ? { model, prompt: 'a cat' } : chat({ model });
}

function toPost(body: object): RequestInit {
  const headers = { 'content-type': 'application/json' };
  return { method: 'POST', headers, body: JSON.stringify(body) };
}

/** The fields of the lists that the tests check. */
interface Lists {
  readonly data: readonly { readonly id: string; readonly owned_by: string }[];
  readonly by_model: readonly { readonly model: string }[];
  readonly voices: readonly string[];
}

function listsOf({ text }: Answer): Lists {
  return JSON.parse(text) as Lists;
}

function byId(a: { readonly id: string }, b: { readonly id: string }): number {
  return a.id < b.id ? -1 : 1;
}

function idsOf(rows: readonly { readonly id: string }[]): string[] {
  return rows.map(({ id }) => id).toSorted();
}
