/**
 * Everything that a member does in the console, once: each command narrows an administrative
 * operation to what is the member's, so that there is one way of doing a thing.
 */
import type * as z from 'zod';
import { MY_ACCOUNT } from './my-account.js';
import { MY_INVITATIONS } from './my-invitations.js';
import type { MyCommand } from './command.js';
import { MY_HOME } from './home.js';
import { MY_JOBS } from './my-jobs.js';
import { MY_KEYS } from './my-keys.js';
import { MY_MACHINES } from './my-machines.js';
import { MY_NETWORKS } from './networks.js';
import { MY_PROVIDERS } from './providers.js';
import { MY_SHARES } from './my-shares.js';
import { MY_USAGE } from './my-usage.js';

export const MY_COMMANDS = {
  ...MY_HOME,
  ...MY_JOBS,
  ...MY_KEYS,
  ...MY_MACHINES,
  ...MY_PROVIDERS,
  ...MY_NETWORKS,
  ...MY_INVITATIONS,
  ...MY_SHARES,
  ...MY_ACCOUNT,
  ...MY_USAGE,
};

type Commands = typeof MY_COMMANDS;
export type MyName = keyof Commands;
export type MyArgs<Name extends MyName> = z.input<Commands[Name]['args']>;
export type MyResult<Name extends MyName> = Awaited<ReturnType<Commands[Name]['run']>>;

/** Those that are asked by GET; the others are asked by POST. */
export type MyRead = {
  [Name in MyName]: Commands[Name]['kind'] extends 'read' ? Name : never;
}[MyName];
export type MyChange = Exclude<MyName, MyRead>;

type AnyCommand = MyCommand<'read' | 'change', z.ZodType, object>;

/** Null where there is none of this name. */
export function findMyCommand(name: string): AnyCommand | null {
  const commands: Readonly<Record<string, AnyCommand>> = MY_COMMANDS;
  return Object.hasOwn(commands, name) ? (commands[name] ?? null) : null;
}
