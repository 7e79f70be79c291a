/** Commands as the console asks for them, whoever they are for. */
import type { AdminParts } from '../operation.js';
import { findAdminCommand } from '../operations.js';
import { readArgs, ArgumentError } from '../arguments.js';
import type { Member } from '../../store/port.js';
import { findMyCommand } from './commands.js';

export type Area = 'my' | 'admin';

/** Through which log-in somebody asks. */
interface Asking {
  readonly member: Member;
  readonly session: { readonly id: string };
  /** Where they ask from. */
  readonly address: string;
}

export interface ConsoleCommand {
  readonly kind: 'read' | 'change';
  /** Throws a `CommandError`. */
  readonly run: (asking: Asking, args: unknown) => Promise<object>;
}

export class ConsoleCommands {
  readonly #parts: () => AdminParts;

  constructor(parts: () => AdminParts) {
    this.#parts = parts;
  }

  /** Null if there is none of this name. */
  find(area: Area, name: string): ConsoleCommand | null {
    return area === 'my' ? this.#findMine(name) : this.#findAdmin(name);
  }

  #findMine(name: string): ConsoleCommand | null {
    const command = findMyCommand(name);
    if (command === null) return null;
    const run: ConsoleCommand['run'] = async (asking, args) => {
      const { member, session } = asking;
      const context = { ...this.#contextOf(asking), boundTo: member.id };
      return command.run({ context, member, sessionId: session.id }, readArgs(command.args, args));
    };
    return { kind: command.kind, run };
  }

  #findAdmin(name: string): ConsoleCommand | null {
    const command = findAdminCommand(name);
    if (command === null) return null;
    return {
      kind: command.kind,
      run: async (asking, args) => {
        const result = await command.run(this.#contextOf(asking), readArgs(command.args, args));
        return result ?? {};
      },
    };
  }

  /** What it changes is written down as theirs. */
  #contextOf({ member, address }: Asking) {
    const parts = this.#parts();
    const by = `member:${member.id}`;
    return { ...parts, by, boundTo: null, address, store: parts.store.by(by) };
  }
}

/** The argument that is wrong; null if the error is about none of them alone. */
export function fieldAtFault(error: Error): string | null {
  return error instanceof ArgumentError && error.field !== '' ? error.field : null;
}
