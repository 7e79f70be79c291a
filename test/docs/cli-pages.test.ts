/** What docs/cli says of commands, arguments and options is what the programs say. */
import { expect, test } from 'vitest';
import { cliPages } from '../../scripts/cli-docs.js';
import { leafCommands } from '../support/command-tree.js';
import { pagesOf } from './cli-pages.js';

const { pages, faults } = await cliPages();

test('every command is on one page, and no page has a command that is gone', () => {
  expect(faults).toEqual([]);
});

test.each(pages)('docs/cli/$file is as "npm run docs:cli" writes it', ({ is, expected }) => {
  expect(is).toBe(expected);
});

test.each(['gateway-coordinator', 'gateway-agent'] as const)(
  'a command of %s has a section with every argument and option',
  (program) => {
    const sections = pagesOf(program).flatMap(({ text }) => text.split('\n## '));
    for (const { name, command } of leafCommands(program)) {
      const [section = '', ...others] = sections.filter((one) => one.startsWith(`${name}\n`));
      expect({ name, others }).toEqual({ name, others: [] });
      expect(section).toContain(`\n${program} ${name}`);
      for (const { flags } of command.options) expect(section, name).toContain(flags);
      for (const one of command.registeredArguments) expect(section, name).toContain(one.name());
    }
  },
);
