/** Calls to others' models whose names try to break out of the pasted snippets. */
import { createServer } from 'node:http';
import type { IncomingMessage } from 'node:http';
import { text } from 'node:stream/consumers';
import { expect, onTestFinished, test } from 'vitest';
import { addressOf } from '@inference-gateway/coordinator/http/edge/address-limit';
import { LANGUAGES, snippetOf } from '../../packages/coordinator/web/src/ui/snippets/snippets.js';
import type { SnippetCall } from '../../packages/coordinator/web/src/ui/snippets/snippets.js';
import { hasPython, runSnippet } from '../support/run-snippet.js';

/** Pasted into a terminal, DEL takes back the quotes before it, and what follows is run. */
const NAMES = [
  `tiny'\u007f\u007f\u007f; touch broken #`,
  `tiny\u0003\u001b[201~\n\u009b; touch broken #`,
  `\u202e"$(touch broken)\` !! \\ ä 🙂 \\u007f`,
  `'; touch broken; '`,
];
/** All but the end of a line. */
const UNSEEN = /[^\P{Cc}\n]|[\u202a-\u202e\u2066-\u2069]/u;
const SONG = 'Meeting; part 1, "end".wav';

function callTo(model: string, baseUrl = 'http://127.0.0.1:9/v1'): readonly SnippetCall[] {
  const key = '$GATEWAY_KEY';
  const messages = [{ role: 'user', content: 'Hi' }];
  const files = [{ field: 'file', name: SONG }];
  return [
    { baseUrl, key, endpoint: 'chat', body: { model, messages } },
    { baseUrl, key, endpoint: 'voices', body: { model } },
    { baseUrl, key, endpoint: 'transcriptions', body: { model, [model]: 1 }, files },
  ];
}

test.each(NAMES)('nothing in a call is hidden from a person who pastes it: %j', (name) => {
  for (const { value } of LANGUAGES) {
    for (const call of callTo(name)) expect(snippetOf(value, call)).not.toMatch(UNSEEN);
  }
});

test.each(NAMES)('curl is still told the same, and no other program is run: %j', async (name) => {
  const [chat, voices, heard] = callTo(name).map((call) => snippetOf('curl', call));
  const told = `curl() { printf '%s\\0' "$@"; }\n${chat}\n${voices}\n${heard}`;
  const { stdout, files } = await runSnippet('curl', told);
  const words = stdout.split('\0');
  const json = words.find((word) => word.startsWith('{')) ?? '';
  expect(JSON.parse(json)).toMatchObject({ model: name });
  expect(words.filter((word) => word === `model=${name}`)).toHaveLength(2);
  expect(words).toContain(`${name}=1`);
  expect(files).toEqual({});
});

test.for(['python', 'node'] as const)('%s reads the same name', async (language, { skip }) => {
  if (language === 'python' && !(await hasPython('ast'))) skip('this machine has no Python');
  const say =
    language === 'python' ? 'import json\nprint(json.dumps' : 'console.log(JSON.stringify';
  for (const name of NAMES) {
    const [chat] = callTo(name);
    const model = /model['"]?[=:] ?(.*),\n/.exec(chat ? snippetOf(language, chat) : '')?.[1] ?? '';
    const { stdout, files } = await runSnippet(language, `${say}(${model}))`);
    expect(JSON.parse(stdout)).toBe(name);
    expect(Object.keys(files).filter((file) => file === 'broken')).toEqual([]);
  }
});

test('a file is sent whatever it is called', async () => {
  const bodies: string[] = [];
  const server = createServer((request: IncomingMessage, response) => {
    void text(request).then((body) => {
      bodies.push(body);
      response.end('{}');
    });
  });
  await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening));
  onTestFinished(() => void server.close());
  const [, , heard] = callTo('whisper', `${addressOf(server, '127.0.0.1')}/v1`);
  if (heard === undefined) throw new Error('there is no such call');
  const files = { [SONG]: Buffer.from('la la') };
  await runSnippet('curl', snippetOf('curl', heard), { files, env: { GATEWAY_KEY: 'gwk_x' } });
  expect(bodies[0]).toContain('la la');
});
