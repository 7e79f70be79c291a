/** What a simulated home is like. All of it follows from a seed. */
import type { AdvertisedService } from '@inference-gateway/shared/protocol/messages';
import { Random } from './random.js';

export interface HomePlan {
  readonly name: string;
  readonly models: readonly string[];
  readonly slots: number;
  readonly card: CardPlan;
  /** Of the way from the home to the coordinator; null if it is never the bottleneck. */
  readonly upBytesPerSecond: number | null;
  /** How often it goes away, on average, and for how long; null: never by itself. */
  readonly leaves: { readonly everyMs: number; readonly awayMs: number } | null;
}

export interface CardPlan {
  readonly firstByteMs: number;
  readonly tokensPerSecond: number;
  /** Of an answer, unless its request asks for fewer. */
  readonly tokens: number;
  /** Of the answers, so many fail: half of them before the first byte, half in the middle. */
  readonly failingShare: number;
}

/** The kind of homes that are drawn. */
export interface Neighbourhood {
  readonly seed: number;
  readonly homes: number;
  /** Names that many homes serve, the first ones most. */
  readonly popularModels: number;
  /** In ms, tokens a second, and tokens: the least and the most. */
  readonly firstByteMs: Span;
  readonly tokensPerSecond: Span;
  readonly tokens: number;
  /** Of the homes, so many have a slow way out, a card that fails, or leave now and then. */
  readonly slowShare: number;
  readonly failingHomes: number;
  readonly leavingHomes: number;
  readonly leaves: HomePlan['leaves'];
}

type Span = readonly [low: number, high: number];

/** Homes that never leave and never fail. */
export const CALM: Neighbourhood = {
  seed: 1,
  homes: 1_000,
  popularModels: 40,
  firstByteMs: [20, 200],
  tokensPerSecond: [20, 80],
  tokens: 40,
  slowShare: 0,
  failingHomes: 0,
  leavingHomes: 0,
  leaves: null,
};

export const SERVICE_ID = 'llm-0';
const MODELS_A_HOME = 3;
const MOST_SLOTS = 4;
/** Of the models, so many are one of the popular ones; the others are found in few homes. */
const POPULAR_SHARE = 2 / 3;
const RARE_MODELS = 2_000;
/** A bad mobile line: a chat passes, if slowly. */
const SLOW_BYTES_PER_SECOND: Span = [4_000, 32_000];
const FAILING_SHARE: Span = [0.1, 0.6];

export function drawHomes(neighbourhood: Neighbourhood): HomePlan[] {
  return Array.from({ length: neighbourhood.homes }, (_, i) => drawHome(neighbourhood, i));
}

/** The names that many homes serve. */
export function popularModels({ popularModels: count }: Neighbourhood): string[] {
  return Array.from({ length: count }, (_, rank) => popularName(rank));
}

/** What HELLO says of the home. */
export function servicesOf({ models, slots }: HomePlan): AdvertisedService[] {
  const about = {
    context_length: 8_192,
    input_modalities: ['text'],
    output_modalities: ['text'],
    supported_features: ['reasoning'],
    loaded: true,
  };
  const listed = models.map((id) => ({ id, served_name: id, ...about }));
  return [{ service_id: SERVICE_ID, service_type: 'llm', slots, models: listed }];
}

function drawHome(kind: Neighbourhood, index: number): HomePlan {
  const random = new Random(kind.seed, index);
  const models = drawModels(random, kind.popularModels);
  const slots = 1 + random.below(MOST_SLOTS);
  const isSlow = random.chance(kind.slowShare);
  const upBytesPerSecond = isSlow ? random.between(...SLOW_BYTES_PER_SECOND) : null;
  const failingShare = random.chance(kind.failingHomes) ? random.between(...FAILING_SHARE) : 0;
  const firstByteMs = random.between(...kind.firstByteMs);
  const tokensPerSecond = random.between(...kind.tokensPerSecond);
  return {
    name: `home-${index}`,
    models,
    slots,
    card: { firstByteMs, tokensPerSecond, tokens: kind.tokens, failingShare },
    upBytesPerSecond,
    leaves: random.chance(kind.leavingHomes) ? kind.leaves : null,
  };
}

function drawModels(random: Random, popular: number): string[] {
  const models = new Set<string>();
  while (models.size < MODELS_A_HOME) {
    const isPopular = random.chance(POPULAR_SHARE);
    models.add(isPopular ? popularName(popularRank(random, popular)) : rareName(random));
  }
  return [...models];
}

/** The first ranks come up most: a square of a uniform number. */
function popularRank(random: Random, popular: number): number {
  return Math.floor(random.next() ** 2 * popular);
}

function popularName(rank: number): string {
  return `popular-${rank}:8b-instruct-q4_K_M`;
}

function rareName(random: Random): string {
  return `fine-tune-${random.below(RARE_MODELS)}:7b-q8_0`;
}
