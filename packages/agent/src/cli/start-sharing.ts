/** What a start shares: according to its flags, or to its owner's answers at a first start. */
import { SYSTEM_CLOCK } from '@inference-gateway/shared/clock';
import { CommandError, EXIT } from '@inference-gateway/shared/program/command-error';
import { say } from '@inference-gateway/shared/program/print';
import { existsSync } from 'node:fs';
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import type { ServiceConfig } from '../backends/backend.js';
import { createBackend } from '../backends/create-backend.js';
import { askOwnProvider, networkName, shareOwn } from '../coordinator-api/own-provider.js';
import type { OwnProvider, OwnShare } from '../coordinator-api/own-provider.js';
import type { Coordinator } from './ask-running.js';
import { shareText } from './services-share.js';
import { askYesNo, withTerminal } from '@inference-gateway/shared/program/terminal';
import type { Streams, Terminal } from '@inference-gateway/shared/program/terminal';
import { writeDurably } from '../state/write-durably.js';

export interface SharingFlags {
  /** Name or id. */
  readonly share?: string;
  readonly yes?: boolean;
  readonly demo?: boolean;
}

export interface Sharing {
  readonly coordinator: Coordinator;
  readonly services: readonly ServiceConfig[];
  readonly flags: SharingFlags;
  readonly stateDir: string;
  /** The terminal for questions; null: there is none. */
  readonly streams: Streams | null;
}

/** Time limit for each local server before its owner is asked about it. */
const LOOK_TIMEOUT_MS = 3_000;

/** There is no terminal for questions, and no flag makes them unnecessary. */
export function refuseUnasked({ share, yes }: SharingFlags, streams: Streams | null): void {
  if (share === undefined || yes === true || streams !== null) return;
  throw new CommandError(
    EXIT.usage,
    `start --share ${share} lets others use this machine, and nobody can be asked here: add --yes.`,
  );
}

/**
 * Decides on shares before anything is served, and returns the remaining step for when the agent is
 * online: an unreachable coordinator must not prevent a start.
 */
export async function settleSharing(sharing: Sharing): Promise<() => Promise<void>> {
  const { flags, services, streams } = sharing;
  const asked = flags.yes === true ? null : streams;
  // The demo asks no questions.
  if (flags.demo === true && flags.share === undefined) return nothing;
  if (services.length === 0 || (flags.share === undefined && asked === null)) return nothing;
  if (flags.share === undefined && wasAskedToShare(sharing.stateDir)) return nothing;
  try {
    await shareNow(sharing, await askOwnProvider(sharing.coordinator), asked);
  } catch (error) {
    if (!isUnreachable(error)) throw error;
    if (flags.share === undefined || asked !== null) return nothing;
    say(`Nothing is shared yet: ${error.message}`);
    return () => shareLater(sharing);
  }
  return nothing;
}

/** Everything is done, or there was nothing to do. */
const nothing = (): Promise<void> => Promise.resolve();

async function shareNow(sharing: Sharing, own: OwnProvider, asked: Streams | null): Promise<void> {
  const { flags, services } = sharing;
  if (flags.share === undefined)
    return asked === null ? undefined : askAndShare(sharing, own, asked);
  const network = flags.share;
  const missing = services.filter(({ id }) => !isShared(id, networkName(own, network), own.shares));
  if (missing.length === 0) return;
  const question = `Share ${missing.map(({ id }) => id).join(', ')} with ${network}?`;
  const isWanted =
    asked === null || (await withTerminal(asked, (one) => askYesNo(one, question, false)));
  if (!isWanted) return;
  await shareEach(sharing, missing, network);
}

/** The agent is online: a failed share is reported, and does not stop it. */
async function shareLater(sharing: Sharing): Promise<void> {
  try {
    await shareNow(sharing, await askOwnProvider(sharing.coordinator), null);
  } catch (error) {
    if (!(error instanceof CommandError)) throw error;
    say(`warning: nothing is shared: ${error.message}`);
  }
}

async function askAndShare(sharing: Sharing, own: OwnProvider, asked: Streams): Promise<void> {
  // There is no network to share with, or it was done before: no question is needed.
  if (own.shares.length > 0 || own.networks.length === 0) return;
  const offered = await Promise.all(sharing.services.map(look));
  const offer = { services: offered, networks: own.networks };
  const choice = await withTerminal(asked, (one) => askWhatToShare(offer, one));
  const chosen = sharing.services.filter(({ id }) => choice?.services.includes(id) === true);
  if (choice !== null) await shareEach(sharing, chosen, choice.network);
  await noteShareAnswer(sharing.stateDir, SYSTEM_CLOCK.now());
  if (choice === null) say('Everything stays private. Later: gateway-agent services share.');
}

async function shareEach(
  { coordinator }: Sharing,
  services: readonly ServiceConfig[],
  network: string,
): Promise<void> {
  const caps = { slots: null, hours: null, time_zone: null, max_tokens: null };
  for (const { id } of services) {
    const made = await shareOwn(coordinator, { network, service_id: id, model: null, ...caps });
    say(`Shared: ${shareText(made)}.`);
  }
}

