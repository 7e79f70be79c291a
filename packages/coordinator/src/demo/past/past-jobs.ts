/** Creates finished jobs of the last days: some with answers, pictures or speech, some failed. */
import { SYSTEM_CLOCK } from '@inference-gateway/shared/clock';
import { randomId, requestId, ulid } from '@inference-gateway/shared/ids';
import { requestExcerpt } from '@inference-gateway/shared/openai/excerpt';
import type { ByteStore } from '../../assets/byte-store.js';
import type { Asset, HeldClaim, Store, Submission } from '../../store/port.js';
import { NO_NEEDS } from '../../core/routing/match.js';
import type { MemberName } from '../cast.js';
import { placeOf } from '../machines.js';
import { Random, seedOf } from '../random.js';
import { machineNamed } from '../scene.js';
import type { Scene } from '../scene.js';
import { drawLandscape, encodePng } from '../answers/landscape.js';
import { chords, hum } from '../answers/sound.js';
import { CHATS } from '../topics.js';
import type { DemoRequest } from '../requests.js';
import { cost } from './past-usage.js';

const HOUR_MS = 3_600_000;

const LEASE_MS = 60_000;

const MAX_ATTEMPTS = 3;

const LIMITS = { jobs: 10_000, bytes: 2 ** 30 } as const;

/** Far more than the demo needs. */
const ASSET_LIMITS = { memberBytes: 2 ** 30, totalBytes: 2 ** 30 } as const;

export interface Past {
  readonly store: Store;
  readonly files: ByteStore;
  readonly scene: Scene;
  readonly random: Random;
  /** Retention of the files that a job generated. */
  readonly retentionMs: number;
}

/** Submits a job at this past time, and ends it soon after. */
export async function submitAndEnd(past: Past, job: PastJob, at: number): Promise<void> {
  const submission = {
    ...submissionOf(past.scene, job.member, at),
    id: ulid(at),
    item: itemOf(job),
  };
  const outcome = await past.store.createJob(submission, LIMITS, at);
  if (outcome.kind !== 'created') throw new Error(`a past job was not created: ${outcome.kind}`);
  await end(past, job, { id: outcome.value.id, at });
}

/** A batch whose jobs have all ended. */
export async function submitBatchAndEnd(
  past: Past,
  label: string,
  { jobs, at }: { readonly jobs: readonly [PastJob, ...PastJob[]]; readonly at: number },
): Promise<void> {
  const { store, scene } = past;
  const submission = submissionOf(scene, jobs[0].member, at);
  const batch = { ...submission, label, items: jobs.map(itemOf) };
  const outcome = await store.createBatch(batch, LIMITS, at);
  if (outcome.kind !== 'created') throw new Error(`a past batch was not created: ${outcome.kind}`);
  const detail = await store.findBatch(outcome.value.id, null);
  const ids = detail?.jobs.map(({ id }) => id) ?? [];
  await Promise.all(
    jobs.map((job, index) => end(past, job, { id: ids[index] ?? '', at: at + index * 4_000 })),
  );
}

interface Created {
  readonly id: string;
  readonly at: number;
}

/** Each step has its own past time, as if the store had been called then. */
async function end(past: Past, job: PastJob, { id, at }: Created): Promise<void> {
  const { store } = past;
  const random = randomOf(job);
  if (job.ending === 'canceled') {
    await store.cancelJob(id, null, at + 8_000);
    return;
  }
  const startedAt = at + 500 + random.below(20_000);
  const endedAt = startedAt + 2_000 + random.below(12_000);
  const claim = await claimed(past, job, { id, at: startedAt });
  if (job.ending === 'done') return finish(past, job, { ...claim, at: endedAt });
  const message = 'The model server of the provider ran out of memory (CUDA out of memory).';
  const error = { message, type: 'upstream_error', code: 'provider_error', param: null } as const;
  await store.failJob({ ...claim, retryable: false, error, random: 1 }, endedAt);
}

async function claimed(past: Past, job: PastJob, created: Created): Promise<HeldClaim> {
  const { id: jobId, at } = created;
  const { machine, serviceId } = placeOf(job.model);
  const { providerId } = machineNamed(past.scene, machine.name);
  const claim = { claimId: randomId(), linkId: 'past' };
  const lease = { serviceId, leaseUntil: at + LEASE_MS };
  const isOwn = machine.owner === job.member;
  await past.store.claimJobs([{ jobId, ...claim, providerId, ...lease, isOwn }], at);
  await past.store.acceptJob(claim, at + HOUR_MS, at);
  return claim;
}

interface Claimed extends HeldClaim {
  readonly at: number;
}

