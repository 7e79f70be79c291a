/**
 * The part of the store's port for device log-ins (RFC 8628): the device polls with its device
 * code, and a member with the right to approve it types the user code.
 */
import type { Created, NameTaken } from './outcomes.js';
import type { EnrollRefusal, Provider } from './provider-store.js';

export interface DeviceLogin {
  readonly id: string;
  /** `BCDF-GHJK`. */
  readonly userCode: string;
  /** The requested name of the provider; null: the coordinator chooses one. */
  readonly name: string | null;
  /** The host name of the device. */
  readonly host: string | null;
  /** The address of its request. */
  readonly address: string;
  readonly createdAt: number;
  readonly expiresAt: number;
  /** Unknown codes that were typed, by any account, while it waited. */
  readonly wrongTries: number;
  /** Neither `pending` nor `approved` outlives `expiresAt`. */
  readonly state: 'pending' | 'approved' | 'denied' | 'done';
  readonly ownerId: string | null;
  /** The provider that it became. */
  readonly providerId: string | null;
}

export interface NewDeviceLogin {
  readonly deviceHash: string;
  readonly userCode: string;
  readonly name: string | null;
  readonly host: string | null;
  readonly address: string;
  readonly expiresAt: number;
}

/** A typed code. Wrong ones are counted against the actor and the address. */
export interface TypedCode {
  readonly userCode: string;
  /** Null if it was typed on this machine's command line. */
  readonly address: string | null;
}

export interface DeviceApproval extends TypedCode {
  readonly ownerId: string;
  /** True: the provider needs no further approval under any policy. */
  readonly approvesProvider: boolean;
}

export interface NewDeviceProvider {
  readonly deviceHash: string;
  /** Hash of the agent's own token. */
  readonly tokenHash: string;
  /** The policy for providers that were not approved with their log-in. */
  readonly approved: boolean;
}

/** An unknown code. */
export interface WrongCode {
  readonly kind: 'wrong';
  /** Waiting log-ins. */
  readonly waiting: number;
  /** Wrong codes left before the account is locked out; 0: it is locked out from now on. */
  readonly triesLeft: number;
}

/** Locked out after too many wrong codes: this one was not checked. */
export interface LockedOut {
  readonly kind: 'locked';
  readonly retryAfterMs: number;
}

/** The log-in of a code that can still be decided. */
export type FoundDevice =
  | { readonly kind: 'pending'; readonly value: DeviceLogin }
  /** Decided, ended or expired already. */
  | { readonly kind: 'over'; readonly value: DeviceLogin }
  | WrongCode
  | LockedOut;

export type DecidedDevice =
  | { readonly kind: 'changed'; readonly value: DeviceLogin }
  | Exclude<FoundDevice, { kind: 'pending' }>;

export type CollectedDevice =
  | Created<Provider>
  | { readonly kind: 'waiting' }
  | {
      readonly kind: 'refused';
      readonly reason: Exclude<EnrollRefusal['reason'], 'revoked'> | 'denied';
    };

export interface DeviceStore {
  /**
   * Null if too many wait already, in total or of this network (`mayWait`), or if by chance a
   * waiting one has the same code: a later attempt has another code.
   */
  createDevice(login: NewDeviceLogin, now: number): Promise<DeviceLogin | null>;
  /** Log-ins that wait for a decision, the oldest first. */
  listDevices(now: number): Promise<readonly DeviceLogin[]>;
  /** Before deciding. It also counts wrong codes, or it could be used for guessing. */
  findDevice(typed: TypedCode, now: number): Promise<FoundDevice>;
  /** `taken` if the owner has another provider of its name; it continues to wait then. */
  approveDevice(approval: DeviceApproval, now: number): Promise<DecidedDevice | NameTaken>;
  denyDevice(typed: TypedCode, now: number): Promise<DecidedDevice>;
  /** Registers the provider and ends the log-in, both or neither, and once. */
  collectDevice(provider: NewDeviceProvider, now: number): Promise<CollectedDevice>;
}