/** By its own share or a share of all services: a share with limits keeps them. */
function isShared(id: string, network: string, shares: readonly OwnShare[]): boolean {
  return shares.some(
    (share) =>
      share.network === network &&
      (share.service_id === id || (share.service_id === null && share.model === null)),
  );
}

async function look(service: ServiceConfig): Promise<OfferedService> {
  const { id, type, baseUrl } = service;
  try {
    const signal = AbortSignal.timeout(LOOK_TIMEOUT_MS);
    const { models } = await createBackend(service).describe(signal);
    return { id, type, baseUrl, models: models.map((model) => model.id) };
  } catch {
    return { id, type, baseUrl, models: null };
  }
}

function isUnreachable(error: unknown): error is CommandError {
  return error instanceof CommandError && error.exitCode === EXIT.coordinatorUnreachable;
}

// The questions of a first start on a terminal: what to share of this machine, and with which
// network.
export interface Offer {
  readonly services: readonly OfferedService[];
  readonly networks: OwnProvider['networks'];
}

interface OfferedService {
  readonly id: string;
  readonly type: string;
  readonly baseUrl: string;
  /** Null: its server does not answer now. */
  readonly models: readonly string[] | null;
}

export interface Choice {
  /** Ids. If empty, nothing is shared. */
  readonly services: readonly string[];
  /** Its id. */
  readonly network: string;
}

/** Limit of wrong answers to one question; after that nothing is shared. */
const MAX_TRIES = 3;

/** Null: everything stays private. Enter always means this. */
export async function askWhatToShare(offer: Offer, terminal: Terminal): Promise<Choice | null> {
  const { services, networks } = offer;
  terminal.tell('Nothing of this machine is shared: only you can use it. It has');
  services.forEach((service, index) => terminal.tell(`  ${index + 1}  ${serviceText(service)}`));
  const chosen = await askServices(terminal, services.length);
  if (chosen.length === 0) return null;
  const network = await askNetwork(terminal, networks);
  if (network === null) return null;
  const ids = chosen.flatMap((number) => services[number - 1]?.id ?? []);
  return { services: ids, network: network.id };
}

/** The numbers of the services to share. */
async function askServices(terminal: Terminal, count: number): Promise<readonly number[]> {
  if (count === 1) return (await askYesNo(terminal, 'Share it?', false)) ? [1] : [];
  const which = 'What do you share? Numbers as 1 2, or all; Enter keeps everything private: ';
  return askNumbers(terminal, which, count);
}

function serviceText({ id, type, baseUrl, models }: OfferedService): string {
  const list = models?.slice(0, MAX_MODELS).join(', ') ?? 'it does not answer now';
  const more = (models?.length ?? 0) > MAX_MODELS ? ', …' : '';
  return `${id}  ${type} at ${baseUrl}: ${list === '' ? 'no model' : list}${more}`;
}

/** Models of one service on one line. */
const MAX_MODELS = 6;

type Network = OwnProvider['networks'][number];

async function askNetwork(
  terminal: Terminal,
  networks: readonly Network[],
): Promise<Network | null> {
  const [only, ...others] = networks;
  if (only === undefined) return null;
  if (others.length === 0) {
    return (await askYesNo(terminal, `With ${networkText(only)}?`, false)) ? only : null;
  }
  networks.forEach((one, index) => terminal.tell(`  ${index + 1}  ${networkText(one)}`));
  const which = 'With which network? One number; Enter keeps everything private: ';
  const [number, ...more] = await askNumbers(terminal, which, networks.length);
  if (number === undefined || more.length > 0) return null;
  return networks[number - 1] ?? null;
}

function networkText({ name, members }: Network): string {
  return `${name} (${members} ${members === 1 ? 'member' : 'members'})`;
}

/** From 1; empty if the answer is empty, or wrong for the last time. */
async function askNumbers(
  { ask, tell }: Terminal,
  question: string,
  most: number,
): Promise<readonly number[]> {
  for (let i = 0; i < MAX_TRIES; i++) {
    const answer = await ask(question);
    if (answer === null || answer === '') return [];
    const numbers = readNumbers(answer, most);
    if (numbers !== null) return numbers;
    tell(`'${answer.slice(0, 40)}' is none of them: write numbers from 1 to ${most}.`);
  }
  tell('Then everything stays private.');
  return [];
}

function readNumbers(answer: string, most: number): readonly number[] | null {
  if (/^all$/i.test(answer)) return Array.from({ length: most }, (_, index) => index + 1);
  const numbers = answer.split(/[\s,]+/).map(Number);
  const areGood = numbers.every((one) => Number.isInteger(one) && one >= 1 && one <= most);
  return areGood ? [...new Set(numbers)] : null;
}

// Records that the owner was asked what to share: `share-answer.json` in the state folder. An owner
// who keeps everything private is not asked again at every start.

function wasAskedToShare(stateDir: string): boolean {
  return existsSync(fileOf(stateDir));
}

async function noteShareAnswer(stateDir: string, answeredAt: number): Promise<void> {
  await mkdir(stateDir, { recursive: true, mode: 0o700 });
  await writeDurably(fileOf(stateDir), JSON.stringify({ answered_at: answeredAt }));
}

function fileOf(stateDir: string): string {
  return join(stateDir, 'share-answer.json');
}
