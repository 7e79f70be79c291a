import { askWhatToShare } from '@inference-gateway/agent/cli/start-sharing';
import type { Choice, Offer } from '@inference-gateway/agent/cli/start-sharing';
import { askYesNo, withTerminal } from '@inference-gateway/shared/program/terminal';
import type { Terminal } from '@inference-gateway/shared/program/terminal';
import { PassThrough } from 'node:stream';
import { describe, expect, test } from 'vitest';

const CHAT = { id: 'llm-1', type: 'llm', baseUrl: 'http://127.0.0.1:1', models: ['tiny', 'big'] };
const VOICE = { id: 'tts-1', type: 'tts', baseUrl: 'http://127.0.0.1:2', models: null };
const FRIENDS = { id: '01F', name: 'friends', members: 3 };
const FAMILY = { id: '01G', name: 'family', members: 1 };

/** Types these lines one after the other, each once it was asked for; then the input ends. */
async function typing<T>(
  lines: readonly string[],
  talk: (terminal: Terminal) => Promise<T>,
): Promise<{ readonly result: T; readonly shown: string }> {
  const [input, output] = [new PassThrough(), new PassThrough()];
  let shown = '';
  const left = [...lines];
  output.setEncoding('utf8').on('data', (text: string) => {
    shown += text;
    if (!/[:?\]] $/.test(text)) return;
    const line = left.shift();
    if (line === undefined) input.end();
    else input.write(`${line}\n`);
  });
  const result = await withTerminal({ input, output }, talk);
  return { result, shown };
}

function asked(lines: readonly string[], change: Partial<Offer> = {}) {
  const offer = { services: [CHAT, VOICE], networks: [FRIENDS, FAMILY], ...change };
  return typing(lines, (terminal) => askWhatToShare(offer, terminal));
}

test('it lists what there is, and shares what is named with whom is named', async () => {
  const { result, shown } = await asked(['2', '1']);
  expect(result).toEqual({ services: ['tts-1'], network: '01F' } satisfies Choice);
  expect(shown).toContain('  1  llm-1  llm at http://127.0.0.1:1: tiny, big\n');
  expect(shown).toContain('  2  tts-1  tts at http://127.0.0.1:2: it does not answer now\n');
  expect(shown).toContain('  1  friends (3 members)\n  2  family (1 member)\n');
});

test.each([
  ['all', ['llm-1', 'tts-1']],
  ['ALL', ['llm-1', 'tts-1']],
  ['1, 2', ['llm-1', 'tts-1']],
  ['2 2', ['tts-1']],
])('"%s" stands for %j', async (answer, services) => {
  expect((await asked([answer, '2'])).result).toEqual({ services, network: '01G' });
});

describe('everything stays private', () => {
  test.each([
    ['after Enter', ['']],
    ['after Enter for the network', ['all', '']],
    ['after two networks in place of one', ['all', '1 2']],
    ['where the input ends', []],
    ['where the input ends before a network is named', ['1']],
    ['after three answers that are none', ['3', 'x', '0', '1', '1']],
  ])('%s', async (_, lines) => {
    expect((await asked(lines)).result).toBeNull();
  });

  test('without a network, which is not asked for', async () => {
    expect((await asked(['all'], { networks: [] })).result).toBeNull();
  });
});

test('a wrong answer is told, and may be mended', async () => {
  const { result, shown } = await asked(['9', '1', 'frob', '2']);
  expect(result).toEqual({ services: ['llm-1'], network: '01G' });
  expect(shown).toContain("'9' is none of them: write numbers from 1 to 2.");
  expect(shown).toContain("'frob' is none of them: write numbers from 1 to 2.");
});

test('one service and one network are questions of yes or no; Enter is no', async () => {
  const one = { services: [CHAT], networks: [FRIENDS] };
  const shared = await asked(['y', 'yes'], one);
  expect(shared.result).toEqual({ services: ['llm-1'], network: '01F' });
  expect(shared.shown).toContain('Share it? [y/N] ');
  expect(shared.shown).toContain('With friends (3 members)? [y/N] ');
  expect((await asked(['', 'y'], one)).result).toBeNull();
  expect((await asked(['y', ''], one)).result).toBeNull();
});

test.each([
  ['', true, true],
  ['', false, false],
  ['Y', false, true],
  ['yes', false, true],
  ['n', true, false],
  ['perhaps', true, false],
])('"%s", where Enter is %s, is %s', async (line, whenEmpty, expected) => {
  const { result } = await typing([line], (one) => askYesNo(one, 'Really?', whenEmpty));
  expect(result).toBe(expected);
});

test('an input that has ended is no yes, whatever Enter means', async () => {
  expect((await typing([], (one) => askYesNo(one, 'Really?', true))).result).toBe(false);
});

test('lines that come at once answer one question each', async () => {
  const [input, output] = [new PassThrough(), new PassThrough()];
  output.resume();
  input.end('all\n2\n');
  const offer = { services: [CHAT, VOICE], networks: [FRIENDS, FAMILY] };
  const result = await withTerminal({ input, output }, (one) => askWhatToShare(offer, one));
  expect(result).toEqual({ services: ['llm-1', 'tts-1'], network: '01G' });
});
