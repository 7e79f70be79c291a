import { CommandError, EXIT } from '@inference-gateway/shared/program/command-error';
import { isSecret } from '@inference-gateway/shared/ids';
import { readUserCode } from '@inference-gateway/shared/user-code';
import * as z from 'zod';
import type { DeviceLogin, Member, Store, WrongCode } from '../store/port.js';
import { adminCommand } from './admin-context.js';
import { resolveMember, secretInArgument } from './references.js';

const decision = z.strictObject({
  /** As the machine shows it, in any case, with or without its hyphen. */
  code: z.string(),
  owner: z.string(),
});

export const listDevices = adminCommand(z.strictObject({}), async ({ store, now }) =>
  (await store.listDevices(now())).map(present),
);

/** What `device.approve` would approve. A wrong code counts here, too. */
export const findDevice = adminCommand(decision, async ({ store, now }, args) => {
  const code = requireCode(args.code);
  const owner = await resolveOwner(store, args.owner);
  const found = await store.findDevice(code, now());
  if (found.kind === 'wrong') throw wrong(code, found);
  if (found.kind === 'over') throw over(found.value);
  return { ...present(found.value), owner: owner.name };
});

const approval = decision.extend({
  /**
   * Whoever administrates vouches for the provider as well: it waits for no other approval.
   */
  vouches: z.boolean().default(true),
});

export const approveDevice = adminCommand(approval, async ({ store, now }, args) => {
  const code = requireCode(args.code);
  const owner = await resolveOwner(store, args.owner);
  const approved = await store.approveDevice(
    { userCode: code, ownerId: owner.id, approvesProvider: args.vouches },
    now(),
  );
  if (approved.kind === 'wrong') throw wrong(code, approved);
  if (approved.kind === 'over') throw over(approved.value);
  if (approved.kind === 'changed') return { ...present(approved.value), owner: owner.name };
  const message =
    `${owner.name} has a provider of this name already: nothing has changed. Deny this log-in, ` +
    'and log in again with another --name.';
  throw new CommandError(EXIT.conflict, message);
});

export const denyDevice = adminCommand(
  z.strictObject({ code: z.string() }),
  async ({ store, now }, args) => {
    const code = requireCode(args.code);
    const denied = await store.denyDevice(code, now());
    if (denied.kind === 'wrong') throw wrong(code, denied);
    if (denied.kind === 'over') throw over(denied.value);
    return present(denied.value);
  },
);

function requireCode(typed: string): string {
  if (isSecret('gwd', typed)) throw secretInArgument("the machine's own device code", 'its code');
  const code = readUserCode(typed);
  if (code !== null) return code;
  const message =
    `'${typed.slice(0, MAX_SHOWN)}' can be no code: it has eight letters, none of them a vowel, ` +
    'such as BCDF-GHJK. It stands where "gateway-agent login" runs.';
  throw new CommandError(EXIT.usage, message);
}

const MAX_SHOWN = 64;

async function resolveOwner(store: Store, reference: string): Promise<Member> {
  const owner = await resolveMember(store, reference);
  if (owner.disabledAt === null) return owner;
  const message = `${owner.name} is disabled: enable them first, or name another owner.`;
  throw new CommandError(EXIT.conflict, message);
}

/** Whoever types codes is told what it costs: a guess, or a slip. */
function wrong(code: string, { waiting, ended, triesLeft }: WrongCode): CommandError {
  const what = `no machine that waits has the code ${code}`;
  if (waiting === 0) return new CommandError(EXIT.notFound, `${what}: none waits.`);
  const over =
    ended === 0 ? '' : ` Log-ins that it has ended, as their fifth wrong code: ${ended}.`;
  const left =
    triesLeft === 0
      ? ''
      : ` Wrong codes until log-ins end: ${triesLeft}. "device list" shows what waits.`;
  return new CommandError(EXIT.notFound, `${what}.${over}${left}`);
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
    /** What the provider is to be called; null leaves it to the coordinator. */
    name: login.name,
    host: login.host,
    address: login.address,
    wrong_codes: login.wrongTries,
    created_at: login.createdAt,
    expires_at: login.expiresAt,
  };
}
