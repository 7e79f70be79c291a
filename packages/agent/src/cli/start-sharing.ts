/** What a start shares: what its flags say, or what its owner answers at a first start. */
import { CommandError, EXIT } from '@inference-gateway/shared/program/command-error';
import { say } from '@inference-gateway/shared/program/print';
import type { ServiceConfig } from '../backends/backend.js';
import { createBackend } from '../backends/create-backend.js';
import { askOwnProvider, networkName, shareOwn } from '../coordinator-api/own-provider.js';
import type { OwnProvider, OwnShare } from '../coordinator-api/own-provider.js';
import { noteShareAnswer, wasAskedToShare } from '../state/share-answer.js';
import type { Coordinator } from './enrolled.js';
import { shareText } from './share-text.js';
import { askWhatToShare } from './share-dialogue.js';
import type { OfferedService } from './share-dialogue.js';
import { askYesNo, withTerminal } from '@inference-gateway/shared/program/terminal';
import type { Streams } from '@inference-gateway/shared/program/terminal';

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
  /** Of whoever can be asked; null: nobody. */
  readonly streams: Streams | null;
}

/** Of each local server, before its owner is asked about it. */
const LOOK_TIMEOUT_MS = 3_000;

/** Nobody can be asked, and it was not said that nobody need be. */
export function refuseUnasked({ share, yes }: SharingFlags, streams: Streams | null): void {
  if (share === undefined || yes === true || streams !== null) return;
  throw new CommandError(
    EXIT.usage,
    `start --share ${share} lets others use this machine, and nobody can be asked here: add --yes.`,
  );
}

/**
 * Shares before anything is served, and returns what is left to do once the agent is online: a
 * coordinator that is away now must not keep it from starting.
 */
export async function settleSharing(sharing: Sharing): Promise<() => Promise<void>> {
  const { flags, services, streams } = sharing;
  const asked = flags.yes === true ? null : streams;
  // Whoever tries the demo is not asked about it.
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

/** All is done, or there was nothing to do. */
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

/** It is online: what keeps it from sharing is told, and ends nothing. */
async function shareLater(sharing: Sharing): Promise<void> {
  try {
    await shareNow(sharing, await askOwnProvider(sharing.coordinator), null);
  } catch (error) {
    if (!(error instanceof CommandError)) throw error;
    say(`warning: nothing is shared: ${error.message}`);
  }
}

async function askAndShare(sharing: Sharing, own: OwnProvider, asked: Streams): Promise<void> {
  // Nobody to share with, or done before: nothing to ask.
  if (own.shares.length > 0 || own.networks.length === 0) return;
  const offered = await Promise.all(sharing.services.map(look));
  const offer = { services: offered, networks: own.networks };
  const choice = await withTerminal(asked, (one) => askWhatToShare(offer, one));
  const chosen = sharing.services.filter(({ id }) => choice?.services.includes(id) === true);
  if (choice !== null) await shareEach(sharing, chosen, choice.network);
  await noteShareAnswer(sharing.stateDir, Date.now());
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

/** By itself or with all else: a share that has caps keeps them. */
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
