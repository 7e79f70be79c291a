// Writes into the pages of docs/cli what the two programs say of their commands: usage, arguments
// and options, between the markers of each command, and the list of commands on each program's
// page. The rest of a page is written by hand. `npm run docs:cli` runs it, and
// test/docs/cli-pages.test.ts compares.
import { readFileSync, readdirSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import * as agent from '@inference-gateway/agent/cli/program';
import * as coordinator from '@inference-gateway/coordinator/cli/program';
import { format } from 'prettier';

/**
 * @typedef {ReturnType<typeof agent.createProgram>} Command
 * @typedef {Command['options'][number]} Option
 * @typedef {{ name: string, command: Command }} Leaf A command with an action: `key create`.
 * @typedef {object} Program
 * @property {() => Command} create
 * @property {RegExp} pages Names of its pages.
 * @property {readonly string[]} common Options of most commands, explained on its own page.
 */

const FOLDER = fileURLToPath(new URL('../docs/cli/', import.meta.url));
const FORMAT = JSON.parse(readFileSync(new URL('../.prettierrc.json', import.meta.url), 'utf8'));
/** Of a line of usage, as of every line here. */
const MAX_COLUMNS = 100;
const BLOCK = /<!-- cli: (.+?) -->\n[\s\S]*?<!-- end of cli -->/g;

/** @type {Readonly<Record<string, Program>>} */
const PROGRAMS = {
  'gateway-coordinator': {
    create: coordinator.createProgram,
    pages: /^(gateway-coordinator|coordinator-[\w-]+)\.md$/,
    common: ['--data', '--json', '--yes'],
  },
  'gateway-agent': {
    create: agent.createProgram,
    pages: /^(gateway-agent|agent-[\w-]+)\.md$/,
    common: ['--config', '--json'],
  },
};

/**
 * Every page as it must be, and what is wrong with the pages that no page shows.
 * @returns {Promise<{ pages: { file: string, is: string, expected: string }[], faults: string[] }>}
 */
export async function cliPages() {
  const results = await Promise.all(Object.keys(PROGRAMS).map(pagesOf));
  return {
    pages: results.flatMap(({ pages }) => pages),
    faults: results.flatMap(({ faults }) => faults),
  };
}

/** @param {string} programName */
async function pagesOf(programName) {
  const program = /** @type {Program} */ (PROGRAMS[programName]);
  const leaves = leavesOf(program.create());
  const texts = readdirSync(FOLDER)
    .filter((file) => program.pages.test(file))
    .map((file) => ({ file, is: readFileSync(join(FOLDER, file), 'utf8') }));
  const shown = texts.flatMap(({ file, is }) =>
    [...is.matchAll(BLOCK)].map(([, name = '']) => ({ file, name })),
  );
  /** @param {string} name */
  const block = (name) => {
    if (name === 'commands') return index(leaves, shown);
    if (name === 'common options') return commonOptions(program, leaves);
    const leaf = leaves.find((one) => one.name === name);
    return leaf === undefined ? '' : details(programName, leaf);
  };
  const pages = texts.map(async ({ file, is }) => {
    const text = is.replaceAll(
      BLOCK,
      (_, name) => `<!-- cli: ${name} -->\n\n${block(name)}\n\n<!-- end of cli -->`,
    );
    return { file, is, expected: await format(text, { ...FORMAT, parser: 'markdown' }) };
  });
  return { pages: await Promise.all(pages), faults: faultsOf(programName, leaves, shown) };
}

/**
 * @param {string} programName
 * @param {readonly Leaf[]} leaves
 * @param {readonly { name: string }[]} shown
 */
function faultsOf(programName, leaves, shown) {
  const wanted = ['commands', 'common options', ...leaves.map(({ name }) => name)];
  const counts = wanted.map((name) => [name, shown.filter((one) => one.name === name).length]);
  return [
    ...counts
      .filter(([, count]) => count !== 1)
      .map(([name, count]) => `${programName}: ${count} pages have "<!-- cli: ${name} -->"`),
    ...shown
      .filter(({ name }) => !wanted.includes(name))
      .map(({ name }) => `${programName} has no command "${name}"`),
  ];
}

/** @param {Command} command @param {readonly string[]} words @returns {Leaf[]} */
function leavesOf(command, words = []) {
  return command.commands.flatMap((one) => {
    const path = [...words, one.name()];
    if (one.commands.length > 0) return leavesOf(one, path);
    return [{ name: path.join(' '), command: one }];
  });
}

/** @param {readonly Leaf[]} leaves @param {readonly { file: string, name: string }[]} shown */
function index(leaves, shown) {
  const rows = leaves.map(({ name, command }) => {
    const page = shown.find((one) => one.name === name)?.file ?? '';
    return row([`[\`${name}\`](${page}#${name.replaceAll(' ', '-')})`, command.description()]);
  });
  return [row(['Command', 'What it does']), row(['-', '-']), ...rows].join('\n');
}

/** @param {Program} program @param {readonly Leaf[]} leaves */
function commonOptions({ common }, leaves) {
  const rows = common.map((long) => {
    const options = leaves.flatMap(({ command }) =>
      command.options.filter((one) => one.long === long).map((one) => ({ command, one })),
    );
    const [first] = options;
    return first === undefined ? '' : optionRow(first.command, first.one);
  });
  return [row(['Option', 'Meaning']), row(['-', '-']), ...rows].join('\n');
}

/** @param {string} programName @param {Leaf} leaf */
function details(programName, { name, command }) {
  const { common } = /** @type {Program} */ (PROGRAMS[programName]);
  const help = command.createHelp();
  const own = command.options.filter(({ long }) => !common.includes(long ?? ''));
  const rows = [
    ...command.registeredArguments.map((one) =>
      row([`\`${argumentName(one)}\``, help.argumentDescription(one)]),
    ),
    ...own.map((one) => optionRow(command, one)),
  ];
  const table =
    rows.length === 0 ? [] : [row(['Argument or option', 'Meaning']), row(['-', '-']), ...rows];
  return [
    sentence(command.description()),
    fenced(usage(`${programName} ${name}`, command)),
    `Example: \`${exampleOf(command)}\``,
    table.join('\n'),
    command.options.some(({ long }) => long === '--json')
      ? `With \`--json\` it prints [JSON](${programName}.md#json), in the shape below.`
      : '',
  ].join('\n\n');
}

/** @param {Command} command @param {Option} option */
function optionRow(command, option) {
  // Commander keeps the names, but its types do not know of them.
  const { conflictsWith } = /** @type {Option & { conflictsWith: string[] }} */ (option);
  const conflicts = conflictsWith.map((name) => `; not with \`--${name}\``).join('');
  const meaning = command.createHelp().optionDescription(option) + conflicts;
  return row([`\`${option.flags}\``, option.mandatory ? `${meaning} (required)` : meaning]);
}

/** @param {Command['registeredArguments'][number]} argument */
function argumentName(argument) {
  const name = argument.name() + (argument.variadic ? '…' : '');
  return argument.required ? `<${name}>` : `[${name}]`;
}

/**
 * What may be typed, broken before a line becomes too long.
 * @param {string} start
 * @param {Command} command
 */
function usage(start, command) {
  const words = [
    ...command.registeredArguments.map(argumentName),
    ...command.options.map(({ flags, mandatory }) => (mandatory ? flags : `[${flags}]`)),
  ];
  const lines = [start];
  for (const word of words) {
    const line = `${lines.at(-1)} ${word}`;
    if (line.length <= MAX_COLUMNS) lines[lines.length - 1] = line;
    else lines.push(`      ${word}`);
  }
  return lines.join('\n');
}

/** The command line that its help gives as an example. @param {Command} command */
function exampleOf(command) {
  let help = '';
  command.configureOutput({ writeOut: (text) => (help += text) });
  command.outputHelp();
  return /Example:\n {2}(.*)/.exec(help)?.[1] ?? '';
}

/** @param {string} text */
function sentence(text) {
  const closed = text.charAt(0).toUpperCase() + text.slice(1);
  return `${escaped(closed)}.`;
}

/** @param {string} text */
function fenced(text) {
  return `\`\`\`\n${text}\n\`\`\``;
}

/** @param {readonly string[]} cells */
function row(cells) {
  return `| ${cells.map((cell) => escaped(cell).replaceAll('|', String.raw`\|`)).join(' | ')} |`;
}

/** Outside of code, `<file>` would be read as HTML. @param {string} text */
function escaped(text) {
  return text
    .split('`')
    .map((part, position) => (position % 2 === 0 ? part.replaceAll('<', '&lt;') : part))
    .join('`');
}

/** @param {string} file @param {string} text */
function write(file, text) {
  writeFileSync(join(FOLDER, file), text);
  console.log(`docs/cli/${file}`);
}

if (basename(process.argv[1] ?? '') === 'cli-docs.js') {
  const { pages, faults } = await cliPages();
  for (const { file, is, expected } of pages) if (is !== expected) write(file, expected);
  for (const fault of faults) console.error(fault);
  if (faults.length > 0) process.exitCode = 1;
}
