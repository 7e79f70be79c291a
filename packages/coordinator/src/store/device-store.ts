/**
 * The part of the store's port that is about machines that log in with a code: RFC 8628, where the
 * machine polls with its device code and somebody who may types the user code.
 */
import type { Created, NameTaken } from './outcomes.js';
import type { EnrollRefusal, Provider } from './provider-store.js';

export interface DeviceLogin {
  readonly id: string;
  /** `BCDF-GHJK`. */
  readonly userCode: string;
  /** What the provider is to be called; null leaves it to the coordinator. */
  readonly name: string | null;
  /** What the machine calls itself. */
  readonly host: string | null;
  /** Where it asked from. */
  readonly address: string;
  readonly createdAt: number;
  readonly expiresAt: number;
  /** Codes that nobody had, typed by anybody while it waited. */
  readonly wrongTries: number;
  /** Neither `pending` nor `approved` outlives `expiresAt`. */
  readonly state: 'pending' | 'approved' | 'denied' | 'done';
  readonly ownerId: string | null;
  /** What it became. */
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

/** A code as somebody has typed it. Wrong ones are counted against the actor and the address. */
export interface TypedCode {
  readonly userCode: string;
  /** Null if it comes from this machine's command line. */
  readonly address: string | null;
}

export interface DeviceApproval extends TypedCode {
  readonly ownerId: string;
  /** True: the provider needs no other approval, whatever the policy. */
  readonly approvesProvider: boolean;
}

export interface NewDeviceProvider {
  readonly deviceHash: string;
  /** Of the agent's own token. */
  readonly tokenHash: string;
  /** What the policy says of providers that nobody has approved with their log-in. */
  readonly approved: boolean;
}

/** A code that nobody has. */
export interface WrongCode {
  readonly kind: 'wrong';
  /** Log-ins that wait. */
  readonly waiting: number;
  /** Wrong codes until whoever typed it is locked out; 0 where they are from now on. */
  readonly triesLeft: number;
}

/** Too many wrong codes before this one, which was not looked at. */
export interface LockedOut {
  readonly kind: 'locked';
  readonly retryAfterMs: number;
}

/** The log-in of a code, as long as somebody can decide about it. */
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
   * Null if too many wait already, in all or of this network (`mayWait`), or where by chance one
   * that waits has this very code: another try, a while later, has another.
   */
  createDevice(login: NewDeviceLogin, now: number): Promise<DeviceLogin | null>;
  /** Those that wait for a decision, the oldest first. */
  listDevices(now: number): Promise<readonly DeviceLogin[]>;
  /** Before deciding. It counts a wrong code, or it would be a way of guessing. */
  findDevice(typed: TypedCode, now: number): Promise<FoundDevice>;
  /** `taken` if the owner has another provider of its name; then it waits on. */
  approveDevice(approval: DeviceApproval, now: number): Promise<DecidedDevice | NameTaken>;
  denyDevice(typed: TypedCode, now: number): Promise<DecidedDevice>;
  /** Registers the provider and ends the log-in, both or neither, and once. */
  collectDevice(provider: NewDeviceProvider, now: number): Promise<CollectedDevice>;
}
