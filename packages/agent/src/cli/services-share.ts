/** `gateway-agent services share` and `unshare`: which services of this machine others may use. */
import { ownTimeZone } from '@inference-gateway/shared/day-hours';
import { CommandError, EXIT } from '@inference-gateway/shared/program/command-error';
import { print, say, usedLimits } from '@inference-gateway/shared/program/print';
import { LINK } from '@inference-gateway/shared/protocol/version';
import { InvalidArgumentError } from 'commander';
import type { Command } from 'commander';
import { loadConfig } from '../config/config.js';
import { readSoundConfig } from '../config/file.js';
import { dayHours } from '../config/schema.js';
import type { FileService } from '../config/schema.js';
import {
  askOwnProvider,
  networkName,
  shareOwn,
  unshareOwn,
} from '../coordinator-api/own-provider.js';
import type { OwnShare } from '../coordinator-api/own-provider.js';
import { requireEnrolled } from './ask-running.js';
import type { Coordinator } from './ask-running.js';
import { configOption, countTo, enterConfig, example } from './options.js';
import type { ConfigOption } from './options.js';
import { serviceIndex } from './services-add.js';

interface ShareOptions extends ConfigOption {
  readonly network: string;
  readonly model?: string;
  readonly slots?: number;
  readonly hours?: string;
  readonly maxTokens?: number;
  readonly day?: string;
  readonly month?: string;
}

interface UnshareOptions extends ConfigOption {
  readonly network?: string;
  readonly model?: string;
}

/** No coordinator allows a longer answer. */
const MAX_TOKENS = 1_000_000;

const LIMITS = 'requests=100,tokens=50000,images=20,audio_s=3600';

/** Throws commander's usage error. */
function parseLimits(written: string): string {
  const isRight = /^(requests|tokens|images|audio_s)=\d{1,12}$/;
  if (written.split(',').every((part) => isRight.test(part))) return written;
  throw new InvalidArgumentError(`Write ${LIMITS}, or some of these.`);
}

/** In place of a service id: everything that this machine serves. */
const ALL = 'all';

export function addServicesShare(services: Command): void {
  services
    .command('share')
    .description('share a service, a model or all with a network; prints the id of the share')
    .argument('<service>', 'as "services list" shows it, or "all"')
    .requiredOption('--network <network>', 'one that you are in: name or id')
    .option('--model <id>', 'with "all": only this model, whichever service has it')
    .option(
      '--slots <n>',
      'slots that all who use the share may take together',
      countTo(LINK.maxStreams),
    )
    .option(
      '--hours <from-until>',
      "only at these hours, such as 22:00-07:00, by this machine's clock",
      parseHours,
    )
    .option('--max-tokens <n>', 'longest answer, in tokens', countTo(MAX_TOKENS))
    .option('--day <limits>', `all others together, in a UTC day: ${LIMITS}`, parseLimits)
    .option('--month <limits>', 'the same in a UTC month', parseLimits)
    .addOption(configOption())
    .addHelpText('after', example('services share llm-1a2b3c4d --network friends --slots 1'))
    .action(share);
  services
    .command('unshare')
    .description('end the shares of a service, or all of this machine; prints their ids')
    .argument('<service>', 'as "services list" shows it, or "all"')
    .option('--network <network>', 'only with this network: name or id')
    .option('--model <id>', 'with "all": only shares of this model')
    .addOption(configOption())
    .addHelpText('after', example('services unshare all --network friends'))
    .action(unshare);
}

async function share(service: string, options: ShareOptions): Promise<void> {
  const { coordinator, services } = await prepare(service, options);
  if (service !== ALL) serviceIndex(service, services);
  const { network, model, slots, hours, maxTokens, day, month } = options;
  const made = await shareOwn(coordinator, {
    network,
    service_id: service === ALL ? null : service,
    model: model ?? null,
    slots: slots ?? null,
    hours: hours ?? null,
    time_zone: hours === undefined ? null : ownTimeZone(),
    max_tokens: maxTokens ?? null,
    ...(day !== undefined && { day }),
    ...(month !== undefined && { month }),
  });
  print(made.id);
  say(`Shared: ${shareText(made)}.`);
  if (made.warning !== null) say(`warning: ${made.warning}`);
}