async function finish(past: Past, job: PastJob, { at, ...claim }: Claimed): Promise<void> {
  const made = await makeResult(job);
  const assets = await Promise.all(made.files.map((file) => keep(past, job, { ...file, at })));
  const { totalMs: _, ...usage } = cost(job.endpoint, {
    random: randomOf(job),
    machine: placeOf(job.model).machine,
  });
  const finished = { ...claim, result: made.text, assets, assetLimits: ASSET_LIMITS, usage };
  const outcome = await past.store.finishJob(finished, at);
  if (outcome.kind !== 'stored') throw new Error(`a past result was not stored: ${outcome.kind}`);
}

interface NewFile {
  readonly bytes: Uint8Array;
  readonly contentType: string;
  readonly seconds: number | null;
  readonly at: number;
}

/** Stores the file before its row, as for every asset. */
async function keep(past: Past, job: PastJob, file: NewFile): Promise<Asset> {
  const draft = past.files.draft();
  void draft.write(file.bytes);
  const committed = await draft.commit();
  const member = past.scene.members[job.member];
  return {
    id: draft.id,
    memberId: member.id,
    keyId: member.keyIds[0] ?? null,
    providerId: machineNamed(past.scene, placeOf(job.model).machine.name).providerId,
    requestId: requestId(file.at),
    model: job.model,
    endpoint: job.endpoint,
    contentType: file.contentType,
    seconds: file.seconds,
    ...committed,
    createdAt: file.at,
    expiresAt: file.at + past.retentionMs,
  };
}

/** A generator per job: jobs are written in parallel, in a varying order. */
function randomOf({ member, body }: PastJob): Random {
  return new Random(seedOf(`${member} ${JSON.stringify(body)}`));
}

function submissionOf({ members }: Scene, name: MemberName, at: number): Submission {
  return {
    memberId: members[name].id,
    keyId: members[name].keyIds[0] ?? '',
    scope: 'any',
    requestId: requestId(at),
    maxAttempts: MAX_ATTEMPTS,
    idempotencyKey: null,
    webhook: null,
  };
}

function itemOf({ endpoint, model, body }: PastJob) {
  const bytes = Buffer.from(JSON.stringify({ model, ...body }));
  const excerpt = requestExcerpt(endpoint, body);
  return { endpoint, model, needs: NO_NEEDS, body: bytes, excerpt };
}

const SIDE = 512;

const VOICE_HERTZ = 247;

const MUSIC_S = 10;

const WAV_BYTES_A_SECOND = 32_000;

interface Made {
  /** JSON of a text job; null if the job made files. */
  readonly text: Uint8Array | null;
  readonly files: readonly {
    readonly bytes: Uint8Array;
    readonly contentType: string;
    readonly seconds: number | null;
  }[];
}

/** The result of a finished job: a chat's answer, or files. */
async function makeResult({ endpoint, model, body }: PastJob): Promise<Made> {
  const asked = JSON.stringify(body);
  switch (endpoint) {
    case 'images': {
      // The seed that the machines use for the prompt, so that a retry gives the same picture.
      const picture = drawLandscape(seedOf(`${String(body['prompt'])} 0 0`), SIDE, SIDE);
      const file = { bytes: await encodePng(picture), contentType: 'image/png', seconds: null };
      return { text: null, files: [file] };
    }
    case 'speech': {
      const text = String(body['input']);
      return sound(hum(text.split(' '), VOICE_HERTZ, seedOf(text)));
    }
    case 'music':
      return sound(chords(MUSIC_S, seedOf(asked)));
    default:
      return { text: Buffer.from(JSON.stringify(answerTo(asked, model))), files: [] };
  }
}

function sound(bytes: Buffer): Made {
  const seconds = Math.round((bytes.length / WAV_BYTES_A_SECOND) * 100) / 100;
  return { text: null, files: [{ bytes, contentType: 'audio/wav', seconds }] };
}

function answerTo(asked: string, model: string): object {
  const { answer } =
    CHATS.find(({ question }) => asked.includes(question.slice(0, 20))) ?? CHATS[0];
  const message = { role: 'assistant', content: answer };
  return {
    id: `chatcmpl-${seedOf(asked)}`,
    object: 'chat.completion',
    created: Math.floor(SYSTEM_CLOCK.now() / 1000),
    model,
    choices: [{ index: 0, message, finish_reason: 'stop' }],
    usage: { prompt_tokens: 24, completion_tokens: 140, total_tokens: 164 },
  };
}

/** A job that ended before the demo started. */
export interface PastJob extends DemoRequest {
  readonly member: MemberName;
  readonly ending: 'done' | 'failed' | 'canceled';
}
