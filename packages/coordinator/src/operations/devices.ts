import { assertNever } from '@inference-gateway/shared/assert';
import { CommandError, EXIT, TooManyTries } from '@inference-gateway/shared/program/command-error';
import { isSecret, readUserCode } from '@inference-gateway/shared/ids';
import * as z from 'zod';
import { CODE_LOCK_OUT_MS } from '../core/access/log-in-throttle.js';
import type {
  DeviceLogin,
  FoundDevice,
  LockedOut,
  Member,
  Store,
  WrongCode,
} from '../store/port.js';
import { adminChange, adminRead } from './operation.js';
import { resolveMember, secretInArgument } from './references.js';

const decision = z.strictObject({
  /** As the device shows it, case-insensitive, with or without its hyphen. */
  code: z.string(),
  owner: z.string(),
});

export const listDevices = adminRead(z.strictObject({}), async ({ store, now }) =>
  (await store.listDevices(now())).map(present),
);

/** The log-in that `device.approve` would approve. A wrong code counts here, too. */
export const findDevice = adminChange(decision, async ({ store, address, now }, args) => {
  const code = requireCode(args.code);
  const owner = await resolveOwner(store, args.owner);
  const found = await store.findDevice({ userCode: code, address }, now());
  if (found.kind !== 'pending') throw undecidable(code, found);
  return { ...present(found.value), owner: owner.name };
});

const approval = decision.extend({
  /**
   * An administrator also approves the provider: it needs no further approval.
   */
  vouches: z.boolean().default(true),
});

export const approveDevice = adminChange(approval, async ({ store, address, now }, args) => {
  const code = requireCode(args.code);
  const owner = await resolveOwner(store, args.owner);
  const approved = await store.approveDevice(
    { userCode: code, address, ownerId: owner.id, approvesProvider: args.vouches },
    now(),
  );
  if (approved.kind === 'changed') return { ...present(approved.value), owner: owner.name };
  if (approved.kind !== 'taken') throw undecidable(code, approved);
  const message =
    `${owner.name} has a provider of this name already: nothing has changed. Deny this log-in, ` +
    'and log in again with another --name.';
  throw new CommandError(EXIT.conflict, message);
});

export const denyDevice = adminChange(
  z.strictObject({ code: z.string() }),
  async ({ store, address, now }, args) => {
    const code = requireCode(args.code);
    const denied = await store.denyDevice({ userCode: code, address }, now());
    if (denied.kind !== 'changed') throw undecidable(code, denied);
    return present(denied.value);
  },
);

function requireCode(typed: string): string {
  if (isSecret('gwd', typed)) throw secretInArgument("the machine's own device code", 'its code');
  const code = readUserCode(typed);
  if (code !== null) return code;
  const message =
    `'${typed.slice(0, MAX_SHOWN)}' is not a code: a code has eight letters, no vowels, ` +
    'such as BCDF-GHJK. The machine shows it where "gateway-agent login" runs.';
  throw new CommandError(EXIT.usage, message);
}

const MAX_SHOWN = 64;

async function resolveOwner(store: Store, reference: string): Promise<Member> {
  const owner = await resolveMember(store, reference);
  if (owner.disabledAt === null) return owner;
  const message = `${owner.name} is disabled: enable them first, or name another owner.`;
  throw new CommandError(EXIT.conflict, message);
}

type Undecidable = Exclude<FoundDevice, { kind: 'pending' }>;

function undecidable(code: string, found: Undecidable): CommandError {
  switch (found.kind) {
    case 'wrong':
      return wrong(code, found);
    case 'locked':
      return locked(found);
    case 'over':
      return over(found.value);
    default:
      return assertNever(found);
  }
}

/** The error for a wrong code, with the number of attempts left. */
function wrong(code: string, { waiting, triesLeft }: WrongCode): CommandError {
  const none = waiting === 0 ? ': none waits' : '';
  const cost =
    triesLeft === 0
      ? `That was one wrong code too many: wait ${LOCK_OUT_MINUTES} minutes before the next one.`
      : `Wrong codes until you have to wait ${LOCK_OUT_MINUTES} minutes: ${triesLeft}.`;
  const message = `no machine that waits has the code ${code}${none}. ${cost}`;
  return new CommandError(EXIT.notFound, `${message} The code is shown where "login" runs.`);
}

const LOCK_OUT_MINUTES = CODE_LOCK_OUT_MS / 60_000;

function locked({ retryAfterMs }: LockedOut): CommandError {
  const retryAfterS = Math.ceil(retryAfterMs / 1_000);
  const message =
    'too many wrong codes came from you or from your address, and this one was not looked at. ' +
    `The machine waits on. Try again in ${retryAfterS} seconds.`;
  return new TooManyTries(message, retryAfterS);
}

function over({ userCode, state }: DeviceLogin): CommandError {
  const message = `the log-in ${userCode} ${ENDS[state]}: nothing has changed.`;
  return new CommandError(EXIT.conflict, message);
}

const ENDS: Readonly<Record<DeviceLogin['state'], string>> = {
  pending: 'has expired',
  approved: 'is approved already',
  denied: 'is denied already',
  done: 'has made its provider already',
};

function present(login: DeviceLogin) {
  return {
    id: login.id,
    code: login.userCode,
    /** The requested name of the provider; null: the coordinator chooses one. */
    name: login.name,
    host: login.host,
    address: login.address,
    wrong_codes: login.wrongTries,
    created_at: login.createdAt,
    expires_at: login.expiresAt,
  };
}
