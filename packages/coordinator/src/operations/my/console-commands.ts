/** Commands as the console asks for them, whoever they are for. */
import type { AdminParts } from '../operation.js';
import { findAdminCommand, isAdminRead } from '../operations.js';
import { readArgs } from '../arguments.js';
import type { Member } from '../../store/port.js';
import { findMyCommand } from './commands.js';
import { Turns } from './turns.js';

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
  readonly #turns = new Turns();

  constructor(parts: () => AdminParts) {
    this.#parts = parts;
  }

  /** Null where there is none of this name. */
  find(area: Area, name: string): ConsoleCommand | null {
    return area === 'my' ? this.#findMine(name) : this.#findAdmin(name);
  }

  #findMine(name: string): ConsoleCommand | null {
    const command = findMyCommand(name);
    if (command === null) return null;
    const run: ConsoleCommand['run'] = (asking, args) => {
      const { member, session } = asking;
      const mine = { context: this.#contextOf(asking), member, sessionId: session.id };
      return command.run(mine, readArgs(command.args, args));
    };
    const inTurn: ConsoleCommand['run'] = (asking, args) =>
      this.#turns.take(asking.member.id, () => run(asking, args));
    return { kind: command.kind, run: command.kind === 'read' ? run : inTurn };
  }

  #findAdmin(name: string): ConsoleCommand | null {
    const command = findAdminCommand(name);
    if (command === null) return null;
    return {
      kind: isAdminRead(name) ? 'read' : 'change',
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
    return { ...parts, by, address, store: parts.store.by(by) };
  }
}
