/**
 * Checks each configured local server: whether it answers, what it has, and whether a model works.
 */
import { checking, obstacle } from '@inference-gateway/shared/program/check';
import type { Check } from '@inference-gateway/shared/program/check';
import { Catalog } from '../backends/catalog/catalog.js';
import type { AgentConfig } from '../config/config.js';
import { findFfmpeg } from '../media/ffmpeg.js';
import type { SeenService, TestCall, TestService } from './patient.js';

/** Time limit for one test call; for a video it is shorter than the model may need. */
const TEST_MS: Readonly<Record<string, number>> = {
  llm: 60_000,
  stt: 60_000,
  tts: 60_000,
  image: 120_000,
  music: 120_000,
};

/** Limit for all of them together. */
const ALL_TESTS_MS = 300_000;

const SHOWN_MODELS = 5;

interface LocalServers {
  readonly services: readonly SeenService[];
  /** Why no model may be tested now; null if one may be. */
  readonly busy: string | null;
  readonly test: TestService;
}

/** One after the other: they may share a card. */
export async function checkLocalServers({ services, busy, test }: LocalServers): Promise<Check[]> {
  const checks: Check[] = [];
  const endsAt = performance.now() + ALL_TESTS_MS;
  for (const service of services) {
    const answers = checkAnswers(service);
    checks.push(answers);
    const leftMs = endsAt - performance.now();
    const limitMs = Math.min(TEST_MS[service.type] ?? 0, leftMs);
    checks.push(
      service.models.length === 0
        ? told(service).skip(obstacle(answers) ?? 'it has no model')
        : await checkTest(service, { busy, limitMs, test }),
    );
  }
  return checks;
}

function checkAnswers({ id, state, reason, models, held_back: held = [] }: SeenService): Check {
  const { pass, warn, fail } = checking(`server ${id}`);
  const advice = 'Start it. What answers on this machine is shown by: gateway-agent services scan';
  if (state !== 'up') return fail(reason ?? 'it does not answer', advice);
  const failed = held.find((one) => one.state === 'failed');
  const tested = held.find((one) => one.state !== 'failed');
  if (models.length === 0 && failed !== undefined) {
    const found = `${failed.id} failed its test: ${failed.reason ?? 'it does not say why'}`;
    const command = `gateway-agent test ${failed.id} --service ${id}`;
    return fail(found, `See the server's log, and ask again with: ${command}`);
  }
  if (models.length === 0 && tested !== undefined) {
    const patience =
      'It is offered once it has answered. See how it goes with: gateway-agent status';
    return warn(`${tested.id} is being tested`, patience);
  }
  if (models.length === 0) {
    return warn('it answers, and offers no model', 'Load one, and see: gateway-agent status');
  }
  const more = models.length > SHOWN_MODELS ? `, and ${models.length - SHOWN_MODELS} more` : '';
  return pass(models.slice(0, SHOWN_MODELS).join(', ') + more);
}

interface Trying {
  readonly busy: string | null;
  readonly limitMs: number;
  readonly test: TestService;
}

async function checkTest(service: SeenService, { busy, limitMs, test }: Trying): Promise<Check> {
  const { fail, skip } = told(service);
  const command = `gateway-agent test ${service.models[0] ?? ''} --service ${service.id}`;
  if (busy !== null) return skip(busy);
  if (limitMs <= 0) return skip(`it takes too long here; ask it with: ${command}`);
  try {
    return judge(service, await test(service.id, Math.ceil(limitMs)));
  } catch (error) {
    return fail((error as Error).message, `See its log, and ask again with: ${command}`);
  }
}

function judge(service: SeenService, { model, ok, ms, reason, cut }: TestCall): Check {
  const { pass, warn, fail } = told(service);
  if (ok) return pass(`${model} answered in ${ms} ms`);
  const command = `gateway-agent test ${model} --service ${service.id}`;
  if (cut === 'stopped') {
    const found = `${model}: no answer within ${Math.round(ms / 1_000)} s; it may still be loading`;
    return warn(found, `Wait for it with: ${command}`);
  }
  return fail(`${model}: ${reason}`, `See the server's log, and ask again with: ${command}`);
}

function told({ id }: SeenService) {
  return checking(`test call ${id}`);
}

// Asks the local servers directly if no agent runs.

/** Longer than a server may take to list its models. */
const FIRST_ROUND_MS = 10_000;

/** Closes them in any case. */
export async function withOwnServers<T>(
  config: AgentConfig,
  look: (servers: Omit<LocalServers, 'busy'>) => Promise<T>,
): Promise<T> {
  const tools = { ffmpeg: await findFfmpeg(config.ffmpeg) };
  const catalog = new Catalog(config.services, { tools, firstRoundMs: FIRST_ROUND_MS });
  try {
    await catalog.start();
    const services = catalog.status().map(({ models, heldBack, ...rest }) => ({
      ...rest,
      // Only a running agent knows whether a model is proven.
      models: [...models, ...heldBack.map(({ id }) => id)],
    }));
    return await look({
      services,
      test: (service, limitMs) => catalog.test({ model: null, service, limitMs }),
    });
  } finally {
    catalog.close();
  }
}
