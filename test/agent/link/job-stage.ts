/** An agent with one slow or quick model behind a scripted coordinator. */
import { mkdir } from 'node:fs/promises';
import type { ServerResponse } from 'node:http';
import { join } from 'node:path';
import { Agent } from '@inference-gateway/agent/agent';
import type { AgentOptions } from '@inference-gateway/agent/agent';
import { createLogger } from '@inference-gateway/shared/program/logger';
import type { Message } from '@inference-gateway/shared/protocol/messages';
import { onTestFinished } from 'vitest';
import { configuredServer } from '../../support/configured-server.js';
import type { Behaviour, FakeModelServer } from '../../support/fake-model-server.js';
import { startFakeOpenAi } from '../../support/fake-openai-server.js';
import { temporaryFolder } from '../../support/temporary-folder.js';
import { until } from '../../support/until.js';
import { ScriptedCoordinator } from './scripted-coordinator.js';

export interface JobStage {
  readonly coordinator: ScriptedCoordinator;
  readonly server: FakeModelServer;
  readonly stateDir: string;
  readonly spoolDir: string;
  /** Starts one more agent on the same state folder, as a restart does. */
  readonly startAgent: (changes?: Partial<AgentOptions>) => Promise<Agent>;
}

export async function jobStage(behaviour?: Behaviour): Promise<JobStage> {
  const server = await startFakeOpenAi(behaviour === undefined ? {} : { behaviour });
  onTestFinished(() => server.close());
  const coordinator = await new ScriptedCoordinator().listen();
  const stateDir = join(await temporaryFolder(), 'state');
  await mkdir(stateDir);
  const startAgent: JobStage['startAgent'] = async (changes = {}) => {
    const agent = new Agent({
      url: coordinator.origin,
      token: 'gwa_test',
      name: 'den-pc',
      services: [configuredServer(server.baseUrl, { slots: 2 })],
      host: () => ({ os: 'linux', arch: 'x64', gpus: [] }),
      logger: createLogger('silent'),
      once: false,
      stateDir,
      ...changes,
    });
    onTestFinished(async () => {
      if (agent.status().connection === 'stopping') return;
      await server.close();
      await until(() => agent.owner.jobs().every(({ phase }) => phase === 'spooled'));
      for (const { claimId } of agent.owner.jobs()) coordinator.links.at(-1)?.acknowledge(claimId);
      await agent.drain();
    });
    await agent.start();
    return agent;
  };
  return { coordinator, server, stateDir, spoolDir: join(stateDir, 'spool'), startAgent };
}

/** A model that sends `c0 `, waits for a signal, and sends the rest. */
export function heldModel(rest: readonly string[] = ['c1 ', 'c2 ']) {
  const waiting: (() => void)[] = [];
  let isFree = false;
  const behaviour: Behaviour = async (_request, response) => {
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    write(response, 'c0 ');
    if (!isFree) await new Promise<void>((go) => waiting.push(go));
    for (const text of rest) write(response, text);
    write(response, '', 'stop');
    response.end('data: [DONE]\n\n');
  };
  return {
    behaviour,
    /** All that wait, and all that come. */
    goOn(): void {
      isFree = true;
      for (const go of waiting) go();
    },
  };
}

function write(response: ServerResponse, content: string, finish: string | null = null): void {
  const choice = { index: 0, delta: { content }, finish_reason: finish };
  const chunk = { id: 'c', object: 'chat.completion.chunk', created: 1, model: 'tiny' };
  response.write(`data: ${JSON.stringify({ ...chunk, choices: [choice] })}\n\n`);
}

/** The words of a streamed answer. */
export function wordsOf(sse: string): string {
  const events = sse.split('\n\n').filter((event) => event !== '');
  return events
    .map((event) => JSON.parse(event.replace('data: ', '')) as Chunk)
    .map(({ choices }) => choices[0]?.delta?.content ?? '')
    .join('');
}

interface Chunk {
  readonly choices: readonly { readonly delta?: { readonly content?: string } }[];
}

/** Takes up every claim with the action, the first on stream 101, the next on 102, … */
export function resumeAll(action: 'continue' | 'upload') {
  return (offers: Message<'HELLO'>['resume']): Message<'WELCOME'>['resume'] =>
    offers.map(({ claim_id }, i) => ({ claim_id, action, stream: 101 + i }));
}

/** Resolves once the agent holds no claim any more. */
export async function holdsNothing(agent: Agent): Promise<void> {
  await until(() => agent.owner.jobs().length === 0, { what: 'no claim held' });
}
