/** Answers of a provider may be any JSON: a translation of them never throws but an `ApiError`. */
import { ApiError } from '@inference-gateway/shared/errors';
import { API_NAMES, TRANSLATED_APIS } from '@inference-gateway/shared/openai/translated-apis';
import {
  array,
  assert,
  constantFrom,
  dictionary,
  jsonValue,
  oneof,
  property,
  record,
} from 'fast-check';
import type { Arbitrary } from 'fast-check';
import { describe, expect, test } from 'vitest';

const anything = jsonValue({ maxDepth: 2 });
/** Mostly what is expected in that place, else anything. */
const perhaps = <T>(expected: Arbitrary<T>): Arbitrary<unknown> =>
  oneof({ weight: 4, arbitrary: expected }, { weight: 1, arbitrary: anything });

const called = perhaps(
  record(
    {
      index: perhaps(constantFrom(0, 1, -1, 1e9)),
      id: perhaps(constantFrom('c', '')),
      function: perhaps(
        record(
          {
            name: perhaps(constantFrom('f', 'patch')),
            arguments: perhaps(constantFrom('{', '"}')),
          },
          { requiredKeys: [] },
        ),
      ),
    },
    { requiredKeys: [] },
  ),
);
const said = perhaps(
  record(
    {
      role: anything,
      content: perhaps(constantFrom('a', '', null)),
      reasoning_content: perhaps(constantFrom('b')),
      refusal: perhaps(constantFrom('no')),
      tool_calls: perhaps(array(called, { maxLength: 3 })),
    },
    { requiredKeys: [] },
  ),
);
const choice = perhaps(
  record(
    {
      index: perhaps(constantFrom(0, 1)),
      delta: said,
      message: said,
      finish_reason: perhaps(constantFrom('stop', 'length')),
    },
    { requiredKeys: [] },
  ),
);
const answer = record(
  {
    choices: perhaps(array(choice, { maxLength: 2 })),
    usage: perhaps(dictionary(constantFrom('prompt_tokens', 'completion_tokens'), anything)),
    model: anything,
  },
  { requiredKeys: [] },
);
const CONTEXTS = [
  {},
  { custom: ['patch'], thinking: true },
  { custom: 7, namespaces: [], repeated: 1 },
];

describe.each(API_NAMES)('%s', (api) => {
  const { translation } = TRANSLATED_APIS[api];

  test('neither a whole answer nor a stream of any chunks', () => {
    const samples = record({
      chunks: array(answer, { maxLength: 5 }),
      context: constantFrom(...CONTEXTS),
    });
    assert(
      property(samples, ({ chunks, context }) => {
        const subject = { id: '1', createdAt: 1, model: 'm', context };
        const events = translation.openEvents(subject);
        let wire = '';
        try {
          for (const chunk of chunks) {
            wire += events.chunk(chunk);
            JSON.stringify(translation.toAnswer(chunk, subject));
          }
          wire += events.end();
        } catch (error) {
          if (!(error instanceof ApiError)) throw error;
          wire += events.fail(error);
        }
        const written = wire.split('\n\n').slice(0, -1);
        for (const event of written) expect(event).toMatch(/^event: [\w.]+\ndata: \{.*\}$/);
      }),
      { numRuns: 2_000 },
    );
  });
});
