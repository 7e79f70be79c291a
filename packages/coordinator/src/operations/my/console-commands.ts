/** Commands of the dashboard, for members and administrators. */
import type { AdminParts } from '../operation.js';
import { findAdminCommand } from '../operations.js';
import { readArgs, ArgumentError } from '../arguments.js';
import type { Passkeys } from '../../accounts/passkeys.js';
import type { Member } from '../../store/port.js';
import type { Mine } from './command.js';
import { findMyCommand } from './commands.js';

export type Area = 'my' | 'admin';

/** The session of a command. */
interface Asking {
  readonly member: Member;
  readonly session: { readonly id: string };
  /** The client's address. */
  readonly address: string;
  readonly prove: Mine['prove'];
}

export interface ConsoleCommand {
  readonly kind: 'read' | 'change';
  /** Throws a `CommandError`. */
  readonly run: (asking: Asking, args: unknown) => Promise<object>;
}

export class ConsoleCommands {
  readonly #parts: () => AdminParts;
  readonly #passkeys: Passkeys;

  constructor(parts: () => AdminParts, passkeys: Passkeys) {
    this.#parts = parts;
    this.#passkeys = passkeys;
  }

  /** Null if there is no command of this name. */
  find(area: Area, name: string): ConsoleCommand | null {
    return area === 'my' ? this.#findMine(name) : this.#findAdmin(name);
  }

  #findMine(name: string): ConsoleCommand | null {
    const command = findMyCommand(name);
    if (command === null) return null;
    const run: ConsoleCommand['run'] = async (asking, args) => {
      const { member, session, prove } = asking;
      const context = { ...this.#contextOf(asking), boundTo: member.id };
      const mine = { context, member, sessionId: session.id, passkeys: this.#passkeys, prove };
      return command.run(mine, readArgs(command.args, args));
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

  /** Changes are logged with this member as actor. */
  #contextOf({ member, address }: Asking) {
    const parts = this.#parts();
    const by = `member:${member.id}`;
    return { ...parts, by, boundTo: null, address, store: parts.store.by(by) };
  }
}

/** The invalid argument; null if the error is not about a single one. */
export function fieldAtFault(error: Error): string | null {
  return error instanceof ArgumentError && error.field !== '' ? error.field : null;
}
