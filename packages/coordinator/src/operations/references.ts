/**
 * Resolves references to members, keys, providers and networks as people type them. An unknown one
 * exits 3, with a suggestion; an ambiguous one exits 7, with the choices.
 */
import { isSecret } from '@inference-gateway/shared/ids';
import { nearest } from '@inference-gateway/shared/nearest';
import { CommandError, EXIT } from '@inference-gateway/shared/program/command-error';
import { KEY_PREFIX_CHARACTERS } from '../accounts/key-secret.js';
import type { ApiKey, Member, Network, Provider, Store } from '../store/port.js';
import type { AdminContext } from './operation.js';

const SHOWN_CHARACTERS = 64;

/** By id, e-mail address or public name. */
export async function resolveMember(store: Store, reference: string): Promise<Member> {
  const member = await store.findMember(reference);
  if (member !== null) return member;
  const known = (await store.listMembers()).flatMap(({ email, name }) => [email, name]);
  throw unknown('member', { reference, known, list: 'user list' });
}

/** By id, prefix or `OWNER/NAME`. Of keys with the same name, revoked ones come last. */
export async function resolveKey(store: Store, reference: string): Promise<ApiKey> {
  if (isSecret('gwk', reference)) {
    throw secretInArgument(
      'a key itself',
      `its prefix, ${reference.slice(0, KEY_PREFIX_CHARACTERS)}`,
    );
  }
  const keys = await store.listKeys(null);
  const named = await ownersPart(store, reference);
  const matches = keys.filter(
    (key) =>
      key.id === reference ||
      key.prefix === reference ||
      (key.memberId === named?.ownerId && sameName(key.name, named.name)),
  );
  const live = matches.filter(({ revokedAt }) => revokedAt === null);
  // The owner as typed, if valid: suggestions compare only the wrong part.
  const known = keys.map(({ memberId, memberEmail, name }) =>
    memberId === named?.ownerId ? `${named.owner}/${name}` : `${memberEmail}/${name}`,
  );
  return theOne('key', live.length > 0 ? live : matches, {
    reference,
    known,
    list: 'key list',
    label: ({ id, memberEmail, name }) => `${id} (${memberEmail}/${name})`,
  });
}

/** By id, name or `OWNER/NAME`. */
export async function resolveProvider(store: Store, reference: string): Promise<Provider> {
  const providers = await store.listProviders();
  const named = await ownersPart(store, reference);
  const matches = providers.filter(
    (provider) =>
      provider.id === reference ||
      sameName(provider.name, reference) ||
      (provider.ownerId === named?.ownerId && sameName(provider.name, named.name)),
  );
  return theOne('provider', idFirst(matches, reference), {
    reference,
    known: providers.map(({ name }) => name),
    list: 'provider list',
    label: ({ ownerName, name }) => `${ownerName}/${name}`,
  });
}

/** By id or name. */
export async function resolveNetwork(store: Store, reference: string): Promise<Network> {
  const networks = await store.listNetworks();
  const matches = networks.filter(({ id, name }) => id === reference || sameName(name, reference));
  return theOne('network', idFirst(matches, reference), {
    reference,
    known: networks.map(({ name }) => name),
    list: 'network list',
    label: ({ name }) => name,
  });
}

/** An id has precedence over a name, which can be chosen to look like an id. */
function idFirst<T extends { readonly id: string }>(
  matches: readonly T[],
  reference: string,
): readonly T[] {
  const exact = matches.filter(({ id }) => id === reference);
  return exact.length > 0 ? exact : matches;
}

/** Resources without a name are found only by id, without suggestions. */
export function unknownId(noun: 'job' | 'batch' | 'token', reference: string): CommandError {
  const shown = reference.slice(0, SHOWN_CHARACTERS);
  const message = `there is no ${noun} '${shown}'. "${noun} list" shows the newest with their ids.`;
  return new CommandError(EXIT.notFound, message);
}

interface OwnersPart {
  readonly ownerId: string;
  /** As typed. */
  readonly owner: string;
  readonly name: string;
}

/** The two halves of `OWNER/NAME`, or null if the reference has no slash or no such owner. */
async function ownersPart(store: Store, reference: string): Promise<OwnersPart | null> {
  const slash = reference.indexOf('/');
  if (slash === -1) return null;
  const owner = reference.slice(0, slash);
  const member = await store.findMember(owner);
  return member && { ownerId: member.id, owner, name: reference.slice(slash + 1) };
}

interface Search {
  readonly reference: string;
  readonly known: readonly string[];
  /** The command that lists all. */
  readonly list: string;
}

interface LabelledSearch<T> extends Search {
  readonly label: (match: T) => string;
}

function theOne<T>(noun: string, matches: readonly T[], search: LabelledSearch<T>): T {
  const [first, ...others] = matches;
  if (first === undefined) throw unknown(noun, search);
  if (others.length === 0) return first;
  const choices = matches.map(search.label).join(', ');
  const message = `'${search.reference}' is the ${noun} of several: write one of ${choices}.`;
  throw new CommandError(EXIT.conflict, message);
}

export function unknown(noun: string, { reference, known, list }: Search): CommandError {
  const meant = nearest(reference, [...new Set(known)]).join(', ');
  const hint = meant === '' ? '' : ` Did you mean ${meant}?`;
  const shown = reference.slice(0, SHOWN_CHARACTERS);
  return new CommandError(
    EXIT.notFound,
    `no ${noun} is called '${shown}'.${hint} "${list}" shows them all.`,
  );
}

/** `prefer`: the form to use instead. */
export function secretInArgument(what: string, prefer: string): CommandError {
  const message =
    `that is ${what}, which other users of this machine may now have seen. Name it by ${prefer}, ` +
    'and think about revoking it.';
  return new CommandError(EXIT.usage, message);
}

/** Folds a name as the store does for comparison. */
export function sameName(a: string, b: string): boolean {
  return a.toLowerCase() === b.toLowerCase();
}

// Names of members and providers by id.

/** By id, in the form of other commands. */
export async function memberNames(store: Store): Promise<ReadonlyMap<string, string>> {
  return new Map((await store.listMembers()).map(({ id, name }) => [id, name]));
}

/** By id, as `OWNER/NAME`. */
export async function providerNames(store: Store): Promise<ReadonlyMap<string, string>> {
  const providers = await store.listProviders();
  return new Map(providers.map(({ id, ownerName, name }) => [id, `${ownerName}/${name}`]));
}

/**
 * The same for the given ids: a running coordinator has nearly all of them in memory, and reads
 * only the others.
 */
export async function namesOfProviders(
  { store, links }: Pick<AdminContext, 'store' | 'links'>,
  ids: readonly (string | null)[],
): Promise<ReadonlyMap<string, string>> {
  const known = new Map(
    links
      ?.providers()
      .map(({ providerId, ownerName, name }) => [providerId, `${ownerName}/${name}`]),
  );
  const isWhole = ids.every((id) => id === null || id === '' || known.has(id));
  return isWhole ? known : providerNames(store);
}
