/** The control socket: `status` and other commands use it to ask the running agent. */
import type { Server } from 'node:http';
import { CommandError, EXIT } from '@inference-gateway/shared/program/command-error';
import {
  callLocal,
  localSocketPath,
  serveLocal,
} from '@inference-gateway/shared/program/local-socket';
import { actAsOwnerOf } from '@inference-gateway/shared/program/owner';
import { lockState } from './lock.js';

/** One row per command; its answer must be JSON-serialisable. */
export type ControlTable = Readonly<Record<string, (args: unknown) => unknown>>;

export interface Control {
  close(): Promise<void>;
}

/** In the state folder, unless its path is too long for a socket. */
export function controlSocket(stateDir: string): string {
  return localSocketPath(stateDir, 'control');
}

/** Locks the configuration's state folder for this process and answers on its socket. */
export async function openControl(stateDir: string, table: ControlTable): Promise<Control> {
  const path = controlSocket(stateDir);
  const lock = await lockState(stateDir, path);
  const server = await serveLocal(path, async ({ command, args }) => {
    const answer = Object.hasOwn(table, command) ? table[command] : undefined;
    if (answer === undefined) throw unknownCommand(command);
    return answer(args);
  });
  return {
    async close() {
      await closeServer(server);
      await lock.release();
    },
  };
}

interface Asking {
  /** Of the command; null by default. */
  readonly args?: unknown;
  /** Ends the wait for the answer. */
  readonly signal?: AbortSignal;
}

/**
 * Asks the running agent; null if none runs. `notAuthorised` if it is another user's, except for
 * root.
 */
export async function askAgent(
  stateDir: string,
  command: string,
  { args = null, signal }: Asking = {},
): Promise<{ readonly result: unknown } | null> {
  const becomeRoot = actAsOwnerOf(stateDir);
  try {
    return await callLocal(controlSocket(stateDir), { command, args }, signal);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EACCES') throw error;
    const message = `the agent on ${stateDir} belongs to another user: run this as that one.`;
    throw new CommandError(EXIT.notAuthorised, message, { cause: error });
  } finally {
    becomeRoot();
  }
}

function unknownCommand(command: string): CommandError {
  return new CommandError(
    EXIT.usage,
    `the running agent does not know "${command}": restart it, so that both have one version.`,
  );
}

function closeServer(server: Server): Promise<void> {
  return new Promise((done) => {
    server.close(() => done());
    server.closeAllConnections();
  });
}
