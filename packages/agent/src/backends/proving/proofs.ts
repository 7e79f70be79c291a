/** What each model has shown, remembered over restarts, and which one is to be asked next. */
import { createHash } from 'node:crypto';
import type { AdvertisedModel } from '@inference-gateway/shared/protocol/messages';
import type { Proof, ProofFile } from '../../state/proof-file.js';
import type { ServiceConfig } from '../backend.js';
import type { Subject, Trial } from './try-model.js';

/** Whether callers are told of a model. */
export type Verdict =
  | { readonly state: 'offered' }
  /** It has not been asked yet, or is being asked. */
  | { readonly state: 'proving' }
  | { readonly state: 'failed'; readonly reason: string };

/** The first failure may be a stumble, such as a card that was full. */
const FIRST_RETRY_MS = 10 * 60_000;
const LATER_RETRY_MS = 60 * 60_000;
/** Far more than one machine serves; the oldest go first. */
const MAX_PROOFS = 2_048;
/** The local server's own words may be a page. */
const MAX_REASON_CHARACTERS = 500;

export class Proofs {
  readonly #file: ProofFile | null;
  readonly #proofs = new Map<string, Proof>();
  #saved: Promise<void> = Promise.resolve();

  constructor(file: ProofFile | null) {
    this.#file = file;
  }

  /** Takes up those of an earlier process. */
  async restore(): Promise<void> {
    const proofs = (await this.#file?.read()) ?? [];
    for (const proof of proofs.slice(-MAX_PROOFS)) {
      this.#proofs.set(keyOf(proof.service, proof.model), proof);
    }
  }

  verdict(config: ServiceConfig, model: AdvertisedModel): Verdict {
    if (!config.prove) return { state: 'offered' };
    const proof = this.#find(config, model);
    if (proof === null) return { state: 'proving' };
    return proof.ok ? { state: 'offered' } : { state: 'failed', reason: proof.reason ?? 'unknown' };
  }

  /** Those to be asked by now: what has never been asked before what failed, loaded ones first. */
  due(subjects: readonly Subject[], nowMs: number): Subject[] {
    const isDue = (subject: Subject): boolean => this.#isDue(subject, nowMs);
    return subjects.filter(isDue).toSorted((a, b) => this.#rank(a) - this.#rank(b));
  }

  /** Resolves once it would survive a restart; rejects where the disk does not take it. */
  async note({ config, model }: Subject, { ok, reason }: Trial, nowMs: number): Promise<void> {
    const before = this.#find(config, model);
    const key = keyOf(config.id, model.id);
    this.#proofs.delete(key);
    this.#proofs.set(key, {
      service: config.id,
      model: model.id,
      served_name: model.served_name,
      fingerprint: fingerprintOf(config),
      ok,
      reason: reason?.slice(0, MAX_REASON_CHARACTERS) ?? null,
      at: nowMs,
      failures: ok ? 0 : (before?.failures ?? 0) + 1,
    });
    const [oldest] = this.#proofs.keys();
    if (this.#proofs.size > MAX_PROOFS && oldest !== undefined) this.#proofs.delete(oldest);
    await this.#save();
  }

  #isDue({ config, model }: Subject, nowMs: number): boolean {
    if (!config.prove) return false;
    const proof = this.#find(config, model);
    if (proof === null || proof.ok) return proof === null;
    const waitMs = proof.failures > 1 ? LATER_RETRY_MS : FIRST_RETRY_MS;
    // A clock that was set back must not put it off for ever.
    return nowMs - proof.at >= waitMs || proof.at > nowMs;
  }

  #rank({ config, model }: Subject): number {
    return (this.#find(config, model) === null ? 0 : 2) + (model.loaded === true ? 0 : 1);
  }

  #find(config: ServiceConfig, model: AdvertisedModel): Proof | null {
    const proof = this.#proofs.get(keyOf(config.id, model.id));
    const isSame =
      proof?.served_name === model.served_name && proof.fingerprint === fingerprintOf(config);
    return proof !== undefined && isSame ? proof : null;
  }

  async #save(): Promise<void> {
    const saving = this.#saved.then(() => this.#file?.write([...this.#proofs.values()]));
    this.#saved = saving.catch(() => undefined);
    await saving;
  }
}

function keyOf(service: string, model: string): string {
  return JSON.stringify([service, model]);
}

function fingerprintOf({ type, backend, baseUrl }: ServiceConfig): string {
  const hash = createHash('sha256').update(JSON.stringify([type, backend, baseUrl]));
  return hash.digest('hex').slice(0, 16);
}
