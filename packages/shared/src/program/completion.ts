/**
 * Shell completion: the script that a shell reads once, and the answers at each press of the key.
 * The library determines the completions from the commands.
 */
import { CommandError, EXIT } from './command-error.js';
import { print } from './print.js';

export const SHELLS = ['bash', 'zsh', 'fish', 'powershell'] as const;
type Shell = (typeof SHELLS)[number];

/** What is needed here of the library's tree of commands. */
interface CommandTree {
  /** By their words, separated by spaces. */
  readonly commands: ReadonlyMap<string, TreeCommand>;
  /** Prints completions for the words before the cursor; the last is incomplete, or empty. */
  parse(words: string[]): void;
  setup(name: string, executable: string, shell: string): void;
}

interface TreeCommand {
  description: string;
  argument(
    name: string,
    values: (add: (value: string, description: string) => void) => void,
  ): unknown;
}

export const COMPLETE_DESCRIPTION = 'print the completion script of a shell';

interface Completion {
  /** The name of the program. */
  readonly program: string;
  /** The arguments of `complete`. */
  readonly args: readonly string[];
  /** Loads the library, which other commands do not need. */
  readonly loadTree: () => Promise<CommandTree>;
}

/**
 * `complete SHELL` prints the script, and `complete -- WORD…`, which the script calls, the
 * completions. Throws a `CommandError` with exit code 2 for another shell, or none.
 */
export async function complete({ program, args, loadTree }: Completion): Promise<void> {
  const [first, ...words] = args;
  if (first === '--') return named(await loadTree()).parse(words);
  const shell = shellOf(args);
  if (shell === 'bash') return print(bashScript(program));
  (await loadTree()).setup(program, program, shell);
}

/** The library's own command has the same name, and supports these shells. */
function named(tree: CommandTree): CommandTree {
  const own = tree.commands.get('complete');
  if (own === undefined) return tree;
  own.description = COMPLETE_DESCRIPTION;
  own.argument('shell', (add) => SHELLS.forEach((shell) => add(shell, '')));
  return tree;
}

function shellOf(args: readonly string[]): Shell {
  const shell = args.length === 1 ? SHELLS.find((one) => one === args[0]) : undefined;
  if (shell !== undefined) return shell;
  const given = args.length === 0 ? 'which shell?' : `'${args.join(' ')}' is no shell to complete.`;
  throw new CommandError(EXIT.usage, `${given} Name one of ${SHELLS.join(', ')}.`);
}

/**
 * The library's own script for bash needs functions of another package, passes typed text to
 * `eval`, completes no files, and cannot be read twice, or for two programs, in one shell.
 */
function bashScript(program: string): string {
  const name = `_${program.replaceAll('-', '_')}`;
  return `# bash completion for ${program}
${name}() {
  local word=\${COMP_WORDS[COMP_CWORD]} line
  COMPREPLY=()
  while IFS= read -r line; do
    line=\${line%%$'\\t'*}
    [[ $line != :* && $line == "$word"* ]] && COMPREPLY+=("$line")
  done < <(${program} complete -- "\${COMP_WORDS[@]:1:COMP_CWORD}" 2>/dev/null)
}
complete -o default -F ${name} ${program}`;
}
