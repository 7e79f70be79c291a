/**
 * Scripted agents that run jobs: claims that they hold and resume, and the coordinator's messages.
 */
import type { AgentMessage, CoordinatorMessage } from '@inference-gateway/shared/protocol/messages';
import type { TestGateway } from './gateway.js';
import { connectRawAgent, DOCUMENT, HELLO } from './raw-agent.js';
import type { RawAgent } from './raw-agent.js';
import { until } from './until.js';

export type Open = Extract<CoordinatorMessage, { t: 'OPEN' }>;
export type Offer = Extract<AgentMessage, { t: 'HELLO' }>['resume'][number];
type Phase = Offer['phase'];
type Resumption = Extract<CoordinatorMessage, { t: 'WELCOME' }>['resume'][number];
type Verdict = Extract<CoordinatorMessage, { t: 'RESULT_ACK' }>['verdict'];

interface JobAgentOptions {
  readonly name?: string;
  readonly owner?: TestGateway['anna'];
  /** The token of an agent that reconnects; by default a new provider is enrolled. */
  readonly token?: string;
  /** If there are two or more, one is kept for synchronous calls. */
  readonly slots?: number;
  readonly resume?: readonly Offer[];
  /** The id of its process; by default the same each time. */
  readonly instance?: string;
}

export interface JobAgent {
  readonly agent: RawAgent;
  readonly token: string;
}

/** An online agent that serves the model `m`. */
export async function connectJobAgent(
  gateway: TestGateway,
  options: JobAgentOptions = {},
): Promise<JobAgent> {
  const { name = 'pc', owner = gateway.anna, slots = 4, resume = [], instance = name } = options;
  const token = options.token ?? (await owner.enroll(name));
  const services = HELLO.services.map((service) => ({ ...service, slots }));
  const hello = { services, resume: [...resume], instance_id: instance };
  return { agent: await connectRawAgent(gateway.address, token, hello), token };
}

/** HELLO's entry for a claim that an agent still has. */
export function offerOf(open: Open, phase: Phase = 'spooled'): Offer {
  return offerFor(claimOf(open), phase);
}

export function offerFor(claimId: string, phase: Phase = 'spooled'): Offer {
  const told = { claim_id: claimId, job_id: 'job', phase, bytes: 0 };
  return phase === 'spooled' ? { ...told, sha256: '0'.repeat(64) } : told;
}

export function claimOf({ claim_id: claimId }: Open): string {
  if (claimId === undefined) throw new Error('it is no job');
  return claimId;
}

/** WELCOME's answers for the claims that HELLO offered. */
export async function resumptionsOf(agent: RawAgent): Promise<readonly Resumption[]> {
  return (await agent.first('WELCOME')).resume;
}

/** The stream on which the coordinator wants the answer; throws if it wants none. */
export async function resumedStream(agent: RawAgent): Promise<number> {
  const [one] = await resumptionsOf(agent);
  if (one?.stream === undefined) throw new Error(`not resumed: ${JSON.stringify(one)}`);
  return one.stream;
}

/** The coordinator's messages about this claim, in order. */
export function verdictsOf(agent: RawAgent, claimId: string): Verdict[] {
  return agent.messages.flatMap((one) =>
    one.t === 'RESULT_ACK' && one.claim_id === claimId ? [one.verdict] : [],
  );
}

/** The first verdict on the claim; waits for it. */
export function verdictOf(agent: RawAgent, open: Open): Promise<Verdict> {
  const claimId = claimOf(open);
  return until(() => verdictsOf(agent, claimId)[0], { what: 'a RESULT_ACK' });
}

export function resetsOf(agent: RawAgent, stream: number): string[] {
  return agent.messages.flatMap((one) =>
    one.t === 'RESET' && one.stream === stream ? [one.code] : [],
  );
}

/** Reports these claims as held; resolves with those that the coordinator says are lost. */
export async function heartbeat(
  agent: RawAgent,
  claimIds: readonly string[],
  phase: Phase = 'running',
): Promise<readonly string[]> {
  const seq = nextSeq++;
  const claims = claimIds.map((id) => ({ claim_id: id, phase }));
  agent.send({ t: 'HEARTBEAT', seq, slots: [], claims, accepts: 'all' });
  const find = () => agent.messages.find((one) => one.t === 'HEARTBEAT_OK' && one.seq === seq);
  const answer = await until(find, { what: 'HEARTBEAT_OK' });
  return answer.t === 'HEARTBEAT_OK' ? answer.lost_claims : [];
}

let nextSeq = 1;

/** Calls back for every OPEN, including those already received. */
export function onEachOpen(agent: RawAgent, take: (open: Open) => void): void {
  for (const message of agent.messages) if (message.t === 'OPEN') take(message);
  agent.socket.on('message', (data: Buffer, isBinary: boolean) => {
    if (isBinary) return;
    const message = JSON.parse(data.toString()) as CoordinatorMessage;
    if (message.t === 'OPEN') take(message);
  });
}

/** Answers every job at once. */
export function answerJobs(agent: RawAgent): void {
  onEachOpen(agent, ({ stream }) => agent.answer(stream, DOCUMENT));
}
