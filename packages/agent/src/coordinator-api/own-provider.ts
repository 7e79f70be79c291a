/**
 * What the coordinator knows of this agent's own provider, and its shares: the requests that an
 * agent makes with its own token beside its link.
 */
import { SELF_PATH, SHARES_PATH } from '@inference-gateway/shared/protocol/version';
import * as z from 'zod';
import { callCoordinator, noCoordinator, refused } from './coordinator-call.js';
import type { CoordinatorAnswer } from './coordinator-call.js';

/** Names from elsewhere, printed on a terminal: control characters are removed. */
const shown = z.string().transform((text) => text.replaceAll(/\p{Cc}/gu, ' ').slice(0, 256));
const subject = z.string().max(256).nullable();

/** Of a day or a month. */
const amounts = z.object({
  requests: z.number(),
  tokens: z.number(),
  images: z.number(),
  audio_s: z.number(),
  /** End of the period, in Unix ms. */
  until: z.number(),
});

const share = z.object({
  id: z.string().min(1).max(64),
  /** If service and model are null: everything that the provider serves. */
  service_id: subject,
  model: subject,
  /** One of the two is null. */
  network: shown.nullable(),
  member: shown.nullable(),
  slots: z.number().nullable(),
  hours: shown.nullable(),
  max_tokens: z.number().nullable(),
  /** `requests=100,tokens=50000`; older coordinators have none. */
  day: shown.nullish(),
  month: shown.nullish(),
  /**
   * By all others together; null if there is neither day nor month. Older coordinators do not tell.
   */
  used: z.object({ day: amounts, month: amounts }).nullish(),
});

const made = share.extend({ warning: shown.nullable() });

const self = z.object({
  provider_id: z.string(),
  name: shown,
  /** Public name. */
  owner: shown,
  approved: z.boolean(),
  /** The coordinator's version. */
  version: shown,
  /** The link subprotocols that it supports. */
  protocols: z.array(shown),
  /** Unix ms. */
  server_time: z.number(),
  /** The owner's networks. */
  networks: z.array(z.object({ id: z.string(), name: shown, members: z.number() })),
  shares: z.array(share),
});

export type OwnShare = z.infer<typeof share>;
export type OwnProvider = z.infer<typeof self>;

export interface CoordinatorAccess {
  /** The coordinator, without a trailing slash. */
  readonly url: string;
  readonly token: string;
  /** For each answer; default: 15 s. */
  readonly timeoutMs?: number;
}

export interface WantedShare {
  /** Name or id. */
  readonly network: string;
  readonly service_id: string | null;
  readonly model: string | null;
  readonly slots: number | null;
  readonly hours: string | null;
  /** An IANA name, if there are hours. */
  readonly time_zone: string | null;
  readonly max_tokens: number | null;
  /** `requests=100,tokens=50000`; absent: no limit. Older coordinators refuse it. */
  readonly day?: string;
  readonly month?: string;
}

/** Each throws a `CommandError` that distinguishes a refusal and an unreachable coordinator. */
export async function askOwnProvider(access: CoordinatorAccess): Promise<OwnProvider> {
  const answer = await callCoordinator({ ...access, path: SELF_PATH, method: 'GET' });
  const asked = { url: access.url, what: "question for the agent's own provider" };
  return read(self, answer, { ...asked, status: 200 });
}

export async function shareOwn(
  access: CoordinatorAccess,
  wanted: WantedShare,
): Promise<z.infer<typeof made>> {
  const answer = await callCoordinator({ ...access, path: SHARES_PATH, body: wanted });
  return read(made, answer, { url: access.url, what: 'share', status: 201 });
}

export async function unshareOwn(access: CoordinatorAccess, id: string): Promise<void> {
  const path = `${SHARES_PATH}/${encodeURIComponent(id)}`;
  const answer = await callCoordinator({ ...access, path, method: 'DELETE' });
  if (answer.status !== 204) throw refused(answer, { url: access.url, what: 'end of a share' });
}

/** In the coordinator's spelling if the owner is in the network; others stay unchanged. */
export function networkName({ networks }: OwnProvider, reference: string): string {
  const wanted = reference.toLowerCase();
  const found = networks.find(({ id, name }) => id === reference || name.toLowerCase() === wanted);
  return found?.name ?? reference;
}

interface Expected {
  readonly url: string;
  readonly what: string;
  readonly status: number;
}

function read<T>(schema: z.ZodType<T>, answer: CoordinatorAnswer, expected: Expected): T {
  if (answer.status !== expected.status) throw refused(answer, expected);
  const parsed = schema.safeParse(answer.body);
  if (parsed.success) return parsed.data;
  throw noCoordinator(expected, 'its answer is that of another version');
}
