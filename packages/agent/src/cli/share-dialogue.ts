/** What a first start on a terminal asks: what of this machine to share, and with whom. */
import type { OwnProvider } from '../coordinator-api/own-provider.js';
import { askYesNo } from '@inference-gateway/shared/program/terminal';
import type { Terminal } from '@inference-gateway/shared/program/terminal';

export interface Offer {
  readonly services: readonly OfferedService[];
  readonly networks: OwnProvider['networks'];
}

export interface OfferedService {
  readonly id: string;
  readonly type: string;
  readonly baseUrl: string;
  /** Null: its server does not answer now. */
  readonly models: readonly string[] | null;
}

export interface Choice {
  /** Ids. Nothing is shared where there is none. */
  readonly services: readonly string[];
  /** Its id. */
  readonly network: string;
}

/** Wrong answers to one question; then nothing is shared. */
const MAX_TRIES = 3;

/** Null: all stays private. Enter is always that. */
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

/** The numbers of those that are to be shared. */
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

/** Of one service, on one line. */
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

/** From 1; none where the answer is empty, or wrong for the last time. */
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
