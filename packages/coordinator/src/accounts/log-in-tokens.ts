/**
 * What a browser carries between the two halves of a log-in: challenges of passkeys, which are
 * signed, and the state of a log-in at an OpenID provider, which is encrypted. Nothing is stored
 * until the second half, so that strangers cannot fill the database. Any coordinator of the
 * database can finish what another one began, and one that is alone after a restart.
 */
import { hashSecret, keptSecret } from '@inference-gateway/shared/program/secret';
import {
  createCipheriv,
  createDecipheriv,
  createHmac,
  hkdfSync,
  randomBytes,
  timingSafeEqual,
} from 'node:crypto';
import { join } from 'node:path';
import type { SpentChallenge, Store } from '../store/port.js';

const SECRET_BYTES = 32;
const NONCE_BYTES = 16;
const EXPIRY_BYTES = 6;
const MAC_BYTES = 16;
/** Of AES-256-GCM. */
const IV_BYTES = 12;
const TAG_BYTES = 16;
const CIPHER = 'aes-256-gcm';

/** For what a challenge is made; one for another purpose, or another member, is not accepted. */
export type ChallengePurpose = 'log-in' | `registration of ${string}`;

export class LogInTokens {
  readonly #macKey: Buffer;
  readonly #cipherKey: Buffer;
  readonly #now: () => number;

  constructor(secret: Uint8Array, now: () => number) {
    this.#macKey = derive(secret, 'challenges');
    this.#cipherKey = derive(secret, 'states');
    this.#now = now;
  }

  makeChallenge(purpose: ChallengePurpose, lifetimeMs: number): Uint8Array<ArrayBuffer> {
    const body = Buffer.alloc(NONCE_BYTES + EXPIRY_BYTES);
    randomBytes(NONCE_BYTES).copy(body);
    body.writeUIntBE(this.#now() + lifetimeMs, NONCE_BYTES, EXPIRY_BYTES);
    return new Uint8Array(Buffer.concat([body, this.#mac(purpose, body)]));
  }

  /** Null if it was not made here for this purpose, or has expired. The store says if it is new. */
  judgeChallenge(purpose: ChallengePurpose, challenge: string): SpentChallenge | null {
    const bytes = Buffer.from(challenge, 'base64url');
    if (bytes.length !== NONCE_BYTES + EXPIRY_BYTES + MAC_BYTES) return null;
    const body = bytes.subarray(0, NONCE_BYTES + EXPIRY_BYTES);
    const isOurs = timingSafeEqual(bytes.subarray(body.length), this.#mac(purpose, body));
    const expiresAt = body.readUIntBE(NONCE_BYTES, EXPIRY_BYTES);
    if (!isOurs || expiresAt <= this.#now()) return null;
    return { hash: hashSecret(bytes.toString('base64url')), expiresAt };
  }

  /** Encrypts a state, which is JSON. */
  seal(state: object): string {
    const iv = randomBytes(IV_BYTES);
    const cipher = createCipheriv(CIPHER, this.#cipherKey, iv);
    const sealed = Buffer.concat([cipher.update(JSON.stringify(state)), cipher.final()]);
    return Buffer.concat([iv, cipher.getAuthTag(), sealed]).toString('base64url');
  }

  /** Null if it was not sealed here, or changed. */
  unseal(sealed: string): unknown {
    const bytes = Buffer.from(sealed, 'base64url');
    if (bytes.length <= IV_BYTES + TAG_BYTES) return null;
    const decipher = createDecipheriv(CIPHER, this.#cipherKey, bytes.subarray(0, IV_BYTES));
    decipher.setAuthTag(bytes.subarray(IV_BYTES, IV_BYTES + TAG_BYTES));
    try {
      const opened = [decipher.update(bytes.subarray(IV_BYTES + TAG_BYTES)), decipher.final()];
      return JSON.parse(Buffer.concat(opened).toString());
    } catch {
      return null;
    }
  }

  #mac(purpose: ChallengePurpose, body: Uint8Array): Buffer {
    const mac = createHmac('sha256', this.#macKey).update(`${purpose}\n`).update(body).digest();
    return mac.subarray(0, MAC_BYTES);
  }
}

interface TokenParts {
  readonly store: Pick<Store, 'sharedSecret'>;
  readonly dataDir: string;
  /** Null: the database is this coordinator's alone. */
  readonly databaseUrl: string | null;
  readonly now: () => number;
}

/** Not part of backups: with it and an invite's hash, an archive could make a member. */
const SECRET_FILE = 'log-ins.key';

/** Coordinators of one database on PostgreSQL have one secret, in it; others in their folder. */
export async function openLogInTokens({ store, dataDir, databaseUrl, now }: TokenParts) {
  const secret =
    databaseUrl === null
      ? await keptSecret(join(dataDir, SECRET_FILE))
      : await store.sharedSecret('log-ins', randomBytes(SECRET_BYTES), now());
  return new LogInTokens(secret, now);
}

function derive(secret: Uint8Array, purpose: string): Buffer {
  return Buffer.from(hkdfSync('sha256', secret, '', purpose, SECRET_BYTES));
}
