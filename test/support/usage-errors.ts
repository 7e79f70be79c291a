/** Every kind of wrong command line of a program, derived from its commands. */
import type { ProgramName } from './bundled-programs.js';
import { leafCommands, nounCommands } from './command-tree.js';
import type { TreeCommand } from './command-tree.js';

export interface UsageError {
  readonly words: readonly string[];
  /** The expected message. */
  readonly says: string;
}

export function usageErrors(program: ProgramName): UsageError[] {
  const nouns = nounCommands(program).map(({ name }) => ({
    words: [name, 'frob'],
    says: "unknown command 'frob'",
  }));
  const top = { words: ['frob'], says: "unknown command 'frob'" };
  const all = [top, ...nouns, ...leafCommands(program).flatMap(errorsOf)];
  return all.map(({ words, says }) => ({ words: words.flatMap((word) => word.split(' ')), says }));
}

function errorsOf(leaf: TreeCommand): UsageError[] {
  const unknown = [leaf.name, ...argumentsOf(leaf), ...requiredOf(leaf).flat(), '--frob'];
  return [
    { words: unknown, says: "unknown option '--frob'" },
    ...missingArguments(leaf),
    ...surplusArgument(leaf),
    ...missingOptions(leaf),
    ...badOptions(leaf),
  ];
}

function missingArguments(leaf: TreeCommand): UsageError[] {
  return leaf.command.registeredArguments.flatMap((argument, index) =>
    argument.required
      ? {
          words: [leaf.name, ...argumentsOf(leaf).slice(0, index), ...requiredOf(leaf).flat()],
          says: `missing required argument '${argument.name()}'`,
        }
      : [],
  );
}

function surplusArgument(leaf: TreeCommand): UsageError[] {
  const { registeredArguments } = leaf.command;
  if (registeredArguments.some(({ variadic }) => variadic)) return [];
  const filled = registeredArguments.map(({ argChoices }) => argChoices?.[0] ?? 'x');
  const words = [leaf.name, ...filled, 'surplus', ...requiredOf(leaf).flat()];
  return [{ words, says: 'too many arguments' }];
}

function missingOptions(leaf: TreeCommand): UsageError[] {
  return requiredOf(leaf).map((left) => ({
    words: [
      leaf.name,
      ...argumentsOf(leaf),
      ...requiredOf(leaf)
        .filter(([flag]) => flag !== left[0])
        .flat(),
    ],
    says: `required option '`,
  }));
}

/** A missing value, or one that is not among the choices, not a number or not a duration. */
function badOptions(leaf: TreeCommand): UsageError[] {
  return leaf.command.options.flatMap(({ long, required, optional, parseArg }) => {
    if (!required && !optional) return [];
    const flag = long ?? '';
    const before = [leaf.name, ...argumentsOf(leaf)];
    const missing = { words: [...before, flag], says: `argument missing` };
    const isRead = parseArg !== undefined && parseArg !== null;
    return [missing, ...(isRead ? [{ words: [...before, flag, '-x'], says: flag }] : [])];
  });
}

function argumentsOf({ command }: TreeCommand): string[] {
  const required = command.registeredArguments.filter((argument) => argument.required);
  return required.map(({ argChoices }) => argChoices?.[0] ?? 'x');
}

function requiredOf({ command }: TreeCommand): string[][] {
  const mandatory = command.options.filter((option) => option.mandatory);
  return mandatory.map(({ long }) => [long ?? '', 'x']);
}
