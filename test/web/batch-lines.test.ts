import { expect, test } from 'vitest';
import {
  lineOf,
  readBatchLines,
} from '../../packages/coordinator/web/src/screens/batches/batch-lines.js';

const OURS = '{"endpoint": "/v1/chat/completions", "body": {"model": "tiny"}}';
const OPENAI =
  '{"custom_id": "a", "method": "POST", "url": "/v1/completions", "body": {"model": "tiny"}}';

test('both forms of a line become the same request', () => {
  expect(readBatchLines(`${OURS}\n\n  ${OPENAI}\r\n`)).toEqual({
    kind: 'read',
    items: [
      { endpoint: '/v1/chat/completions', body: { model: 'tiny' } },
      { endpoint: '/v1/completions', body: { model: 'tiny' } },
    ],
    lineNumbers: [1, 3],
    hasCustomIds: true,
  });
});

test.each([
  ['no JSON', '{', 'it is not a JSON object'],
  ['a list', '[]', 'it is not a JSON object'],
  ['null', 'null', 'it is not a JSON object'],
  ['no endpoint', '{"body": {}}', 'it has neither endpoint nor url'],
  ['another method', OPENAI.replace('POST', 'GET'), 'its method is not POST'],
  ['no body', '{"endpoint": "/v1/completions"}', 'its body is not an object'],
  ['a list as its body', '{"endpoint": "/v1/completions", "body": []}', 'its body is not'],
])('a line with %s is named', (_what, line, wrong) => {
  expect(readBatchLines(`${OURS}\n\n${line}`)).toEqual({
    kind: 'wrong',
    message: expect.stringMatching(`^Line 3: ${wrong}`) as string,
  });
});

test('one to 256 lines are a batch', () => {
  expect(readBatchLines(' \n\n')).toMatchObject({ kind: 'wrong' });
  expect(readBatchLines(`${OURS}\n`.repeat(256))).toMatchObject({ kind: 'read' });
  expect(readBatchLines(`${OURS}\n`.repeat(257))).toEqual({
    kind: 'wrong',
    message: 'There are 257 requests; a batch has at most 256. Split it.',
  });
});

test('what the coordinator names is found in the text', () => {
  expect(lineOf('requests[1].body.model', [1, 3])).toBe(3);
  expect(lineOf('requests[7]', [1, 3])).toBeNull();
  expect(lineOf('label', [1])).toBeNull();
  expect(lineOf(null, [1])).toBeNull();
});
