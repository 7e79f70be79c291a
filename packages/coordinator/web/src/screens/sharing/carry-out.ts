/** Creates a network, shares with it and invites somebody into it, as far as each succeeds. */
import { my } from '../../api/commands.js';
import type { MyResult } from '../../api/commands.js';
import { asFault } from '../../api/fault.js';
import type { Subject } from './shares.js';

/** What the member wants at once. */
interface Plan {
  /** An existing network, or the name of a new one. */
  readonly network: { readonly id: string; readonly name: string } | { readonly newName: string };
  readonly shares: readonly WishedShare[];
  /** Empty: nobody is invited. */
  readonly email: string;
  /** Of the invite. */
  readonly expiresInS: number;
}

export interface WishedShare {
  /** Its row in the form. */
  readonly key: string;
  readonly providerId: string;
  readonly subject: Subject;
  /** "den-pc: everything" */
  readonly what: string;
}

/** The only answer that contains the invite's secret. */
export type MadeInvite = MyResult<'user.invite'>;

export interface Carried {
  readonly network: { readonly id: string; readonly name: string };
  readonly isNew: boolean;
  readonly shared: readonly WishedShare[];
  /** Why a share has no effect yet. */
  readonly warnings: readonly string[];
  readonly failed: readonly { readonly share: WishedShare; readonly message: string }[];
  readonly invite: MadeInvite | null;
  /** Why nobody was invited; null if somebody was, or nobody was to be. */
  readonly inviteFault: string | null;
}

/**
 * Throws a `Fault` if there is no network: then nothing has changed. Later steps that fail do not
 * stop the others.
 */
export async function carryOut({ network: of, shares, email, expiresInS }: Plan): Promise<Carried> {
  const isNew = 'newName' in of;
  const network = isNew ? await my('network.create', { name: of.newName }) : of;
  const shared: WishedShare[] = [];
  const warnings: string[] = [];
  const failed: { share: WishedShare; message: string }[] = [];
  for (const share of shares) {
    try {
      const { warning } = await my('provider.share', argsOf(share, network.id));
      if (warning !== null) warnings.push(warning);
      shared.push(share);
    } catch (thrown) {
      failed.push({ share, message: asFault(thrown).message });
    }
  }
  const invited = await invite(email, network.id, expiresInS);
  const { id, name } = network;
  return { network: { id, name }, isNew, shared, warnings, failed, ...invited };
}

function argsOf({ providerId, subject }: WishedShare, network: string) {
  const limits = { slots: null, hours: null, max_tokens: null, time_zone: null };
  return { provider: providerId, ...subject, network, user: null, ...limits };
}

type Invited = Pick<Carried, 'invite' | 'inviteFault'>;

async function invite(email: string, network: string, expiresInS: number): Promise<Invited> {
  if (email === '') return { invite: null, inviteFault: null };
  try {
    const made = await my('user.invite', { email, network, expires_in_s: expiresInS });
    return { invite: made, inviteFault: null };
  } catch (thrown) {
    return { invite: null, inviteFault: asFault(thrown).message };
  }
}