async function unshare(service: string, options: UnshareOptions): Promise<void> {
  const { coordinator, services } = await prepare(service, options);
  const own = await askOwnProvider(coordinator);
  const { shares } = own;
  const network = options.network === undefined ? undefined : networkName(own, options.network);
  const ended = shares.filter((one) => fits(one, service, { ...options, network }));
  // A service that was removed from the configuration can still be shared.
  if (ended.length === 0 && service !== ALL) serviceIndex(service, services);
  if (ended.length === 0) throw nothingEnded(shares);
  for (const one of ended) {
    await unshareOwn(coordinator, one.id);
    print(one.id);
    say(`No longer shared: ${shareText(one)}.`);
  }
  const left = shares.filter((one) => !ended.includes(one));
  if (left.length > 0) say(`Still shared: ${sharesText(left)}.`);
}

interface Prepared {
  readonly coordinator: Coordinator;
  readonly services: readonly FileService[];
}

async function prepare(
  service: string,
  { config, model }: Pick<UnshareOptions, 'config' | 'model'>,
): Promise<Prepared> {
  const location = enterConfig(config);
  const coordinator = requireEnrolled(await loadConfig(location));
  if (service !== ALL && model !== undefined) {
    const message =
      'a model is shared whichever service has it: write all in the place of the service, or ' +
      'leave out --model.';
    throw new CommandError(EXIT.usage, message);
  }
  const { services = [] } = await readSoundConfig(location);
  return { coordinator, services };
}

interface Fitting {
  readonly model?: string;
  /** By name. */
  readonly network: string | undefined;
}

function fits(share: OwnShare, service: string, { network, model }: Fitting): boolean {
  return (
    (service === ALL || share.service_id === service) &&
    (model === undefined || share.model === model) &&
    (network === undefined || share.network?.toLowerCase() === network.toLowerCase())
  );
}

function nothingEnded(shares: readonly OwnShare[]): CommandError {
  const what = shares.length === 0 ? 'nothing is shared.' : `shared is ${sharesText(shares)}.`;
  return new CommandError(EXIT.notFound, `no share fits that: ${what}`);
}

export function parseHours(text: string): string {
  if (dayHours(text) !== null) return text;
  throw new InvalidArgumentError('Write two times of the day, like 22:00-07:00.');
}

// Formats shares for output.

/** `llm-1a2b3c4d with friends (1 slot, 22:00-07:00 Europe/Berlin)` */
export function shareText(share: OwnShare): string {
  const { service_id: service, model } = share;
  const what = service ?? (model === null ? 'everything' : `the model ${model}`);
  const caps = capsOf(share);
  return `${what} with ${partnerOf(share)}${caps === '' ? '' : ` (${caps})`}`;
}

function sharesText(shares: readonly OwnShare[]): string {
  return shares.map(shareText).join('; ');
}

/**
 * The networks of a service's own shares and of shares of all services; a share of one model names
 * it.
 */
export function partnersOf(serviceId: string, shares: readonly OwnShare[]): string[] {
  const reaching = sharesReaching(serviceId, shares);
  return [...new Set(reaching.map((share) => partnerOf(share) + modelOf(share)))];
}

/** The same for a terminal: with the quotas, and how much of them is used. */
export function partnersText(serviceId: string, shares: readonly OwnShare[]): string {
  const texts = sharesReaching(serviceId, shares).map((share) => {
    const quotas = quotasOf(share).join(', ');
    return partnerOf(share) + modelOf(share) + (quotas === '' ? '' : ` (${quotas})`);
  });
  return [...new Set(texts)].join(', ');
}

/** Shares of the service itself, and of all services. */
export function sharesReaching(serviceId: string, shares: readonly OwnShare[]): OwnShare[] {
  return shares.filter(({ service_id: id }) => id === null || id === serviceId);
}

function modelOf({ model }: OwnShare): string {
  return model === null ? '' : `: ${model}`;
}

/** A network, or the member that an administrator has shared it with. */
function partnerOf({ network, member }: OwnShare): string {
  return network ?? member ?? 'somebody';
}

function capsOf(share: OwnShare): string {
  const { slots, hours, max_tokens: tokens } = share;
  const caps = [
    slots === null ? null : `${slots} ${slots === 1 ? 'slot' : 'slots'}`,
    hours,
    tokens === null ? null : `${tokens} tokens an answer`,
    ...quotasOf(share),
  ];
  return caps.filter((one) => one !== null).join(', ');
}

function quotasOf({ day, month, used }: OwnShare): string[] {
  return [
    ...(day ? [`${usedLimits(day, used?.day)} a day`] : []),
    ...(month ? [`${usedLimits(month, used?.month)} a month`] : []),
  ];
}
