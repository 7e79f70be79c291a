/** What others may still use of shares whose owner has set a quota. */
import type { ServiceType } from '@inference-gateway/shared/endpoints';
import { readSparse } from '@inference-gateway/shared/json/sparse';
import type { ResolvedShare, ShareLeft } from '../core/access/sharing.js';
import { ALL_LEFT } from '../core/access/sharing.js';
import type { OpenRequest } from '../core/routing/links.js';
import { askedAmount, isLimited, NOTHING } from '../core/usage/quota.js';
import type { Amount } from '../core/usage/quota.js';
import type { Account, Reservations } from '../core/usage/quotas.js';

interface ShareQuotaParts {
  readonly quotas: Reservations;
  /** The use of a share has been read: work that waits for it may go on. */
  readonly onCounted: () => void;
}

/** The use of a share as it was last read, by work that waits for nothing else. */
const UNREAD: ShareLeft = { isCounted: false, spent: null };

export class ShareQuotas {
  readonly #parts: ShareQuotaParts;

  constructor(parts: ShareQuotaParts) {
    this.#parts = parts;
  }

  /** For one more call of this type; reads the use in the background if it is not known. */
  left(share: ResolvedShare, provider: string, serviceType: ServiceType): ShareLeft {
    const account = accountOf(share, provider);
    if (account === null) return ALL_LEFT;
    const { quotas } = this.#parts;
    const loading = quotas.load([account]);
    if (loading !== null) void this.#announce(loading);
    if (!quotas.isCounted(account)) return UNREAD;
    return { isCounted: true, spent: quotas.refusalOf([account], LEAST[serviceType]) };
  }

  async #announce(loading: Promise<void>): Promise<void> {
    try {
      await loading;
      this.#parts.onCounted();
    } catch {
      // The database cannot be read: the next look tries again.
    }
  }

  /** Reserves for work that is being sent through the share; false if nothing is left. */
  reserve(share: ResolvedShare, provider: string, request: OpenRequest): boolean {
    const account = accountOf(share, provider);
    if (account === null) return true;
    const { endpoint, body, job, requestId } = request;
    const asked = askedAmount(endpoint, body, () => readSparse(body));
    return this.#parts.quotas.reserveShare(job?.jobId ?? requestId, account, asked) === null;
  }
}

function accountOf({ id, caps }: ResolvedShare, provider: string): Account | null {
  const { quota = null } = caps;
  if (quota === null || !isLimited(quota)) return null;
  return { memberId: '', keyId: null, shareId: id, title: `The share of ${provider}`, quota };
}

const CALL: Amount = { ...NOTHING, requests: 1 };
const TEXT: Amount = { ...CALL, tokens: 1 };
const SOUND: Amount = { ...CALL, audioMs: 1 };

/** What any work of the type uses. */
const LEAST: Readonly<Record<ServiceType, Amount>> = {
  llm: TEXT,
  embedding: TEXT,
  rerank: TEXT,
  image: { ...CALL, images: 1 },
  stt: SOUND,
  tts: SOUND,
  music: SOUND,
  video: CALL,
};
