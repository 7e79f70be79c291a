/** Invents a month of usage: each member's requests for each of the last thirty days. */
import { requestId } from '@inference-gateway/shared/ids';
import type { EndpointKey } from '@inference-gateway/shared/endpoints';
import { kindOf } from '@inference-gateway/shared/openai/kinds';
import { CONSOLE } from '../../core/access/caller.js';
import type { Store, UsageRow } from '../../store/port.js';
import { MEMBERS } from '../cast.js';
import type { MemberName } from '../cast.js';
import { joulesOf, placeOf } from '../machines.js';
import type { Machine } from '../machines.js';
import { typeOf } from '../models.js';
import type { ModelId } from '../models.js';
import { Random } from '../random.js';
import { machineNamed } from '../scene.js';
import type { Scene } from '../scene.js';
import { DAY_MS } from './found-members.js';

const DAYS = 30;
const SEED = 30;
/** Fewer requests at weekends, and more towards the end of the month. */
const WEEKEND = 0.55;
const GROWTH = 0.6;
const FAILED = 0.02;
const CANCELED = 0.01;
const FROM_CONSOLE = 0.22;

type Habits = readonly [readonly [ModelId, EndpointKey], ...(readonly [ModelId, EndpointKey])[]];

/** What each member asks for. Repeated entries are more frequent. */
const HABITS: Readonly<Record<MemberName, Habits>> = {
  Anna: [
    ['qwen2.5-coder-32b-instruct', 'chat'],
    ['qwen2.5-coder-32b-instruct', 'chat'],
    ['llama-3.3-70b-instruct', 'chat'],
    ['flux.1-schnell', 'images'],
    ['whisper-large-v3-turbo', 'transcriptions'],
  ],
  Ben: [
    ['llama-3.1-8b-instruct', 'chat'],
    ['gemma-3-12b-it', 'chat'],
    ['kokoro-82m', 'speech'],
  ],
  Chiara: [
    ['llama-3.3-70b-instruct', 'chat'],
    ['whisper-large-v3-turbo', 'transcriptions'],
    ['stable-diffusion-xl-base-1.0', 'images'],
    ['ace-step-v1-3.5b', 'music'],
  ],
  Dov: [
    ['mistral-small-24b-instruct', 'chat'],
    ['llama-3.1-8b-instruct', 'chat'],
  ],
  Emi: [
    ['gemma-3-12b-it', 'chat'],
    ['flux.1-schnell', 'images'],
    ['kokoro-82m', 'speech'],
  ],
};

/** The rows are written at the latest when the store closes. */
export function recordPastUsage(store: Store, scene: Scene, now: number): void {
  const random = new Random(SEED);
  const today = Math.floor(now / DAY_MS) * DAY_MS;
  for (let day = DAYS - 1; day >= 0; day--) {
    const from = today - day * DAY_MS;
    for (const member of MEMBERS) {
      const share = dayShare(from, day) * random.between(0.7, 1.3);
      const rows = Array.from({ length: Math.round(member.callsPerDay * share) }, () =>
        row(scene, member.name, { random, at: from + timeOfDay(random) }),
      );
      store.recordUsage(rows.filter(({ at }) => at < now));
    }
  }
}

function dayShare(from: number, daysAgo: number): number {
  const isWeekend = [0, 6].includes(new Date(from).getUTCDay());
  return (isWeekend ? WEEKEND : 1) * (1 - (GROWTH * daysAgo) / DAYS);
}

/** Mostly during the day. */
function timeOfDay(random: Random): number {
  const middle = (random.next() + random.next() + random.next()) / 3;
  return Math.floor(middle * DAY_MS);
}

interface Moment {
  readonly random: Random;
  readonly at: number;
}

/** A model always runs on the same machine, because the demo has one machine per model. */
function row(scene: Scene, name: MemberName, { random, at }: Moment): UsageRow {
  const [model, endpoint] = random.pick(HABITS[name]);
  const member = scene.members[name];
  const { machine } = placeOf(model);
  const place = machineNamed(scene, machine.name);
  const outcome = random.chance(FAILED) ? 'failed' : random.chance(CANCELED) ? 'canceled' : 'ok';
  const isConsole = random.chance(FROM_CONSOLE);
  const [firstKey = '', ...others] = member.keyIds;
  const keyId = others.length > 0 && random.chance(0.5) ? (others[0] ?? firstKey) : firstKey;
  return {
    requestId: requestId(at),
    at,
    memberId: member.id,
    keyId: isConsole ? CONSOLE : keyId,
    providerId: place.providerId,
    model,
    serviceType: typeOf(model),
    endpoint,
    ...(outcome === 'ok' ? cost(endpoint, { random, machine }) : NO_COST),
    queueMs: random.below(900),
    attempts: outcome === 'failed' ? 3 : 1,
    outcome,
    errorCode: outcome === 'failed' ? 'provider_error' : null,
    source: isConsole ? 'console' : 'api',
  };
}

type Cost = Pick<
  UsageRow,
  | 'promptTokens'
  | 'completionTokens'
  | 'estimated'
  | 'energyJ'
  | 'audioMs'
  | 'images'
  | 'firstByteMs'
  | 'totalMs'
>;

const NO_COST: Cost = {
  promptTokens: 0,
  completionTokens: 0,
  estimated: false,
  energyJ: null,
  audioMs: 0,
  images: 0,
  firstByteMs: null,
  totalMs: 900,
};

/** Invented numbers that are realistic for the kind of work. */
export function cost(
  endpoint: EndpointKey,
  { random, machine }: { readonly random: Random; readonly machine: Machine },
): Cost {
  const totalMs = Math.round(random.between(1_200, 14_000));
  const firstByteMs = Math.round(random.between(180, 900));
  const ran = { ...NO_COST, energyJ: joulesOf(machine, totalMs), totalMs };
  switch (kindOf(endpoint).counts) {
    case 'images':
      return { ...ran, images: 1 + random.below(2), firstByteMs: totalMs };
    case 'tokens':
      return {
        ...ran,
        promptTokens: 60 + random.below(2_400),
        completionTokens: 40 + random.below(700),
        firstByteMs,
      };
    case null:
      return { ...ran, audioMs: 4_000 + random.below(180_000), firstByteMs };
  }
}
